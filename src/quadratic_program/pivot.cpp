// Dual active-set method of Goldfarb and Idnani.
#include "src/quadratic_program/pivot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "src/quadratic_program/multipliers.h"
#include "src/quadratic_program/unit_rows.h"

namespace zwang {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace active_set;

namespace {

// The minimum for independent rows taken as equations: z = -U^T mu with U U^T mu = b, through the QR factors
// of U^T because U U^T would square the condition number [mayer-14] [mayer-17].
EqualityPoint equality_point_by_qr(const UnitRows& rows, std::vector<int> taken) {
  const auto n = rows.unit.cols();
  const auto k = static_cast<Eigen::Index>(taken.size());
  EqualityPoint point{.rows = {}, .z = VectorXd::Zero(n), .mu = VectorXd(k), .inverse = MatrixXd(n, k)};
  if (k > 0) {
    const Eigen::HouseholderQR<MatrixXd> factors(rows.unit(taken, Eigen::all).transpose());
    const MatrixXd Q = factors.householderQ() * MatrixXd::Identity(n, k);
    const MatrixXd R = factors.matrixQR().topRows(k);
    const auto upper = R.triangularView<Eigen::Upper>();
    const VectorXd y = upper.transpose().solve(rows.gap(taken));
    point.z = -(Q * y);
    point.mu = upper.solve(y);
    point.inverse = upper.solve(Q.transpose()).transpose();
  }
  point.rows = std::move(taken);
  return point;
}

// A largest independent set of the equations. Those left out are checked against the others by the caller.
std::vector<int> independent_equations(const UnitRows& rows) {
  if (rows.equations.empty()) return {};
  Eigen::ColPivHouseholderQR<MatrixXd> factors;
  factors.setThreshold(dependence_tolerance(0));
  factors.compute(rows.unit(rows.equations, Eigen::all).transpose());
  std::vector<int> chosen;
  for (Eigen::Index k = 0; k < factors.rank(); ++k) {
    chosen.push_back(rows.equations[factors.colsPermutation().indices()[k]]);
  }
  return chosen;
}

bool meets_equations(const UnitRows& rows, const EqualityPoint& point) {
  const Tolerances tolerance = tolerances(rows, point, Zero::tie);
  return std::all_of(rows.equations.begin(), rows.equations.end(), [&](int i) {
    return std::abs(rows.unit.row(i).dot(point.z) + rows.gap[i]) <= tolerance.residual[i];
  });
}

struct Broken {
  int row = -1;      // the most violated inequality; -1: none
  bool tie = false;  // the violation is within a tie and may count as zero
};

// `excused` rows are not considered.
Broken most_broken(const UnitRows& rows, const EqualityPoint& point, const std::vector<int>& excused,
                   Zero zero) {
  const Tolerances tolerance = tolerances(rows, point, zero), tied = tolerances(rows, point, Zero::tie);
  Broken broken;
  double worst = 0;
  for (const int i : rows.inequalities) {
    const double residual = rows.unit.row(i).dot(point.z) + rows.gap[i];
    if (residual <= tolerance.residual[i] || residual <= worst) continue;
    if (std::find(excused.begin(), excused.end(), i) != excused.end()) continue;
    worst = residual;
    broken = {i, residual <= tied.residual[i]};
  }
  return broken;
}

// The place in point.rows of the inequality whose multiplier first becomes negative when the multipliers
// change by -t r, and that t; none: -1 and infinity. The first `fixed` rows are equations of either sign.
struct Blocking {
  Eigen::Index place = -1;
  double t = std::numeric_limits<double>::infinity();
};

Blocking first_to_pull(const EqualityPoint& point, Eigen::Index fixed, const VectorXd& r, double least) {
  Blocking blocking;
  for (Eigen::Index k = fixed; k < r.size(); ++k) {
    if (r[k] <= least) continue;
    const double t = std::max(point.mu[k], 0.0) / r[k];
    if (t < blocking.t) blocking = {k, t};
  }
  return blocking;
}

// Adds the violated row p. Its multiplier grows by t while the others change by -t r, with r the coefficients
// of u_p on them, so that they stay met; z moves by -t d, with d the part of u_p they do not span. A row
// whose multiplier becomes negative on the way is dropped. If u_p lies in their span and none can be dropped,
// then
//     u_p = sum r_i u_i with r_i <= 0 for inequalities, and u_p z + b_p > 0:
// p is violated whenever the others hold, which proves that no point meets all.
std::optional<EqualityPoint> press(const UnitRows& rows, EqualityPoint point, Eigen::Index fixed, int p) {
  const VectorXd u = rows.unit.row(p);
  while (true) {
    VectorXd r = point.inverse.transpose() * u;
    VectorXd d = u - rows.unit(point.rows, Eigen::all).transpose() * r;
    const VectorXd correction = point.inverse.transpose() * d;
    r += correction;
    d -= rows.unit(point.rows, Eigen::all).transpose() * correction;

    const bool dependent = d.norm() <= dependence_tolerance(r.lpNorm<1>());
    const Blocking blocking = first_to_pull(point, fixed, r, dependent ? dependence_tolerance(0) : 0);
    if (dependent && blocking.place < 0) return std::nullopt;
    const double residual = u.dot(point.z) + rows.gap[p];
    if (!dependent && residual <= blocking.t * d.squaredNorm()) {
      point.rows.push_back(p);
      return equality_point_by_qr(rows, std::move(point.rows));
    }

    // Move until the first multiplier is zero, and continue without that row. The factors are computed anew;
    // z and mu are those of the path to p.
    VectorXd z = point.z, mu = point.mu - blocking.t * r;
    if (!dependent) z -= blocking.t * d;
    const Eigen::Index after = mu.size() - blocking.place - 1;
    mu.segment(blocking.place, after) = mu.tail(after).eval();
    mu.conservativeResize(mu.size() - 1);
    point.rows.erase(point.rows.begin() + blocking.place);
    point = equality_point_by_qr(rows, std::move(point.rows));
    point.z = std::move(z);
    point.mu = std::move(mu);
  }
}

// Drops nearly dependent rows whose multipliers are negative by rounding alone.
EqualityPoint without_pull(const UnitRows& rows, EqualityPoint point, Eigen::Index fixed) {
  while (point.mu.size() > fixed) {
    Eigen::Index place = 0;
    if (point.mu.tail(point.mu.size() - fixed).minCoeff(&place) >= 0) break;
    point.rows.erase(point.rows.begin() + fixed + place);
    point = equality_point_by_qr(rows, std::move(point.rows));
  }
  return point;
}

struct Outcome {
  bool decided = false;
  ActiveSet active;
};

// Each step increases the constraint, so that no set occurs twice, except by rounding: beyond this number of
// steps the problem counts as undecided in this meaning of zero.
Outcome pivot_sets(const UnitRows& rows, EqualityPoint point, Zero zero) {
  const auto fixed = static_cast<Eigen::Index>(point.rows.size());
  const std::size_t most_steps = 20 + 10 * rows.inequalities.size();
  std::vector<int> excused;
  for (std::size_t step = 0; step < most_steps; ++step) {
    const Broken broken = most_broken(rows, point, excused, zero);
    if (broken.row < 0) return {true, active_set_at(rows, point)};
    std::optional<EqualityPoint> next = press(rows, point, fixed, broken.row);
    if (next) {
      point = without_pull(rows, std::move(*next), fixed);
      excused.clear();
    } else if (broken.tie) {
      excused.push_back(broken.row);
    } else {
      return {true, {}};
    }
  }
  return {};
}

// A contradiction by more than a tie is final. A problem undecided in every meaning of zero has never been
// observed, and counts as not feasible.
ActiveSet pivot_sets(const UnitRows& rows) {
  if (rows.contradiction >= 0) return {};
  const EqualityPoint start = equality_point_by_qr(rows, independent_equations(rows));
  if (!meets_equations(rows, start)) return {};
  for (const Zero zero : all_zeros) {
    const Outcome outcome = pivot_sets(rows, start, zero);
    if (outcome.decided) return outcome.active;
  }
  return {};
}

}  // namespace

QpSolution pivot_qp(const QuadraticProgram& program) {
  const UnitRows rows = unit_rows(program);
  const ActiveSet active = rows.usable ? pivot_sets(rows) : ActiveSet{};
  return solution_at(program, rows, active, [](const UnitRows& inner) { return pivot_sets(inner); });
}

}  // namespace zwang
