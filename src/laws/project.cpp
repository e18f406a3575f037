// Newton projection against drift, and the nearest admissible start.
#include "src/laws/project.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/index.h"
#include "src/expression/scaled.h"
#include "src/laws/aitken.h"
#include "src/quadratic_program/enumerate.h"
#include "src/quadratic_program/quadratic_program.h"
#include "src/quadratic_program/solve.h"
#include "src/system/mass_metric.h"
#include "src/system/move_positions.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int newton_limit = 12;
constexpr int start_limit = 400;

// Rows, residuals and rounding scales of a set of conditions, on the level of positions or of velocities.
struct Level {
  Eigen::MatrixXd rows;
  Eigen::VectorXd residuals, scales;
};

Level level_of(const Equations& equations, const State& state, const Sizes& sizes,
               const std::vector<std::size_t>& set, bool velocities) {
  Level level;
  level.rows.setZero(index(set.size()), index(equations.size()));
  level.residuals.setZero(index(set.size()));
  level.scales.setZero(index(set.size()));
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Constraint& constraint = equations.system().constraints[set[k]];
    const std::vector<Scaled> scaled = equations.scaled_row(set[k], state, sizes);
    const Scaled& residual = velocities ? scaled[1] : scaled[0];
    level.residuals(index(k)) = residual.value;
    level.scales(index(k)) = residual.scale;
    for (std::size_t c = 0; c < constraint.columns.size(); ++c)
      level.rows(index(k), index(constraint.columns[c])) = scaled[3 + c].value;
  }
  return level;
}

// Newton iteration in the mass metric until every residual is at its rounding floor, or no longer decreases.
double newton_onto(const Equations& equations, State& state, const Sizes& sizes,
                   const std::vector<std::size_t>& set, bool velocities) {
  if (set.empty()) return 0;
  const MassMetric metric(equations.mass(state));
  double last = std::numeric_limits<double>::infinity();
  State kept = state;
  for (int pass = 0; pass <= newton_limit; ++pass) {
    const Level level = level_of(equations, state, sizes, set, velocities);
    // Measured in units of rounding, so that conditions of different size are treated alike.
    double worst = 0;
    for (Eigen::Index k = 0; k < level.residuals.size(); ++k)
      worst = std::max(worst, std::abs(level.residuals(k)) /
                                  std::max(level.scales(k), std::numeric_limits<double>::min()));
    if (!(worst < 0.5 * last)) {
      state = kept;  // the last step gained nothing: rounding is reached
      break;
    }
    last = worst;
    kept = state;
    if (worst <= 0.5 * epsilon || pass == newton_limit || !metric.valid()) break;
    const Eigen::VectorXd change = metric.smallest_change(level.rows, -level.residuals).x;
    if (!change.allFinite()) break;
    if (velocities)
      state.v += change;
    else
      move_positions(equations.system(), change, state);
  }
  const Level level = level_of(equations, state, sizes, set, velocities);
  return level.residuals.cwiseAbs().maxCoeff();
}

std::vector<std::size_t> only_holonomic(const Equations& equations, const std::vector<std::size_t>& set) {
  std::vector<std::size_t> holonomic;
  for (const std::size_t i : set)
    if (equations.system().constraints[i].holonomic) holonomic.push_back(i);
  return holonomic;
}

// The largest violation in units of tolerance * scale; 1 or less is admissible.
double violation(const Equations& equations, const Level& level, const std::vector<std::size_t>& set,
                 double tolerance) {
  double worst = 0;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const double f = level.residuals(index(k));
    const double amount = equations.system().constraints[set[k]].equation ? std::abs(f) : f;
    if (!(amount <= tolerance * level.scales(index(k))))
      worst = std::max(worst, std::isfinite(amount) ? amount / (tolerance * level.scales(index(k)) + 1e-300)
                                                    : std::numeric_limits<double>::infinity());
  }
  return worst;
}

