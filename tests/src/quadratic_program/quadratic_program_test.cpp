// The solvers of the quadratic program and its verification, on random problems and cases from the papers.
#include "src/quadratic_program/quadratic_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "src/quadratic_program/enumerate.h"
#include "src/quadratic_program/kkt_residual.h"
#include "src/quadratic_program/pivot.h"
#include "src/quadratic_program/solve.h"

namespace zwang::quadratic_program_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double kkt_limit = 1e-10;  // far above rounding, far below the residual of a wrong active set
constexpr double agreed = 1e-9;      // two solvers, relative to |x - x0|_M
constexpr double exact = 1e-14;      // small whole numbers: a few roundings

// The same numbers with every standard library, so that a failing case is reproducible everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  int whole(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int one_in) { return whole(1, one_in) == 1; }
  double bell() {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += between(0, 1);
    return sum;
  }
  double power_of_ten(double low, double high) { return std::pow(10, between(low, high)); }

  // Integers make exact ties.
  double number(bool exactly, int size) { return exactly ? whole(-size, size) : bell() * size; }
  template <typename Draw>
  static MatrixXd fill(Eigen::Index rows, Eigen::Index columns, Draw draw) {
    MatrixXd made(rows, columns);
    for (double& value : made.reshaped()) value = draw();
    return made;
  }
  MatrixXd bells(Eigen::Index rows, Eigen::Index columns) {
    return fill(rows, columns, [&] { return bell(); });
  }
  VectorXd numbers(Eigen::Index size, bool exactly, int largest) {
    return fill(size, 1, [&] { return number(exactly, largest); });
  }
  VectorXd powers_of_ten(Eigen::Index size, double low, double high) {
    return fill(size, 1, [&] { return power_of_ten(low, high); });
  }

 private:
  std::mt19937_64 engine_;
};

// --- Measures used by the tests --------------------------------------------------------------------------

double mass_norm(const QuadraticProgram& program, const VectorXd& step) {
  return std::sqrt(step.dot(program.mass * step));
}

VectorXd row_lengths(const QuadraticProgram& program) {
  if (program.rows.rows() == 0) return {};
  const MatrixXd solved = program.mass.ldlt().solve(program.rows.transpose());
  return (program.rows * solved).diagonal().cwiseMax(0).cwiseSqrt();
}

// The rows met with equality, up to a billionth of their terms.
std::vector<int> tight_rows(const QuadraticProgram& program, const QpSolution& solution) {
  const VectorXd lengths = row_lengths(program);
  const VectorXd terms = program.rows.cwiseAbs() * program.free.cwiseAbs() + program.offsets.cwiseAbs() +
                         mass_norm(program, solution.x - program.free) * lengths;
  std::vector<int> tight;
  for (int i = 0; i < static_cast<int>(lengths.size()); ++i) {
    if (lengths[i] > 0 && std::abs(solution.residuals[i]) <= 1e-9 * terms[i]) tight.push_back(i);
  }
  return tight;
}

// Rows of unit length in the coordinates L^T x, M = L L^T: k x n.
MatrixXd unit_rows_of(const QuadraticProgram& program, const std::vector<int>& chosen) {
  const MatrixXd columns = program.rows(chosen, Eigen::all).transpose();
  const MatrixXd unit = program.mass.llt().matrixL().solve(columns).transpose();
  return unit.rowwise().normalized();
}

// The accuracy of x and of the unit multipliers in double precision: the rounding of x0 itself, and the
// rounding of the terms A_i x0 and c_i of the tight rows, divided by the least singular value of these rows,
// for the multipliers twice. That value is near 1 unless light and heavy points occur in one row.
struct Reach {
  double x = 0, mu = 0;
};

Reach reachable(const QuadraticProgram& program, const QpSolution& solution) {
  const std::vector<int> tight = tight_rows(program, solution);
  const VectorXd lengths = row_lengths(program);
  double noise = mass_norm(program, solution.x - program.free), least = 1;
  for (const int i : tight) {
    const double terms =
        program.rows.row(i).cwiseAbs().dot(program.free.cwiseAbs()) + std::abs(program.offsets[i]);
    noise = std::max(noise, terms / lengths[i]);
  }
  if (!tight.empty()) {
    const VectorXd values = unit_rows_of(program, tight).jacobiSvd().singularValues();
    for (const double value : values) least = value > 1e-11 ? std::min(least, value) : least;
  }
  noise *= 64 * epsilon;
  const double origin = program.mass.diagonal().cwiseSqrt().dot(program.free.cwiseAbs());
  return {.x = 4 * epsilon * origin + noise / least, .mu = noise / (least * least)};
}

