// Explanation of the accelerations at a state, from the least constraint with a trace.
#include "src/analysis/explain.h"

#include <cmath>

#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/base/index.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/readable.h"
#include "src/expression/scaled.h"
#include "src/laws/friction_modes.h"
#include "src/quadratic_program/enumerate.h"
#include "src/system/divergence.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string row_text(const System& system, const Constraint& constraint) {
  std::string text;
  for (std::size_t k = 0; k < constraint.columns.size(); ++k)
    text += (k ? ", " : "") + system.coordinates[constraint.columns[k]] + ": " +
            readable_text(*system.pool, constraint.row[k], system.namer());
  return "{" + text + "}";
}

bool in_force(const Equations& equations, const Constraint& constraint, double t) {
  const auto value = [&](Expr e) {
    return equations.evaluate(Program(*equations.system().pool, {e}), State{});
  };
  return !(constraint.from && value(*constraint.from) > t) &&
         !(constraint.until && value(*constraint.until) <= t);
}

// A bounded row that yields, or one that has broken.
bool moves_freely(const System& system, std::size_t i, const Sample& sample) {
  if (system.constraints[i].breaks_with_link) return !(sample.closed[i] > 0);
  const std::optional<std::size_t> b = bound_of(system, i);
  if (!b || !system.constraints[i].equation || sample.closed[i] > 0) return false;
  const std::optional<std::size_t>& sign = system.bounds[*b].sign;
  return !sign || (sample.state.modes.size() > 0 && sample.state.modes(index(*sign)) != 0);
}

// Closed: f = 0 and f' = 0 (g = 0), or marked as closed by the motion.
bool is_closed(const Equations& equations, std::size_t i, const Sample& sample, const Sizes& sizes,
               double tolerance) {
  if (sample.closed[i] > 0) return true;
  const std::vector<Scaled> scaled = equations.scaled_row(i, sample.state, sizes);
  return std::abs(scaled[0].value) <= tolerance * scaled[0].scale &&
         std::abs(scaled[1].value) <= tolerance * scaled[1].scale;
}

ExplainedSet explain_set(const Explanation& made, const TriedSet& tried) {
  ExplainedSet set;
  for (const int row : tried.pressing) set.pressing.push_back(made.rows[static_cast<std::size_t>(row)]);
  set.accepted = tried.accepted;
  const std::string name = tried.row >= 0 ? made.rows[static_cast<std::size_t>(tried.row)] : "";
  switch (tried.reason) {
    case TriedSet::Reason::accepted:
      break;
    case TriedSet::Reason::broken:
      set.rejected = name + " would be broken: f'' = " + rounded(tried.value);
      break;
    case TriedSet::Reason::pulls:
      set.rejected = name + " would have to pull: multiplier = " + rounded(tried.value);
      break;
    case TriedSet::Reason::contradictory:
      set.rejected = "these conditions contradict each other";
      break;
  }
  return set;
}

void describe_formulas(const Equations& equations, Explanation& made) {
  const System& system = equations.system();
  const auto text = [&](Expr e) { return readable_text(*system.pool, e, system.namer()); };
  for (const MassEntry& entry : system.mass)
    made.mass_text.push_back("M[" + system.coordinates[entry.row] + ", " + system.coordinates[entry.column] +
                             "] = " + text(entry.value));
  for (std::size_t i = 0; i < system.size(); ++i)
    made.force_text.push_back("Q[" + system.coordinates[i] + "] = " + text(system.applied[i]));
  for (const Constraint& constraint : system.constraints) {
    ExplainedCondition condition;
    condition.name = constraint.name;
    condition.kind = std::string(constraint.holonomic ? "holonomic " : "velocity ") +
                     (constraint.equation ? "equation" : "inequality");
    condition.f = text(constraint.value);
    condition.f_rate = text(constraint.rate);
    condition.row = row_text(system, constraint);
    condition.rest = text(constraint.rest);
    made.conditions.push_back(std::move(condition));
  }
}