// Sequential quadratic programs: the point nearest to the origin subject to the conditions linearised at the
// current point. At a fixed point the move is -M^-1 A^T lambda with the rows at that point: it is the nearest
// admissible point.
bool nearest(const Equations& equations, State& state, const std::vector<std::size_t>& set, bool velocities,
             double tolerance) {
  const Sizes drawn = sizes_of(state);
  // The drawn state sets the scale: velocities projected to almost nothing are zero on this scale.
  const auto sizes = [&] {
    const Sizes now = sizes_of(state);
    return Sizes{now.q.cwiseMax(drawn.q), now.v.cwiseMax(drawn.v)};
  };
  const Eigen::MatrixXd mass = equations.mass(state);
  // The displacement from the origin: the coordinates of turns have no value of their own.
  Eigen::VectorXd x = velocities ? state.v : state.q;
  const Eigen::VectorXd origin = x;
  const auto move_by = [&](const Eigen::VectorXd& change) {
    x += change;
    if (velocities)
      state.v = x;
    else
      move_positions(equations.system(), change, state);
  };
  Relaxation relaxation;
  for (int pass = 0; pass < start_limit; ++pass) {
    const Level level = level_of(equations, state, sizes(), set, velocities);
    if (!level.residuals.allFinite() || !level.rows.allFinite()) return false;
    // Half of the passes aim at the nearest point; if these do not converge, Newton steps from the current
    // point.
    QuadraticProgram program;
    program.mass = mass;
    program.free = pass < start_limit / 2 ? origin : x;
    program.rows = level.rows;
    program.offsets = level.residuals - level.rows * x;
    for (const std::size_t i : set) program.equation.push_back(equations.system().constraints[i].equation);
    const QpSolution solution = solve_qp(program);
    if (!solution.feasible) return false;
    const double moved = (solution.x - x).cwiseAbs().maxCoeff();
    move_by(pass < start_limit / 2 ? relaxation.relax(solution.x - x) : Eigen::VectorXd(solution.x - x));
    const Level now = level_of(equations, state, sizes(), set, velocities);
    if (violation(equations, now, set, tolerance) == 0 && moved <= 1e-14 * (x.cwiseAbs().maxCoeff() + moved))
      return true;
    if (pass >= start_limit / 2 && violation(equations, now, set, tolerance) == 0) return true;
  }
  const Level now = level_of(equations, state, sizes(), set, velocities);
  return violation(equations, now, set, tolerance) == 0;
}

}  // namespace

Residuals project(const Equations& equations, State& state, const Sizes& sizes,
                  const std::vector<std::size_t>& set) {
  Residuals left;
  left.position = newton_onto(equations, state, sizes, only_holonomic(equations, set), false);
  left.velocity = newton_onto(equations, state, sizes, set, true);
  return left;
}

Start make_consistent(const Equations& equations, State& state, const std::vector<std::size_t>& in_force,
                      const std::vector<char>& imposed, double tolerance) {
  Start start;
  const State drawn = state;
  const std::vector<std::size_t> positions = only_holonomic(equations, in_force);
  std::vector<std::size_t> velocities;
  for (const std::size_t i : in_force) {
    const Constraint& constraint = equations.system().constraints[i];
    if (imposed[i]) continue;
    if (constraint.equation || !constraint.holonomic) velocities.push_back(i);
  }
  for (const bool on_velocities : {false, true}) {
    const std::vector<std::size_t>& set = on_velocities ? velocities : positions;
    if (set.empty()) continue;
    const Level level = level_of(equations, state, sizes_of(state), set, on_velocities);
    if (violation(equations, level, set, tolerance) == 0) continue;
    start.consistent = false;
    if (!nearest(equations, state, set, on_velocities, tolerance)) {
      start.status = Status::inconsistent_start;
      return start;
    }
    if (on_velocities) drop_noise(state.v, drawn.v, equations.mass(state));
  }
  start.position_moved = distance_moved(equations.system(), drawn, state);
  start.velocity_moved = (state.v - drawn.v).norm();
  return start;
}

}  // namespace zwang