// --- Problems --------------------------------------------------------------------------------------------

enum class Known { solution, infeasible, nothing };

struct Problem {
  QuadraticProgram program;
  Known known = Known::solution;
  VectorXd x;  // with Known::solution
};

// A row: new, an earlier one again or reversed, or a combination of earlier ones.
VectorXd random_row(Dice& dice, const MatrixXd& rows, Eigen::Index i, bool whole) {
  VectorXd row = VectorXd::Zero(rows.cols());
  const int kind = i == 0 ? 0 : dice.whole(0, 5);
  if (kind == 4) {
    row = rows.row(dice.whole(0, static_cast<int>(i) - 1));
    return dice.chance(4) ? -row : row;
  }
  for (Eigen::Index k = 0; kind == 5 && k < i; ++k) {
    if (dice.chance(2)) row += dice.number(whole, 2) * rows.row(k).transpose();
  }
  return kind < 4 ? dice.numbers(rows.cols(), whole, 1) : row;
}

// The last row is made to contradict a combination of the others that has to be <= 0, by about their sizes.
void contradict(Dice& dice, QuadraticProgram& program) {
  const Eigen::Index last = program.rows.rows() - 1;
  VectorXd sum = VectorXd::Zero(program.free.size());
  double offset = 0, size = 0;
  for (Eigen::Index i = 0; i < last; ++i) {
    if (i > 0 && dice.chance(2)) continue;
    double factor = dice.between(0.2, 2);
    if (program.equation[i] && dice.chance(2)) factor = -factor;
    sum += factor * program.rows.row(i).transpose();
    offset += factor * program.offsets[i];
    size += std::abs(factor) *
            (program.rows.row(i).cwiseAbs().dot(program.free.cwiseAbs()) + std::abs(program.offsets[i]));
  }
  program.rows.row(last) = -sum;
  program.offsets[last] = -offset + dice.between(0.1, 2) * (size + 1);
}

// Starts from the solution: x, rows tight or slack at x, multipliers of which many are 0, and x0 from these.
// Ties (tight, multiplier 0), redundancy and distant rows are therefore common, and the solution is known.
// Then the masses are spread over 10^[-6, 6], the origin may be moved far away and the rows are scaled by
// 10^[-6, 6].
Problem random_problem(Dice& dice, int most_coordinates, int fewest_rows, int most_rows, bool equations) {
  const int n = dice.whole(1, most_coordinates), r = dice.whole(fewest_rows, most_rows);
  const bool whole = dice.chance(3), own_units = dice.chance(2);
  Problem problem;
  QuadraticProgram& program = problem.program;

  const double decades = dice.chance(2) ? 3 : 0;
  const VectorXd spread = dice.powers_of_ten(n, -decades, decades);
  MatrixXd factor = dice.bells(n, n);
  if (dice.chance(2)) factor.setZero();
  const MatrixXd mass = factor * factor.transpose() / n + MatrixXd::Identity(n, n);
  program.mass = spread.asDiagonal() * mass * spread.asDiagonal();

  // Rows in the coordinates' own units, or light and heavy points in one row.
  const VectorXd units = own_units ? spread : VectorXd::Ones(n);
  MatrixXd rows = MatrixXd::Zero(r, n);
  VectorXd slack = VectorXd::Zero(r), lambda = VectorXd::Zero(r);
  for (int i = 0; i < r; ++i) {
    rows.row(i) = random_row(dice, rows, i, whole);
    program.equation.push_back(equations && dice.chance(5));
    const int kind = dice.whole(0, 3);
    if (program.equation.back()) {
      lambda[i] = dice.number(whole, 2);
    } else if (kind <= 1) {
      slack[i] = kind == 0 ? dice.power_of_ten(-3, 6) : dice.whole(1, 3);
    } else if (kind == 2) {
      lambda[i] = dice.whole(1, 3);
    }
  }
  program.rows = rows * units.asDiagonal();
  problem.x = dice.numbers(n, whole, 2).cwiseQuotient(units);
  program.offsets = -program.rows * problem.x - slack;
  program.free = problem.x + program.mass.llt().solve(program.rows.transpose() * lambda);

  const int kind = dice.whole(0, 5);
  if (kind == 0 && r >= 2) {
    problem.known = Known::infeasible;
    contradict(dice, program);
  } else if (kind <= 2) {
    problem.known = Known::nothing;
    program.free = dice.numbers(n, whole, 3).cwiseQuotient(units);
    for (int i = 0; i < r; ++i) {
      if (kind == 1 && dice.chance(2)) program.offsets[i] = dice.number(whole, 2);
    }
  }
  if (dice.chance(4)) {
    const double far = dice.power_of_ten(0, 6);
    const VectorXd shift = far * dice.numbers(n, false, 1).cwiseQuotient(units);
    program.offsets -= program.rows * shift;
    program.free += shift;
    problem.x += shift;
  }
  if (dice.chance(2)) {
    const VectorXd scale = dice.powers_of_ten(r, -6, 6);
    program.rows = scale.asDiagonal() * program.rows;
    program.offsets = scale.cwiseProduct(program.offsets);
  }
  return problem;
}

