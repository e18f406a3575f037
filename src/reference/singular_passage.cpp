// Distance to linear dependence, choice of the step, and projection within a step.
#include "src/reference/singular_passage.h"

#include <algorithm>
#include <cmath>

#include "src/laws/project.h"
#include "src/reference/row_dependence.h"
#include "src/system/mass_metric.h"
#include "src/system/move_positions.h"

namespace zwang {

namespace {

// A dependence is near where a unit row is closer than this to the span of the others, and would get there within so
// many steps: rows that are merely almost dependent, as with masses of very different size, stay at their distance.
constexpr double near_distance = 0.25, near_steps = 100;
// Rounding of positions at a distance s is amplified to epsilon/s, of velocities to epsilon/s^2, of accelerations to
// epsilon/s^3: 2e-10 at this distance.
constexpr double spoiled_distance = 1e-2;
// A projection may move a state by this share of the way that the step covers.
constexpr double largest_move = 0.05;

// The gap between two nodes of the method that is to contain the dependence, as fractions of the step, and the
// fraction aimed at.
struct Gap {
  double from, aim, until;
};
Gap widest_gap(IntegratorSettings::Method method) {
  if (method == IntegratorSettings::Method::rk4) return {0.65, 0.75, 0.85};  // nodes 0.5 and 1
  return {0.45, 0.6135, 0.78};                                               // of tsit5: nodes 0.327 and 0.9
}
// Otherwise the dependence lies at least this many step lengths from the step's start.
constexpr double clear_of_end = 1.35;

double length_in(const Eigen::MatrixXd& mass, const Eigen::VectorXd& x) {
  return std::sqrt(std::max(x.dot(mass * x), 0.0));
}

}  // namespace

// The distance is a linear function of time near its zero; its slope follows from a state a little later.
Approach SingularPassage::approach(const MemberState& member, const Eigen::VectorXd& rate, double h) {
  Approach made;
  if (member.active.size() < 2) return made;
  const RowDependence now = row_dependence(member.equations, member.state(), member.active);
  const auto later = [&](double ahead) {
    State state = member.state();
    state.t += ahead;
    const Eigen::VectorXd way = ahead * (state.v + 0.5 * ahead * rate.segment(member.n(), member.n()));
    move_positions(member.system(), way, state);
    return state;
  };
  if (rows_ != member.active) {
    rows_ = member.active;
    rank_ = now.rank;
    // Redundant rows stay dependent on the constraints; rows that are independent a little later start in a singular
    // position.
    if (rank_ < rows_.size()) {
      State soon = later(0.1 * h);
      project(member.equations, soon, member.sizes, member.active);
      rank_ = std::max(rank_, row_dependence(member.equations, soon, member.active).rank);
    }
  }
  if (now.rank != rank_) {
    made.status = Status::singular;
    return made;
  }
  const double ahead = 1e-3 * h;
  const RowDependence then = row_dependence(member.equations, later(ahead), member.active);
  const double slope = then.rank == now.rank ? (then.distance - now.distance) / ahead : -now.distance / ahead;
  made.near = now.distance < near_distance && now.distance < near_steps * h * std::abs(slope);
  made.time = -now.distance / slope;
  made.excluded = spoiled_distance / std::abs(slope);
  return made;
}

double plan_step(IntegratorSettings::Method method, double h, double time) {
  if (!(time > 0) || time >= clear_of_end * h) return h;
  const Gap gap = widest_gap(method);
  if (time > gap.until * h) return time / clear_of_end;
  return time < gap.from * h ? time / gap.aim : h;
}

bool project_within_step(const MemberState& member, double h, State& state) {
  const Eigen::MatrixXd mass = member.equations.mass(state);
  const Eigen::VectorXd q = state.q;
  const double way = std::abs(h) * length_in(mass, state.v);
  project(member.equations, state, member.sizes, member.active);
  return state.q.allFinite() && state.v.allFinite() && length_in(mass, state.q - q) <= largest_move * way;
}

Eigen::VectorXd tangential(const MemberState& member, const Step& step) {
  const Equations& equations = member.equations;
  const Eigen::Index n = member.n();
  State end = member.state_of(step.t + step.h, step.end);
  project(equations, end, member.sizes, member.active);
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(member.active.size()), n);
  for (Eigen::Index k = 0; k < rows.rows(); ++k)
    rows.row(k) = equations.row(member.active[static_cast<std::size_t>(k)], end).a;
  const MassMetric metric(equations.mass(end));
  Eigen::VectorXd error = step.error;
  for (const Eigen::Index first : {Eigen::Index{0}, n})
    error.segment(first, n) += metric.smallest_change(rows, -rows * step.error.segment(first, n)).x;
  return error;
}

}  // namespace zwang