// Fills in the quadratic program and its solution: rows, Phi, Phi0, accelerations, sets tried.
void describe_solution(const LeastConstraint& gauss, Explanation& made) {
  const MassMetric metric(gauss.dynamics.mass);
  const Eigen::MatrixXd& a = gauss.program.rows;
  made.mass = gauss.dynamics.mass;
  made.free_acceleration = gauss.program.free;
  const Eigen::MatrixXd b = metric.rows(a);
  made.phi = b * b.transpose();                                // [mayer-15]
  made.phi0 = a * gauss.program.free + gauss.program.offsets;  // [mayer-16]
  for (const TriedSet& tried : gauss.tried) made.tried.push_back(explain_set(made, tried));
  if (gauss.status != Status::ok) return;
  made.acceleration = gauss.a;
  made.second = gauss.second;
  made.kkt = gauss.kkt;
  const Eigen::VectorXd off = gauss.a - gauss.program.free;
  made.constraint = 0.5 * off.dot(gauss.dynamics.mass * off);  // [mayer-6]
  made.multipliers.setZero(index(gauss.rows.size()));
  for (std::size_t k = 0; k < gauss.rows.size(); ++k)
    made.multipliers(index(k)) = gauss.multipliers(index(gauss.rows[k]));
}

// The rank of rows in the mass metric.
Eigen::Index rank(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& mass) {
  if (rows.rows() == 0) return 0;
  Eigen::MatrixXd unit = MassMetric(mass).rows(rows);
  for (Eigen::Index i = 0; i < unit.rows(); ++i)
    if (unit.row(i).norm() > 0) unit.row(i).normalize();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  qr.setThreshold(1e-10);
  return qr.compute(unit.transpose()).rank();
}

}  // namespace

Explanation explain(const Equations& equations, const Sample& sample, double tolerance) {
  const System& system = equations.system();
  Explanation made;
  made.state = sample.state;
  made.coordinates = system.coordinates;
  describe_formulas(equations, made);

  // The conditions that restrict accelerations now (mechanics section 2).
  Sizes sizes = sizes_of(sample.state);
  raise_to_noise(sizes, equations.mass(sample.state));
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    const Row row = equations.row(i, sample.state);
    ExplainedCondition& condition = made.conditions[i];
    condition.value = row.value;
    condition.rate = row.rate;
    condition.state = in_force(equations, system.constraints[i], sample.state.t) ? "open" : "not in force";
    if (condition.state != "open") continue;
    if (system.constraints[i].slip_of || moves_freely(system, i, sample)) {
      condition.state = sample.closed[i] > 0 ? "equation" : "not in force";
      continue;
    }
    if (!system.constraints[i].equation && !is_closed(equations, i, sample, sizes, tolerance)) continue;
    rows.push_back(i);
    made.rows.push_back(condition.name);
  }

  LeastConstraint gauss;
  if (!system.bounds_forces()) {
    gauss = least_constraint(equations, sample.state, sizes, rows, 10 * tolerance, true);
  } else {
    ModeQuestion question;
    question.rows = rows;
    question.continued = true;
    question.tolerance = 10 * tolerance;
    question.rest_speed = tolerance;
    const FrictionConstraint found = friction_constraint(equations, sample.state, sizes, question);
    made.friction = explain_friction(equations, sample.state, found, sample.closed);
    gauss = found;
  }
  made.status = gauss.status;
  if (gauss.status != Status::not_finite) describe_solution(gauss, made);
  std::vector<std::size_t> holding;
  Eigen::MatrixXd held(0, index(system.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    ExplainedCondition& condition = made.conditions[rows[k]];
    const bool equation = system.constraints[rows[k]].equation;
    const bool pressing = gauss.status == Status::ok && gauss.pressing[k];
    condition.state = equation ? "equation" : pressing ? "pressing" : "yielding";
    if (gauss.status == Status::ok) condition.multiplier = gauss.multipliers(index(rows[k]));
    if (!equation && !pressing) continue;
    holding.push_back(rows[k]);
    held.conservativeResize(held.rows() + 1, Eigen::NoChange);
    held.row(held.rows() - 1) = gauss.program.rows.row(index(k));
  }
  made.degrees_of_freedom = static_cast<int>(index(system.size()) - rank(held, made.mass));
  made.position = gauss.status == Status::singular ? "singular" : "regular";
  if (gauss.status != Status::singular && gauss.program.rows.rows() > 0 &&
      rank(gauss.program.rows, made.mass) < gauss.program.rows.rows())
    made.position = "redundant";
  made.singular = singular_position(equations, sample.state, sizes, gauss);
  if (gauss.status == Status::ok)
    made.divergence = FlowDivergence(equations).at(sample.state, holding, gauss.a, gauss.multipliers);
  return made;
}

}  // namespace zwang