// Regular problems: no ties, no dependent rows up to n.
QuadraticProgram plain_problem(Dice& dice, int n, int r) {
  const MatrixXd factor = dice.bells(n, n);
  return {.mass = factor * factor.transpose() + MatrixXd::Identity(n, n),
          .free = dice.bells(n, 1),
          .rows = dice.bells(r, n),
          .offsets = dice.bells(r, 1),
          .equation = std::vector<char>(r, 0)};
}

QuadraticProgram problem_of(MatrixXd mass, VectorXd free, MatrixXd rows, VectorXd offsets) {
  const auto r = static_cast<std::size_t>(offsets.size());
  return {std::move(mass), std::move(free), std::move(rows), std::move(offsets), std::vector<char>(r, 0)};
}

// --- Random problems -------------------------------------------------------------------------------------

void expect_same(const Problem& problem, const QpSolution& one, const QpSolution& other) {
  const QuadraticProgram& program = problem.program;
  const Reach reach = reachable(program, one);
  const double step = mass_norm(program, one.x - program.free);
  EXPECT_LE(mass_norm(program, one.x - other.x), agreed * step + reach.x);
  if (problem.known == Known::solution) {
    EXPECT_LE(mass_norm(program, one.x - problem.x), agreed * step + reach.x);
  }
  const VectorXd difference = (one.multipliers - other.multipliers).cwiseProduct(row_lengths(program));
  const VectorXd sizes = one.multipliers.cwiseProduct(row_lengths(program));
  EXPECT_LE(difference.norm(), agreed * (step + sizes.norm()) + reach.mu);
}

void expect_sound(const QuadraticProgram& program, const QpSolution& solution) {
  EXPECT_LE(kkt_residual(program, solution.x, solution.multipliers), kkt_limit);
  for (std::size_t i = 0; i < program.equation.size(); ++i) {
    if (program.equation[i]) continue;
    EXPECT_GE(solution.multipliers[i], 0);
    EXPECT_EQ(solution.pressing[i] != 0, solution.multipliers[i] > 0);
  }
}

TEST(QuadraticProgram, EnumerationAndPivotingAgreeOnTenThousandRandomProblems) {
  int infeasible = 0, redundant = 0, ties = 0, free = 0;
  for (int k = 0; k < 10000; ++k) {
    SCOPED_TRACE(k);
    Dice dice(static_cast<std::uint64_t>(k));
    const Problem problem = random_problem(dice, 8, 0, 8, true);
    const QuadraticProgram& program = problem.program;

    const QpSolution enumerated = enumerate_qp(program), pivoted = pivot_qp(program);

    ASSERT_EQ(enumerated.feasible, pivoted.feasible);
    if (problem.known != Known::nothing) {
      ASSERT_EQ(enumerated.feasible, problem.known == Known::solution);
    }
    infeasible += !enumerated.feasible;
    if (!enumerated.feasible) continue;
    expect_sound(program, enumerated);
    expect_sound(program, pivoted);
    expect_same(problem, enumerated, pivoted);
    redundant += enumerated.redundant;
    free += enumerated.x == program.free;
    for (std::size_t i = 0; i < program.equation.size(); ++i) {
      ties += !enumerated.pressing[i] && std::abs(enumerated.residuals[i]) < 1e-12 &&
              program.rows.row(i).norm() > 0;
    }
  }
  // The generator produces the intended cases.
  EXPECT_GT(infeasible, 1000);
  EXPECT_GT(redundant, 1000);
  EXPECT_GT(ties, 1000);
  EXPECT_GT(free, 100);
}

