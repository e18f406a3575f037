// Accelerations by Gauss's principle: linear solve for a given set, quadratic program for the set.
#include "src/laws/least_constraint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/base/index.h"
#include "src/expression/scaled.h"
#include "src/laws/cone_multipliers.h"
#include "src/quadratic_program/kkt_residual.h"
#include "src/quadratic_program/quadratic_program.h"
#include "src/quadratic_program/solve.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Gradient entries below this share of their own rounding scale are noise.
constexpr double vanishing = 1e-10;
// Dependent rows are contradictory when the least-squares solution misses them by more than this share.
constexpr double contradiction = 1e-8;
// And by more than so many rounding scales of their terms.
constexpr double contradiction_roundings = 1e-12;

QuadraticProgram gauss_program(const Equations& equations, const State& state, const Dynamics& dynamics,
                               const Eigen::VectorXd& free, const std::vector<std::size_t>& rows) {
  QuadraticProgram program;
  const auto count = index(rows.size());
  program.mass = dynamics.mass;
  program.free = free;
  program.rows.setZero(count, index(equations.size()));
  program.offsets.setZero(count);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Row row = equations.row(rows[k], state);
    program.rows.row(index(k)) = row.a;
    program.offsets(index(k)) = row.rest;
    program.equation.push_back(equations.system().constraints[rows[k]].equation);
  }
  return program;
}

// The force of each row per unit of its multiplier; with friction where a contact slips. `slips` is set then.
Eigen::MatrixXd force_rows(const Equations& equations, const State& state,
                           const std::vector<std::size_t>& set, const Eigen::MatrixXd& rows, bool& slips) {
  Eigen::MatrixXd forces = rows;
  slips = false;
  const auto& frictions = equations.system().frictions;
  for (std::size_t f = 0; f < frictions.size() && state.modes.size() > 0; ++f) {
    const auto it = std::find(set.begin(), set.end(), frictions[f].contact);
    if (it == set.end()) continue;
    const Eigen::VectorXd drag = equations.friction(f, state).drag;
    if (drag.isZero(0)) continue;
    slips = true;
    for (std::size_t k = 0; k < frictions[f].rows.size(); ++k)
      forces.row(it - set.begin()) += drag(index(k)) * equations.row(frictions[f].rows[k], state).a;
  }
  return forces;
}

// Accelerations with friction [friction-4]: A M^-1 B^T lambda = Phi0.
struct SlipSolution {
  bool independent = true;
  double mismatch = 0;
  Eigen::VectorXd lambda;
};
SlipSolution solve_slip(const MassMetric& metric, const Eigen::MatrixXd& rows, const Eigen::MatrixXd& forces,
                        const Eigen::VectorXd& excess) {
  const Eigen::MatrixXd a = metric.rows(rows), b = metric.rows(forces);
  Eigen::VectorXd length = a.rowwise().norm();
  for (double& one : length)
    if (!(one > 0)) one = 1;
  const Eigen::MatrixXd unit = length.cwiseInverse().asDiagonal();
  const Eigen::MatrixXd phi = unit * (a * b.transpose()) * unit;
  const Eigen::VectorXd wanted = excess.cwiseQuotient(length);
  SlipSolution made;
  Eigen::FullPivLU<Eigen::MatrixXd> lu(phi);
  lu.setThreshold(1e-14);
  made.independent = lu.isInvertible();
  if (made.independent) {
    made.lambda = lu.solve(wanted);
  } else {
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(1e-10);
    decomposition.compute(phi);
    made.lambda = decomposition.solve(wanted);
    const double size = wanted.norm();
    made.mismatch = size > 0 ? (phi * made.lambda - wanted).norm() / size : 0;
  }
  made.lambda = made.lambda.cwiseQuotient(length);
  return made;
}

