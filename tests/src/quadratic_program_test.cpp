#include "src/quadratic_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "src/enumerate_qp.h"
#include "src/pivot_qp.h"

namespace zwang {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double judged = 1e-10;  // the judge's limit: far above rounding, far below a wrong active set
constexpr double agreed = 1e-9;   // two solvers, relative to |x - x0|_M
constexpr double exact = 1e-14;   // small whole numbers: a few roundings

// The same numbers with every standard library, so that a case that fails here fails everywhere.
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

  // Whole numbers make exact ties.
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

// --- Measures of the tests' own --------------------------------------------------------------------------

double mass_norm(const QuadraticProgram& program, const VectorXd& step) {
  return std::sqrt(step.dot(program.mass * step));
}

VectorXd row_lengths(const QuadraticProgram& program) {
  const MatrixXd solved = program.mass.ldlt().solve(program.rows.transpose());
  return (program.rows * solved).diagonal().cwiseMax(0).cwiseSqrt();
}

// How well double precision can know x and the unit multipliers: the rounding of x0 itself; and the rounding of
// the terms A_i x0 and c_i of the tight rows, through the least singular value of these rows, for the multipliers
// twice. That value is near 1 unless light and heavy points stand in one row.
struct Reach {
  double x = 0, mu = 0;
};

Reach reachable(const QuadraticProgram& program, const QpSolution& solution) {
  const VectorXd lengths = row_lengths(program);
  const double step = mass_norm(program, solution.x - program.free);
  const VectorXd terms = program.rows.cwiseAbs() * program.free.cwiseAbs() + program.offsets.cwiseAbs();
  MatrixXd tight = program.mass.llt().matrixL().solve(program.rows.transpose());
  double noise = step;
  for (Eigen::Index i = 0; i < lengths.size(); ++i) {
    const bool is_tight = std::abs(solution.residuals[i]) <= 1e-9 * (terms[i] + step * lengths[i]);
    tight.col(i) *= is_tight && lengths[i] > 0 ? 1 / lengths[i] : 0;
    if (is_tight && lengths[i] > 0) noise = std::max(noise, terms[i] / lengths[i]);
  }
  double least = 1;
  if (tight.size() > 0) {
    const VectorXd values = tight.jacobiSvd().singularValues();
    for (const double value : values) {
      if (value > 1e-11) least = std::min(least, value);
    }
  }
  const double origin = program.mass.diagonal().cwiseSqrt().dot(program.free.cwiseAbs());
  noise *= 64 * epsilon;
  return {.x = 4 * epsilon * origin + noise / least, .mu = noise / (least * least)};
}

double objective(const QuadraticProgram& program, const VectorXd& x) {
  return 0.5 * (x - program.free).dot(program.mass * (x - program.free));
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
  if (kind == 4) return (dice.chance(4) ? -1 : 1) * rows.row(dice.whole(0, static_cast<int>(i) - 1));
  for (Eigen::Index k = 0; kind == 5 && k < i; ++k) {
    if (dice.chance(2)) row += dice.number(whole, 2) * rows.row(k).transpose();
  }
  return kind < 4 ? dice.numbers(rows.cols(), whole, 1) : row;
}

// The last row is made to contradict a combination of the others that has to be <= 0, by as much as their sizes.
void contradict(Dice& dice, QuadraticProgram& program) {
  const Eigen::Index last = program.rows.rows() - 1;
  VectorXd sum = VectorXd::Zero(program.free.size());
  double offset = 0, size = 0;
  for (Eigen::Index i = 0; i < last; ++i) {
    if (i > 0 && dice.chance(2)) continue;
    const double factor = dice.between(0.2, 2) * (program.equation[i] && dice.chance(2) ? -1 : 1);
    sum += factor * program.rows.row(i).transpose();
    offset += factor * program.offsets[i];
    size += std::abs(factor) *
            (program.rows.row(i).cwiseAbs().dot(program.free.cwiseAbs()) + std::abs(program.offsets[i]));
  }
  program.rows.row(last) = -sum;
  program.offsets[last] = -offset + dice.between(0.1, 2) * (size + 1);
}

// Starts from the solution: x, rows tight or slack there, multipliers of which many are 0, and x0 from these. So ties
// (tight, multiplier 0), redundancy and distant rows are common, and the answer is known. Then the masses
// are spread over 10^[-6, 6], the origin may be moved far away and the rows are scaled by 10^[-6, 6].
Problem random_problem(Dice& dice, int most_coordinates, int fewest_rows, int most_rows, bool equations) {
  const int n = dice.whole(1, most_coordinates), r = dice.whole(fewest_rows, most_rows);
  const bool whole = dice.chance(3), own_units = dice.chance(2);
  Problem problem;
  QuadraticProgram& program = problem.program;

  const double decades = dice.chance(2) ? 3 : 0;
  const VectorXd spread = dice.powers_of_ten(n, -decades, decades);
  const MatrixXd factor = dice.bells(n, n) * dice.whole(0, 1);
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
    if (program.equation.back())
      lambda[i] = dice.number(whole, 2);
    else if (kind == 0)
      slack[i] = dice.power_of_ten(-3, 6);
    else if (kind == 1)
      slack[i] = dice.whole(1, 3);
    else if (kind == 2)
      lambda[i] = dice.whole(1, 3);
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
    const VectorXd shift = dice.power_of_ten(0, 6) * dice.numbers(n, false, 1).cwiseQuotient(units);
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

// Nothing special: no ties, no dependent rows up to n.
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
  EXPECT_LE(kkt_residual(program, solution.x, solution.multipliers), judged);
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
  // The generator does what it says.
  EXPECT_GT(infeasible, 1000);
  EXPECT_GT(redundant, 1000);
  EXPECT_GT(ties, 1000);
  EXPECT_GT(free, 100);
}

// The rows that are met with equality, on unit rows in the mass metric: k x n.
MatrixXd tight_rows(const QuadraticProgram& program, const QpSolution& solution) {
  const VectorXd lengths = row_lengths(program);
  const double size = mass_norm(program, solution.x - program.free);
  std::vector<int> tight;
  for (int i = 0; i < static_cast<int>(lengths.size()); ++i) {
    if (lengths[i] > 0 && std::abs(solution.residuals[i]) <= 1e-9 * size * lengths[i]) tight.push_back(i);
  }
  const MatrixXd unit = program.mass.llt().matrixL().solve(program.rows.transpose()).transpose();
  return lengths(tight).cwiseInverse().asDiagonal() * unit(tight, Eigen::all);
}

}}