// A direction that no tight row forbids: along some of them, and not into any of the others. In L^T x; empty
// when the first try fails.
VectorXd admissible_direction(Dice& dice, const QuadraticProgram& program, const std::vector<int>& tight) {
  std::vector<int> along;
  for (const int i : tight) {
    if (program.equation[i] || dice.chance(2)) along.push_back(i);
  }
  VectorXd d = dice.bells(program.free.size(), 1);
  if (!along.empty()) {
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> rows;
    rows.setThreshold(1e-11);
    rows.compute(unit_rows_of(program, along));
    for (int pass = 0; pass < 2; ++pass) d -= rows.solve(unit_rows_of(program, along) * d).eval();
  }
  for (const double sign : {1.0, -1.0}) {
    if (tight.empty() || (sign * unit_rows_of(program, tight) * d).maxCoeff() <= 1e-14 * d.norm())
      return sign * d;
  }
  return {};
}

TEST(QuadraticProgram, NoAdmissibleNudgeLowersTheConstraint) {
  int nudges = 0;
  for (int k = 0; k < 4000; ++k) {
    SCOPED_TRACE(k);
    Dice dice(static_cast<std::uint64_t>(k));
    const QuadraticProgram program = random_problem(dice, 8, 0, 8, true).program;
    const QpSolution solution = k % 2 ? enumerate_qp(program) : pivot_qp(program);
    if (!solution.feasible || solution.x == program.free) continue;
    const MatrixXd root = program.mass.llt().matrixL();
    const VectorXd z = root.transpose() * (solution.x - program.free);
    const std::vector<int> tight = tight_rows(program, solution);
    // The direction is admissible up to 1e-14 per row, which multipliers turn into gain; and x is rounded.
    const double push = solution.multipliers.cwiseProduct(row_lengths(program)).lpNorm<1>();
    const double tolerance = 1e-13 * (push + z.norm()) + 2 * reachable(program, solution).x;

    for (int attempt = 0; attempt < 20; ++attempt) {
      const VectorXd d = admissible_direction(dice, program, tight);
      if (d.size() == 0 || d.norm() < 1e-6) continue;
      ++nudges;
      // d/dt 1/2 |z + t d|^2 at t = 0: rows that are not tight leave room for a small t.
      EXPECT_GE(z.dot(d) / d.norm(), -tolerance);
    }
  }
  EXPECT_GT(nudges, 5000);
}

TEST(QuadraticProgram, PivotingSatisfiesTheJudgeWithManyInequalities) {
  int feasible = 0;
  for (int k = 0; k < 2000; ++k) {
    SCOPED_TRACE(k);
    Dice dice(static_cast<std::uint64_t>(k) + 1000000);
    const Problem problem = random_problem(dice, 12, 14, 20, false);

    const QpSolution solution = pivot_qp(problem.program);

    if (problem.known != Known::nothing) {
      ASSERT_EQ(solution.feasible, problem.known == Known::solution);
    }
    feasible += solution.feasible;
    if (solution.feasible) expect_sound(problem.program, solution);
    if (problem.known == Known::solution) expect_same(problem, solution, solution);
  }
  EXPECT_GT(feasible, 1000);
}

TEST(QuadraticProgram, RedundantMultipliersHaveLeastNorm) {
  int redundant = 0;
  for (int k = 0; k < 2000; ++k) {
    SCOPED_TRACE(k);
    // Dependent rows through one point, all tight there, in units at most a thousand apart.
    Dice dice(static_cast<std::uint64_t>(k));
    const int n = dice.whole(1, 4), r = dice.whole(n + 1, 8);
    QuadraticProgram program = plain_problem(dice, n, r);
    program.rows = dice.powers_of_ten(r, -1.5, 1.5).asDiagonal() * program.rows;
    program.offsets.setZero();
    program.free = program.mass.llt().solve(program.rows.transpose() * dice.powers_of_ten(r, -1, 1));
    for (char& equation : program.equation) equation = dice.chance(5);

    for (const QpSolution& solution : {enumerate_qp(program), pivot_qp(program)}) {
      ASSERT_TRUE(solution.feasible);
      EXPECT_TRUE(solution.redundant);
      // Least norm: lambda = max(A y, 0), for equations A y, for some y. The pressing rows give y.
      std::vector<int> pressing;
      for (int i = 0; i < r; ++i) {
        if (solution.pressing[i]) pressing.push_back(i);
      }
      if (static_cast<int>(pressing.size()) < n) continue;
      ++redundant;
      const VectorXd lambda = solution.multipliers;
      const MatrixXd A = program.rows(pressing, Eigen::all);
      const VectorXd y = A.colPivHouseholderQr().solve(lambda(pressing));
      const VectorXd would_be = program.rows * y;
      for (int i = 0; i < r; ++i) {
        const double expected = program.equation[i] ? would_be[i] : std::max(would_be[i], 0.0);
        EXPECT_NEAR(lambda[i], expected, agreed * lambda.norm());
      }
    }
  }
  EXPECT_GT(redundant, 3000);
}