// Multipliers that are not unique, with the cones and bounds they must stay in.
DependentMultipliers dependent_multipliers(const Equations& equations, const State& state,
                                           const std::vector<std::size_t>& set, const MassMetric& metric,
                                           const Eigen::MatrixXd& rows, const Eigen::MatrixXd& forces,
                                           const Eigen::VectorXd& lambda,
                                           std::optional<std::size_t> pulling = std::nullopt) {
  DependentMultipliers all;
  const System& system = equations.system();
  const auto place = [&](std::size_t row) {
    const auto it = std::find(set.begin(), set.end(), row);
    return it == set.end() ? Eigen::Index(-1) : static_cast<Eigen::Index>(it - set.begin());
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::size_t i : set)
    if (!system.constraints[i].equation && i != pulling) all.bounds.push_back({place(i), 0, infinity});
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const Friction& friction = system.frictions[f];
    if (place(friction.contact) < 0 || place(friction.rows[0]) < 0) continue;
    all.cones.push_back({place(friction.contact), place(friction.rows[0]), index(friction.rows.size()),
                         equations.friction(f, state).cone_static});
  }
  for (std::size_t b = 0; b < system.bounds.size(); ++b) {
    const Eigen::Index row = place(system.bounds[b].condition);
    if (row < 0) continue;
    const double limit = equations.bound(b).limit;
    const std::size_t i = system.bounds[b].condition;
    const double least = i == pulling ? -infinity : system.constraints[i].equation ? -limit : 0;
    all.bounds.push_back({row, least, limit});
  }
  all.noise = 1e-13 * lambda.cwiseAbs().maxCoeff() * Eigen::VectorXd::Ones(lambda.size());
  share_loads(metric.rows(rows), metric.rows(forces), lambda, all);
  return all;
}

bool bounds_multipliers(const Equations& equations) {
  return !equations.system().frictions.empty() || !equations.system().bounds.empty();
}

// Whether dependent rows demand different accelerations: by more than a share of them, and by more than the rounding of
// their terms. Where no forces act and nothing moves across the conditions, what they demand is rounding.
bool contradict(const Equations& equations, const State& state, const std::vector<std::size_t>& set,
                const MassMetric& metric, const QuadraticProgram& program, const Eigen::VectorXd& excess,
                double mismatch) {
  if (mismatch <= contradiction) return false;
  Sizes sizes = sizes_of(state);
  raise_to_noise(sizes, program.mass);
  const Eigen::VectorXd length = metric.rows(program.rows).rowwise().norm();
  double demanded = 0, rounding = 0;
  for (std::size_t k = 0; k < set.size(); ++k) {
    if (!(length(index(k)) > 0)) continue;
    const double unit = 1 / length(index(k));
    demanded = std::hypot(demanded, excess(index(k)) * unit);
    rounding = std::hypot(rounding, equations.scaled_row(set[k], state, sizes)[2].scale * unit);
  }
  return !(mismatch * demanded <= contradiction_roundings * rounding);
}

// All multipliers of the rows of `set` that give the accelerations `now`.
DependentMultipliers multipliers_of(const Equations& equations, const State& state,
                                    const std::vector<std::size_t>& set, const MassMetric& metric,
                                    const Accelerations& now) {
  Eigen::MatrixXd rows(index(set.size()), index(equations.size()));
  Eigen::VectorXd lambda(index(set.size()));
  for (std::size_t k = 0; k < set.size(); ++k) {
    rows.row(index(k)) = equations.row(set[k], state).a;
    lambda(index(k)) = now.multipliers(index(set[k]));
  }
  bool slips = false;
  const Eigen::MatrixXd forces = force_rows(equations, state, set, rows, slips);
  return dependent_multipliers(equations, state, set, metric, rows, forces, lambda);
}

bool finite(const Dynamics& dynamics) { return dynamics.mass.allFinite() && dynamics.applied.allFinite(); }

}  // namespace

bool vanishes(const std::vector<Scaled>& scaled_row) {
  for (std::size_t k = 3; k < scaled_row.size(); ++k)
    if (!(std::abs(scaled_row[k].value) <= vanishing * scaled_row[k].scale)) return false;
  return true;
}

