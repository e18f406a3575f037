// Enumeration of active sets by size.
#include "src/quadratic_program/enumerate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "src/quadratic_program/multipliers.h"
#include "src/quadratic_program/unit_rows.h"

namespace zwang {

using Eigen::VectorXd;
using namespace active_set;

namespace {

// Up to this many inequalities a trace lists every set, at most 64 lines.
constexpr std::size_t most_listed = 6;

struct Candidate {
  EqualityPoint point;
  TriedSet::Reason reason = TriedSet::Reason::accepted;
  Zero zero = Zero::rounding;  // the strictest meaning of zero in which it is accepted
  int row = -1;
};

// The point nearest to 0 that meets the given rows as equations, or nearly so in the sense of least squares,
// and multipliers of least norm [mayer-14] [mayer-17]. The decomposition reveals the rank: dependent rows are
// no special case.
EqualityPoint equality_point_by_pseudo_inverse(const UnitRows& rows, std::vector<int> taken) {
  EqualityPoint point;
  const auto n = rows.unit.cols();
  point.z = VectorXd::Zero(n);
  point.mu.resize(0);
  point.inverse.resize(n, 0);
  if (!taken.empty()) {
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(dependence_tolerance(0));
    decomposition.compute(rows.unit(taken, Eigen::all).transpose());
    point.inverse = decomposition.pseudoInverse().transpose();
    const VectorXd target = -rows.gap(taken);
    point.z = decomposition.transpose().solve(target);
    point.mu = decomposition.solve(-point.z);
  }
  point.rows = std::move(taken);
  return point;
}

// The row with the largest violation, and its kind; none if the candidate is accepted.
struct Failure {
  TriedSet::Reason reason = TriedSet::Reason::accepted;
  int row = -1;
  double excess = 0;

  void note(TriedSet::Reason why, int which, double by) {
    if (by > excess) *this = {why, which, by};
  }
};

// Mayer's conditions for a set of rows taken as equations, the equations themselves first.
Failure failure(const UnitRows& rows, const EqualityPoint& point, const VectorXd& residual, Zero zero) {
  using Reason = TriedSet::Reason;
  if (rows.contradiction >= 0) return {Reason::contradictory, rows.contradiction, 0};
  const Tolerances tolerance = tolerances(rows, point, zero);
  Failure worst;

  // The rows of the set are met.
  for (const int i : point.rows) {
    worst.note(Reason::contradictory, i, std::abs(residual[i]) - tolerance.residual[i]);
  }
  if (worst.row >= 0) return worst;

  // The other conditions are respected: f'' <= 0 [mayer-19].
  for (const int i : rows.inequalities) worst.note(Reason::broken, i, residual[i] - tolerance.residual[i]);
  if (worst.row >= 0) return worst;

  // The inequalities of the set push: lambda >= 0 [mayer-20].
  for (std::size_t k = rows.equations.size(); k < point.rows.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(k);
    worst.note(Reason::pulls, point.rows[k], -point.mu[at] - tolerance.multiplier[at]);
  }
  return worst;
}

// Takes the equations and the given inequalities as equations.
Candidate try_set(const UnitRows& rows, const std::vector<int>& pressing) {
  std::vector<int> taken = rows.equations;
  taken.insert(taken.end(), pressing.begin(), pressing.end());
  Candidate candidate;
  candidate.point = equality_point_by_pseudo_inverse(rows, std::move(taken));
  const VectorXd residual = rows.unit * candidate.point.z + rows.gap;
  for (const Zero zero : all_zeros) {
    const Failure worst = failure(rows, candidate.point, residual, zero);
    candidate.zero = zero;
    candidate.reason = worst.reason;
    candidate.row = worst.row;
    if (candidate.reason == TriedSet::Reason::accepted) break;
  }
  return candidate;
}

// The next choice of places 0..count-1, same size, lexicographically; false after the last.
bool advance(std::vector<std::size_t>& choice, std::size_t count) {
  const std::size_t size = choice.size();
  for (std::size_t k = size; k-- > 0;) {
    if (choice[k] + (size - k) < count) {
      ++choice[k];
      for (std::size_t l = k + 1; l < size; ++l) choice[l] = choice[l - 1] + 1;
      return true;
    }
  }
  return false;
}

// One line of the trace, in the caller's units.
TriedSet described(const QuadraticProgram& program, const UnitRows& rows, const Candidate& candidate,
                   std::vector<int> pressing) {
  TriedSet tried;
  tried.pressing = std::move(pressing);
  tried.reason = candidate.reason;
  tried.accepted = candidate.reason == TriedSet::Reason::accepted;
  tried.row = candidate.row;
  const EqualityPoint& point = candidate.point;
  tried.x = program.free + rows.root.transpose().triangularView<Eigen::Upper>().solve(point.z);
  tried.multipliers = VectorXd::Zero(program.offsets.size());
  tried.multipliers(point.rows) = point.mu.cwiseQuotient(rows.length(point.rows));
  if (tried.row >= 0) {
    const bool pulls = tried.reason == TriedSet::Reason::pulls;
    tried.value = pulls ? tried.multipliers[tried.row]
                        : program.rows.row(tried.row).dot(tried.x) + program.offsets[tried.row];
  }
  return tried;
}

using Visitor = std::function<void(const Candidate&, const std::vector<int>& pressing)>;

// All sets by size, until one is accepted in the strictest meaning of zero unless `exhaustive`. If none is,
// the first accepted in the next meaning is taken. Sets of more than n inequalities need not be tried: if
// multipliers >= 0 exist at all, some exist on independent rows (Caratheodory), and that smaller set comes
// first.
ActiveSet enumerate_sets(const UnitRows& rows, bool exhaustive, const Visitor& visitor) {
  std::optional<Candidate> best;
  const std::size_t count = rows.inequalities.size();
  const std::size_t largest =
      exhaustive ? count : std::min(count, static_cast<std::size_t>(rows.unit.cols()));
  bool enough = false;
  for (std::size_t size = 0; size <= largest && !enough; ++size) {
    std::vector<std::size_t> choice(size);
    for (std::size_t k = 0; k < size; ++k) choice[k] = k;
    do {
      std::vector<int> pressing;
      for (const std::size_t k : choice) pressing.push_back(rows.inequalities[k]);
      Candidate candidate = try_set(rows, pressing);
      if (visitor) visitor(candidate, pressing);
      const bool accepted = candidate.reason == TriedSet::Reason::accepted;
      if (accepted && (!best || candidate.zero < best->zero)) best = std::move(candidate);
      enough = !exhaustive && best && best->zero == Zero::rounding;
    } while (!enough && advance(choice, count));
  }
  return best ? active_set_at(rows, best->point) : ActiveSet{};
}

}  // namespace

QpSolution enumerate_qp(const QuadraticProgram& program, std::vector<TriedSet>* trace) {
  const auto solver = [](const UnitRows& rows) { return enumerate_sets(rows, false, nullptr); };
  const UnitRows rows = unit_rows(program);
  if (trace) trace->clear();
  if (!rows.usable) return solution_at(program, rows, ActiveSet{}, solver);
  if (!trace) return solution_at(program, rows, solver(rows), solver);

  const bool exhaustive = rows.inequalities.size() <= most_listed;
  const auto list = [&](const Candidate& candidate, const std::vector<int>& pressing) {
    trace->push_back(described(program, rows, candidate, pressing));
  };
  return solution_at(program, rows, enumerate_sets(rows, exhaustive, list), solver);
}

}  // namespace zwang