// --- Invariance ------------------------------------------------------------------------------------------

TEST(QuadraticProgram, UnitsAndRowFactorsChangeNoVerdict) {
  for (int k = 0; k < 500; ++k) {
    SCOPED_TRACE(k);
    Dice dice(static_cast<std::uint64_t>(k));
    const int n = dice.whole(1, 6), r = dice.whole(1, n + 2);
    const QuadraticProgram metres = plain_problem(dice, n, r);
    const double grams = dice.power_of_ten(-6, 6);
    const VectorXd factors = dice.powers_of_ten(r, -6, 6);
    QuadraticProgram other = metres;  // millimetres, another unit of mass, rows scaled
    other.mass *= grams;
    other.free *= 1000;
    other.rows = factors.asDiagonal() * metres.rows;
    other.offsets = 1000 * factors.cwiseProduct(metres.offsets);

    for (const auto solve :
         {+[](const QuadraticProgram& program) { return enumerate_qp(program); }, &pivot_qp}) {
      const QpSolution one = solve(metres), two = solve(other);
      ASSERT_EQ(one.feasible, two.feasible);
      EXPECT_EQ(one.redundant, two.redundant);
      EXPECT_EQ(one.pressing, two.pressing);
      if (!one.feasible) continue;
      EXPECT_LE((two.x / 1000 - one.x).norm(), 1e-11 * (1 + one.x.norm()));
      const VectorXd lambda = two.multipliers.cwiseProduct(factors) / (1000 * grams);
      EXPECT_LE((lambda - one.multipliers).norm(), 1e-9 * one.multipliers.norm());
    }
  }
}

TEST(QuadraticProgram, DuplicatesAndOrderDoNotChangeTheSolution) {
  for (int k = 0; k < 500; ++k) {
    SCOPED_TRACE(k);
    Dice dice(static_cast<std::uint64_t>(k));
    const int n = dice.whole(1, 6), r = dice.whole(1, 5);
    const QuadraticProgram once = plain_problem(dice, n, r);
    std::vector<int> order;  // every row at least once, in any order
    for (int i = 0; i < r; ++i) order.insert(order.begin() + dice.whole(0, i), i);
    for (int i = 0; i < 3; ++i) order.push_back(dice.whole(0, r - 1));
    QuadraticProgram shuffled = once;
    shuffled.rows = once.rows(order, Eigen::all);
    shuffled.offsets = once.offsets(order);
    shuffled.equation.assign(order.size(), 0);

    const QpSolution one = enumerate_qp(once);
    for (const QpSolution& two : {enumerate_qp(shuffled), pivot_qp(shuffled)}) {
      ASSERT_EQ(one.feasible, two.feasible);
      if (!one.feasible) continue;
      EXPECT_LE((two.x - one.x).norm(), 1e-11 * (1 + one.x.norm()));
      VectorXd sum = VectorXd::Zero(r);
      for (std::size_t i = 0; i < order.size(); ++i) sum[order[i]] += two.multipliers[i];
      if (one.redundant) continue;
      EXPECT_LE((sum - one.multipliers).norm(), 1e-9 * (1 + one.multipliers.norm()));
    }
  }
}

TEST(QuadraticProgram, EqualRowsShareThePushAsTheirFactors) {
  // x <= 0 written with factors f: among those with sum f_i lambda_i = 1, f_i / sum f^2 has least norm.
  const VectorXd factors{{1e-6, 1, 1e6, 2e6}};
  const QuadraticProgram program =
      problem_of(MatrixXd::Identity(1, 1), VectorXd::Ones(1), factors, VectorXd::Zero(4));
  for (const QpSolution& solution : {enumerate_qp(program), pivot_qp(program)}) {
    EXPECT_TRUE(solution.redundant);
    EXPECT_NEAR(solution.x[0], 0, exact);
    for (int i = 2; i < 4; ++i) {
      EXPECT_NEAR(solution.multipliers[i], factors[i] / factors.squaredNorm(), exact * 1e-6);
    }
    EXPECT_LE(solution.multipliers.norm(), 1 / factors.norm() * (1 + exact));
  }
}