Accelerations constrained_acceleration(const Equations& equations, const State& state,
                                       const std::vector<std::size_t>& set,
                                       std::optional<std::size_t> pulling) {
  Accelerations made;
  made.dynamics = equations.dynamics(state);
  made.multipliers = Eigen::VectorXd::Zero(index(equations.count()));
  const MassMetric metric(made.dynamics.mass);
  if (!finite(made.dynamics) || !metric.valid()) {
    made.status = Status::not_finite;
    return made;
  }
  const Eigen::VectorXd free = metric.solve(made.dynamics.applied);
  const QuadraticProgram program = gauss_program(equations, state, made.dynamics, free, set);
  // Phi0 = A M^-1 Q + c is f'' in free motion [mayer-16]; the reactions cancel it.
  const Eigen::VectorXd excess = program.rows * free + program.offsets;
  if (!excess.allFinite()) {
    made.status = Status::not_finite;
    return made;
  }
  bool slips = false;
  const Eigen::MatrixXd forces = force_rows(equations, state, set, program.rows, slips);
  if (slips) {
    const SlipSolution solution = solve_slip(metric, program.rows, forces, excess);
    if (contradict(equations, state, set, metric, program, excess, solution.mismatch))
      made.status = Status::infeasible;
    Eigen::VectorXd lambda = solution.lambda;
    if (!solution.independent)
      lambda = nearest_in_cones(dependent_multipliers(equations, state, set, metric, program.rows, forces,
                                                      lambda, pulling))
                   .value_or(lambda);
    made.a = free - metric.solve(forces.transpose() * lambda);
    for (std::size_t k = 0; k < set.size(); ++k) made.multipliers(index(set[k])) = lambda(index(k));
    equations.apply_multipliers(made.multipliers, state, made.dynamics);
    return made;
  }
  const MassMetric::Change change = metric.smallest_change(program.rows, -excess);
  made.a = free + change.x;
  Eigen::VectorXd lambda = change.multipliers;
  if (!change.independent) {
    if (contradict(equations, state, set, metric, program, excess, change.mismatch))
      made.status = Status::infeasible;
    // Least-norm multipliers, not negative for inequalities where possible; else all rows as equations.
    QuadraticProgram all = program;
    for (std::size_t k = 0; k < set.size(); ++k)
      if (set[k] == pulling) all.equation[k] = 1;
    QpSolution solution = solve_qp(all);
    if (!solution.feasible || !((solution.x - made.a).norm() <= 1e-9 * (free.norm() + made.a.norm()))) {
      all.equation.assign(set.size(), 1);
      solution = enumerate_qp(all);
    }
    if (solution.feasible) lambda = solution.multipliers;
    if (bounds_multipliers(equations))
      lambda = nearest_in_cones(dependent_multipliers(equations, state, set, metric, program.rows,
                                                      program.rows, lambda, pulling))
                   .value_or(lambda);
  }
  for (std::size_t k = 0; k < set.size(); ++k) made.multipliers(index(set[k])) = lambda(index(k));
  equations.apply_multipliers(made.multipliers, state, made.dynamics);
  return made;
}

std::vector<std::size_t> frictions_sharing_loads(const Equations& equations, const State& state,
                                                 const std::vector<std::size_t>& set, std::size_t friction) {
  std::vector<std::size_t> made = {friction};
  const Accelerations now = constrained_acceleration(equations, state, set);
  const MassMetric metric(now.dynamics.mass);
  if (now.status != Status::ok || !metric.valid()) return made;
  const DependentMultipliers all = multipliers_of(equations, state, set, metric, now);
  const std::vector<Friction>& frictions = equations.system().frictions;
  std::vector<char> rows(set.size(), 0);
  const auto add_rows = [&](const Friction& of) {
    for (std::size_t k = 0; k < set.size(); ++k)
      if (set[k] == of.contact || std::find(of.rows.begin(), of.rows.end(), set[k]) != of.rows.end())
        rows[k] = 1;
  };
  const auto sticks_with_them = [&](const Friction& of) {
    const auto normal = std::find(set.begin(), set.end(), of.contact);
    const auto tangent = std::find(set.begin(), set.end(), of.rows[0]);
    return tangent != set.end() && normal != set.end() &&
           (rows[static_cast<std::size_t>(tangent - set.begin())] != 0 ||
            rows[static_cast<std::size_t>(normal - set.begin())] != 0);
  };
  // A cone joins the loads along a contact to those across it.
  for (std::size_t next = 0; next < made.size(); ++next) {
    add_rows(frictions[made[next]]);
    rows = sharing_with(all, std::move(rows));
    for (std::size_t f = 0; f < frictions.size(); ++f)
      if (std::find(made.begin(), made.end(), f) == made.end() && sticks_with_them(frictions[f]))
        made.push_back(f);
  }
  return made;
}