TEST(QuadraticProgram, DistantWallsAndDistantOriginsBlurNothing) {
  // x <= 0 pressed by 1e-6, a wall 1e12 away, and an origin 1e5 away: resolution 1e5 epsilon.
  for (const double origin : {0.0, 1e5}) {
    const QuadraticProgram program =
        problem_of(MatrixXd::Identity(2, 2), VectorXd{{origin + 1e-6, 1.0}}, MatrixXd{{1, 0}, {0, 1}, {1, 1}},
                   VectorXd{{-origin, -1e12, -origin - 1 - 1e-9}});
    for (const QpSolution& solution : {enumerate_qp(program), pivot_qp(program)}) {
      ASSERT_TRUE(solution.feasible);
      EXPECT_EQ(solution.pressing, (std::vector<char>{1, 0, 0}));
      EXPECT_NEAR(solution.x[0] - origin, 0, 1e5 * epsilon);
      EXPECT_EQ(solution.x[1], 1);
    }
  }
}

// --- Cases from the papers -------------------------------------------------------------------------------

TEST(QuadraticProgram, StaeckelsRedundantCornerHasOneAccelerationAndLeastMultipliers) {  // [staeckel-§7]
  const QuadraticProgram program = problem_of(MatrixXd::Identity(2, 2), VectorXd{{1, 2}},
                                              MatrixXd{{1, 0}, {0, 1}, {1, 1}}, VectorXd::Zero(3));
  for (const QpSolution& solution : {enumerate_qp(program), pivot_qp(program), solve_qp(program)}) {
    ASSERT_TRUE(solution.feasible);
    EXPECT_TRUE(solution.redundant);
    EXPECT_LE(solution.x.norm(), exact);
    EXPECT_LE((solution.multipliers - VectorXd{{0, 1, 1}}).norm(), exact);
    EXPECT_EQ(solution.multipliers[0], 0);
    EXPECT_EQ(solution.pressing, (std::vector<char>{0, 1, 1}));
  }
}

TEST(QuadraticProgram, PerronsSquareIsDecidedByTheSignOfTheMultiplier) {  // [staeckel-§8]
  const MatrixXd edges{{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  QuadraticProgram program =
      problem_of(MatrixXd::Identity(2, 2), VectorXd{{2, 0.5}}, edges, VectorXd::Constant(4, -1));
  std::vector<TriedSet> trace;

  const QpSolution edge = enumerate_qp(program, &trace);
  EXPECT_LE((edge.x - VectorXd{{1, 0.5}}).norm(), exact);
  EXPECT_LE((edge.multipliers - VectorXd{{1, 0, 0, 0}}).norm(), exact);
  EXPECT_LE((pivot_qp(program).x - edge.x).norm(), exact);
  ASSERT_EQ(trace.size(), 16U);
  EXPECT_EQ(trace[0].pressing, (std::vector<int>{}));
  EXPECT_EQ(trace[0].reason, TriedSet::Reason::broken);
  EXPECT_EQ(trace[0].row, 0);
  EXPECT_NEAR(trace[0].value, 1, exact);
  EXPECT_TRUE(trace[1].accepted);
  EXPECT_EQ(trace[2].reason, TriedSet::Reason::pulls);  // the false foot (-1, 1/2)
  EXPECT_LE((trace[2].x - VectorXd{{-1, 0.5}}).norm(), exact);
  EXPECT_NEAR(trace[2].value, -3, exact);
  EXPECT_EQ(trace[5].pressing, (std::vector<int>{0, 1}));
  EXPECT_EQ(trace[5].reason, TriedSet::Reason::contradictory);
  EXPECT_EQ(trace[15].pressing, (std::vector<int>{0, 1, 2, 3}));

  program.free = VectorXd{{2, 3}};
  for (const QpSolution& corner : {enumerate_qp(program), pivot_qp(program)}) {
    EXPECT_LE((corner.x - VectorXd{{1, 1}}).norm(), exact);
    EXPECT_LE((corner.multipliers - VectorXd{{1, 0, 2, 0}}).norm(), exact);
  }
}

// Two points joined by a string of length 5, the first at a wall sigma (x + y^2) <= 0: state of Mayer I §3.
QuadraticProgram string_and_wall(double sigma, const VectorXd& force) {
  const VectorXd m{{2, 2, 3, 3}}, v{{0, 1, -4, 4}};
  // f1 = ((x1 - x2)^2 + (y1 - y2)^2 - 25) / 2 at (0, 0), (-3, -4); f2 = sigma (x1 + y1^2).
  const double c1 = std::pow(v[0] - v[2], 2) + std::pow(v[1] - v[3], 2), c2 = 2 * sigma * v[1] * v[1];
  return problem_of(m.asDiagonal(), force.cwiseQuotient(m), MatrixXd{{3, 4, -3, -4}, {sigma, 0, 0, 0}},
                    VectorXd{{c1, c2}});
}

TEST(QuadraticProgram, MayersStringAndWallPressAsHeFound) {  // [mayer-17..20], cases M1-3-r2-*
  struct Case {
    const char* name;
    double sigma;
    VectorXd force, lambda, acceleration;
  };
  const Case cases[] = {
      {"A-free", 1, VectorXd{{-6, -9, 3, 0}}, VectorXd{{0, 0}}, VectorXd{{-3, -4.5, 1, 0}}},
      {"B1", 1, VectorXd{{-6, 6, 3, 0}}, VectorXd{{1.2, 0}}, VectorXd{{-4.8, 0.6, 2.2, 1.6}}},
      {"B2-ostro", 1, VectorXd{{-2, 3, 3, 0}}, VectorXd{{1.2, 0}}, VectorXd{{-2.8, -0.9, 2.2, 1.6}}},
      {"C-ostro", -1, VectorXd{{-2, 3, 3, 0}}, VectorXd{{66. / 49, 100. / 49}},
       VectorXd{{-2, -117. / 98, 115. / 49, 88. / 49}}},
      {"E-both", 1, VectorXd{{4, -1.5, 3, 0}}, VectorXd{{39. / 49, 275. / 49}},
       VectorXd{{-2, -459. / 196, 88. / 49, 52. / 49}}},
  };
  for (const auto& [name, sigma, force, lambda, acceleration] : cases) {
    SCOPED_TRACE(name);
    const QuadraticProgram program = string_and_wall(sigma, force);
    for (const QpSolution& solution : {enumerate_qp(program), pivot_qp(program)}) {
      EXPECT_LE((solution.x - acceleration).norm(), exact);
      EXPECT_LE((solution.multipliers - lambda).norm(), exact);
      EXPECT_EQ(solution.pressing, (std::vector<char>{lambda[0] > 0, lambda[1] > 0}));
      EXPECT_FALSE(solution.redundant);
      EXPECT_LE(kkt_residual(program, solution.x, solution.multipliers), exact);
    }
  }
}

TEST(QuadraticProgram, AnEquationMayPullWhereAnInequalityMayNot) {  // [mayer2-15], case M2-1-impulse-equation
  QuadraticProgram program = problem_of(VectorXd{{2, 2, 3, 3}}.asDiagonal(), VectorXd{{1, 0, -1, -2}},
                                        MatrixXd{{0, 1, 0, 0}, {3, 4, -3, -4}}, VectorXd::Zero(2));
  program.equation = {1, 0};
  for (const QpSolution& solution : {enumerate_qp(program), pivot_qp(program)}) {
    EXPECT_LE((solution.x - VectorXd{{-7. / 11, 0, 1. / 11, -6. / 11}}).norm(), exact);
    EXPECT_LE((solution.multipliers - VectorXd{{-48. / 11, 12. / 11}}).norm(), exact);
  }
}

// --- Verification ----------------------------------------------------------------------------------------

TEST(KktResidual, RejectsWhatIsNotTheMinimum) {
  const QuadraticProgram program =
      string_and_wall(1, VectorXd{{-2, 3, 3, 0}});  // B2-ostro: only the string presses
  const QpSolution right = enumerate_qp(program);
  const VectorXd &x = right.x, &lambda = right.multipliers;
  EXPECT_LE(kkt_residual(program, x, lambda), exact);

  for (int j = 0; j < 4; ++j) {
    EXPECT_GT(kkt_residual(program, x + 1e-8 * VectorXd::Unit(4, j), lambda), kkt_limit);
  }
  EXPECT_GT(kkt_residual(program, x, lambda + 1e-8 * VectorXd::Unit(2, 0)), kkt_limit);
  EXPECT_GT(kkt_residual(program, x, VectorXd::Zero(2)), 0.1);
  EXPECT_GT(kkt_residual(program, program.free, VectorXd::Zero(2)), 0.1);

  // Ostrogradsky: the conditions the free motion violates, as equations; the wall would have to pull.
  const VectorXd ostrogradsky{{-2, -117. / 98, 115. / 49, 88. / 49}}, pull{{66. / 49, -100. / 49}};
  EXPECT_GT(kkt_residual(program, ostrogradsky, pull), 0.1);
  QuadraticProgram equations = program;
  equations.equation = {1, 1};
  EXPECT_LE(kkt_residual(equations, ostrogradsky, pull), exact);

  // A push from a row that yields, balanced by its opposite.
  const QuadraticProgram between =
      problem_of(MatrixXd::Identity(1, 1), VectorXd::Zero(1), VectorXd{{1, -1}}, VectorXd{{-1, -1}});
  EXPECT_EQ(kkt_residual(between, VectorXd::Zero(1), VectorXd::Zero(2)), 0);
  EXPECT_GT(kkt_residual(between, VectorXd::Zero(1), VectorXd::Ones(2)), kkt_limit);
  EXPECT_GT(kkt_residual(between, VectorXd::Constant(1, std::nan("")), VectorXd::Zero(2)), kkt_limit);
}

// --- Edge cases ------------------------------------------------------------------------------------------

void expect_infeasible(const QuadraticProgram& program) {
  for (const QpSolution& solution : {enumerate_qp(program), pivot_qp(program), solve_qp(program)}) {
    EXPECT_FALSE(solution.feasible);
    EXPECT_TRUE(solution.x.array().isNaN().all());
    EXPECT_TRUE(solution.multipliers.array().isNaN().all());
  }
}

TEST(QuadraticProgram, ContradictionsAreInfeasible) {
  const MatrixXd one = MatrixXd::Identity(1, 1);
  expect_infeasible(
      problem_of(one, VectorXd::Zero(1), VectorXd{{1, -1}}, VectorXd{{1, 1}}));  // x <= -1, x >= 1
  QuadraticProgram equations = problem_of(one, VectorXd::Zero(1), VectorXd{{1, 2}}, VectorXd{{-1, -3}});
  equations.equation = {1, 1};
  expect_infeasible(equations);  // x = 1, 2 x = 3
  equations.offsets[1] = -2;     // 2 x = 2
  for (const QpSolution& solution : {enumerate_qp(equations), pivot_qp(equations)}) {
    ASSERT_TRUE(solution.feasible);
    EXPECT_TRUE(solution.redundant);
    EXPECT_NEAR(solution.x[0], 1, exact);
    EXPECT_LE((solution.multipliers - VectorXd{{-0.2, -0.4}}).norm(), exact);
  }
}

TEST(QuadraticProgram, ARowThatVanishesIsMetOrNotAndNeverPresses) {
  QuadraticProgram program =
      problem_of(MatrixXd::Identity(2, 2), VectorXd{{1, 0}}, MatrixXd{{0, 0}, {1, 0}}, VectorXd{{-1, 0}});
  for (const double offset : {-1.0, 0.0}) {
    program.offsets[0] = offset;
    for (const QpSolution& solution : {enumerate_qp(program), pivot_qp(program)}) {
      ASSERT_TRUE(solution.feasible);
      EXPECT_FALSE(solution.redundant);
      EXPECT_EQ(solution.multipliers[0], 0);
      EXPECT_EQ(solution.pressing, (std::vector<char>{0, 1}));
      EXPECT_EQ(kkt_residual(program, solution.x, solution.multipliers), 0);
    }
  }
  program.offsets[0] = 1e-9;
  expect_infeasible(program);
  program.offsets[0] = -1e-9;
  program.equation = {1, 0};
  expect_infeasible(program);
}

TEST(QuadraticProgram, NumbersThatAreNoneAreInfeasible) {
  QuadraticProgram program =
      problem_of(MatrixXd::Identity(1, 1), VectorXd::Zero(1), VectorXd::Ones(1), VectorXd::Zero(1));
  program.free[0] = std::nan("");
  expect_infeasible(program);
  program.free[0] = 0;
  program.mass(0, 0) = -1;
  expect_infeasible(program);
}

TEST(QuadraticProgram, ALongTraceEndsWithTheAcceptedSet) {
  Dice dice(7);
  QuadraticProgram program = plain_problem(dice, 7, 7);
  program.free = program.mass.llt().solve(program.rows.transpose() * VectorXd{{1, 0, 2, 0, 0, 3, 0}});
  program.offsets = VectorXd{{0, -1, 0, -1, -1, 0, -1}};
  std::vector<TriedSet> trace;

  const QpSolution solution = enumerate_qp(program, &trace);

  ASSERT_FALSE(trace.empty());
  EXPECT_EQ(trace.back().pressing, (std::vector<int>{0, 2, 5}));
  EXPECT_EQ(std::count_if(trace.begin(), trace.end(), [](const TriedSet& set) { return set.accepted; }), 1);
  EXPECT_LE((trace.back().multipliers - solution.multipliers).norm(), 1e-12);
  EXPECT_LE(solution.x.norm(), 1e-12);
}

}  // namespace
}  // namespace zwang::quadratic_program_test