std::optional<double> excess_over_cones(const Equations& equations, const State& state,
                                        const std::vector<std::size_t>& set, const Friction& friction,
                                        double zero) {
  const Accelerations now = constrained_acceleration(equations, state, set);
  const MassMetric metric(now.dynamics.mass);
  if (now.status != Status::ok || !metric.valid()) return std::numeric_limits<double>::quiet_NaN();
  const auto is_sticking = [&](const Friction& other) {
    return std::find(set.begin(), set.end(), other.rows[0]) != set.end();
  };
  const auto is_nothing = [&](std::size_t row) { return std::abs(now.multipliers(index(row))) <= zero; };
  const std::vector<Friction>& frictions = equations.system().frictions;
  if (std::all_of(frictions.begin(), frictions.end(), [&](const Friction& other) {
        return !is_sticking(other) ||
               (is_nothing(other.contact) && std::all_of(other.rows.begin(), other.rows.end(), is_nothing));
      }))
    return 0;
  const DependentMultipliers all = multipliers_of(equations, state, set, metric, now);
  const auto shares = [&](std::size_t row) {
    const auto it = std::find(set.begin(), set.end(), row);
    return it != set.end() && is_shared(all, it - set.begin());
  };
  if (!shares(friction.contact) && std::none_of(friction.rows.begin(), friction.rows.end(), shares))
    return std::nullopt;
  return smallest_excess(all);
}

std::vector<Scaled> scaled_multipliers(const Equations& equations, const State& state, const Sizes& sizes,
                                       const std::vector<std::size_t>& set) {
  std::vector<Scaled> made(equations.count(), Scaled(0));
  const Accelerations now = constrained_acceleration(equations, state, set);
  const MassMetric metric(now.dynamics.mass);
  if (now.status != Status::ok || !metric.valid()) return made;
  const double free_size = std::sqrt(now.dynamics.applied.dot(metric.solve(now.dynamics.applied)));
  for (const std::size_t i : set) {
    const double length = metric.rows(Eigen::MatrixXd(equations.row(i, state).a)).norm();
    const double rest_scale = equations.scaled_row(i, state, sizes)[2].scale;
    made[i] = {now.multipliers(index(i)), 10 * (length * free_size + rest_scale) / (length * length)};
  }
  return made;
}

LeastConstraint least_constraint(const Equations& equations, const State& state, const Sizes& sizes,
                                 const std::vector<std::size_t>& in_force, double tolerance, bool trace) {
  LeastConstraint made;
  made.rows = in_force;
  made.dynamics = equations.dynamics(state);
  made.multipliers = Eigen::VectorXd::Zero(index(equations.count()));
  const MassMetric metric(made.dynamics.mass);
  if (!finite(made.dynamics) || !metric.valid()) {
    made.status = Status::not_finite;
    return made;
  }
  const Eigen::VectorXd free = metric.solve(made.dynamics.applied);
  made.program = gauss_program(equations, state, made.dynamics, free, in_force);

  // The zero of f'' is the rounding of its terms A a and c.
  const Eigen::MatrixXd b = metric.rows(made.program.rows);
  const double free_size = (made.dynamics.mass * free).dot(free);
  made.slack.setZero(index(in_force.size()));
  for (std::size_t k = 0; k < in_force.size(); ++k) {
    const std::vector<Scaled> scaled = equations.scaled_row(in_force[k], state, sizes);
    if (vanishes(scaled)) made.status = Status::singular;
    made.slack(index(k)) = tolerance * (b.row(index(k)).norm() * std::sqrt(free_size) + scaled[2].scale);
  }
  if (made.status != Status::ok) return made;

  const QpSolution solution = trace ? enumerate_qp(made.program, &made.tried) : solve_qp(made.program);
  if (!solution.feasible) {
    made.status = Status::infeasible;
    return made;
  }
  made.a = solution.x;
  made.second = solution.residuals;
  made.redundant = solution.redundant;
  made.kkt = kkt_residual(made.program, solution.x, solution.multipliers);
  made.multiplier_zero.setZero(index(in_force.size()));
  for (std::size_t k = 0; k < in_force.size(); ++k) {
    const double lambda = solution.multipliers(index(k));
    const double slack = made.slack(index(k));
    made.multipliers(index(in_force[k])) = lambda;
    made.multiplier_zero(index(k)) = slack / b.row(index(k)).squaredNorm();
    // lambda |B|^2 is the part of f'' that this reaction cancels, to be compared with the slack of f''.
    made.pressing.push_back(made.program.equation[k] || lambda * b.row(index(k)).squaredNorm() > slack);
    made.yielding.push_back(!made.program.equation[k] && made.second(index(k)) < -slack);
  }
  return made;
}

}  // namespace zwang
