// The contact-space problem of a system at a state, and its solution as accelerations.
#include "src/laws/friction_modes.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/base/index.h"
#include "src/expression/scaled.h"
#include "src/quadratic_program/friction_residual.h"
#include "src/quadratic_program/quadratic_program.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

bool contains(const std::vector<std::size_t>& list, std::size_t i) {
  return std::find(list.begin(), list.end(), i) != list.end();
}

// The direction of a slip that is not zero; empty: s = 0.
Eigen::VectorXd direction_of(const Equations& equations, const State& state, const Sizes& sizes,
                             const Friction& friction, const ModeQuestion& question) {
  const Eigen::Index count = index(friction.rows.size());
  Eigen::VectorXd slip(count);
  double zero = 0;
  for (std::size_t k = 0; k < friction.rows.size(); ++k) {
    const Scaled rate = equations.scaled_row(friction.rows[k], state, sizes)[1];
    slip(index(k)) = rate.value;
    zero = std::max(zero, question.rest_speed * rate.scale);
  }
  if (!contains(question.rests, friction.contact) && slip.norm() > zero) return slip / slip.norm();
  const bool continued = question.continued || contains(question.slides, friction.contact);
  if (continued && state.modes.size() > 0) {
    const Eigen::VectorXd before = state.modes.segment(index(friction.first_mode), count);
    if (!before.isZero(0)) return before;
  }
  return {};
}

struct ProblemRows {
  std::vector<std::size_t> conditions;
  std::vector<ModeElement> elements;
};

ProblemRows problem_rows(const Equations& equations, const State& state, const Sizes& sizes,
                         const ModeQuestion& question) {
  const System& system = equations.system();
  ProblemRows made;
  for (const std::size_t i : question.rows) {
    ModeElement element;
    element.condition = i;
    element.row = index(made.conditions.size());
    element.leaves = contains(question.leaves, i);
    made.conditions.push_back(i);
    const std::optional<std::size_t> friction = friction_of(system, i), bound = bound_of(system, i);
    if (friction && has_friction(equations, *friction, state)) {
      const Friction& law = system.frictions[*friction];
      const FrictionValues values = equations.friction(*friction, state);
      element.kind = ModeElement::Kind::friction;
      element.tangents = index(law.rows.size());
      element.cone = values.cone;
      element.cone_static = values.cone_static;
      element.direction = direction_of(equations, state, sizes, law, question);
      made.conditions.insert(made.conditions.end(), law.rows.begin(), law.rows.end());
    } else if (bound && !contains(question.hopping, i)) {
      element.kind = ModeElement::Kind::bound;
      element.limit = equations.bound(*bound).limit;
      element.one_sided = !system.constraints[i].equation;
    } else if (!system.constraints[i].equation) {
      element.kind = ModeElement::Kind::inequality;
    }
    made.elements.push_back(std::move(element));
  }
  return made;
}

JudgedForces judged(const ModeProblem& problem) {
  JudgedForces made{problem.mass, problem.free, problem.rows, problem.offsets, {}, {}, {}, {}};
  for (const ModeElement& element : problem.elements) {
    if (element.kind == ModeElement::Kind::equation) made.equations.push_back(element.row);
    if (element.kind == ModeElement::Kind::inequality) made.inequalities.push_back(element.row);
    if (element.kind == ModeElement::Kind::friction)
      made.contacts.push_back(
          {element.row, element.tangents, element.cone, element.cone_static, element.direction});
    if (element.kind == ModeElement::Kind::bound)
      made.bounds.push_back({element.row, element.limit, element.one_sided});
  }
  // Where no forces act, what is left is rounding of the terms of f''.
  made.slack = problem.slack;
  return made;
}

// Accelerations, multipliers and modes of the chosen solution.
void take_solution(const Equations& equations, FrictionConstraint& made) {
  const ModeCandidate& found = made.solution.chosen;
  const Eigen::Index count = index(made.rows.size());
  made.a = found.x;
  made.redundant = found.redundant;
  made.kkt = friction_residual(judged(made.problem), found.x, found.multipliers);
  made.second.setZero(count);
  made.slack.setZero(count);
  made.multiplier_zero.setZero(count);
  const Eigen::MatrixXd b = MassMetric(made.problem.mass).rows(made.problem.rows);
  for (std::size_t k = 0; k < made.rows.size(); ++k) {
    const ModeElement& element = made.problem.elements[k];
    const ElementMode& mode = found.modes[k];
    const bool equation = equations.system().constraints[made.rows[k]].equation;
    const double lambda = found.multipliers(element.row), slack = made.problem.slack(element.row);
    made.second(index(k)) = found.residuals(element.row);
    made.slack(index(k)) = slack;
    // A row that depends on others has their rounding too: its own may be nothing, as that of a wall at which a blade
    // rests without any force.
    double& zero = made.multiplier_zero(index(k));
    zero = slack / b.row(element.row).squaredNorm();
    if (found.redundant) zero = std::max(zero, found.noise(element.row));
    made.pressing.push_back(equation || lambda > zero);
    made.yielding.push_back(!equation && mode.kind == ModeKind::open);
    const bool yields = element.kind == ModeElement::Kind::bound && mode.kind == ModeKind::slip;
    made.multipliers(index(made.rows[k])) = yields ? 0 : lambda;
    if (element.kind == ModeElement::Kind::friction || element.kind == ModeElement::Kind::bound)
      made.modes.push_back({made.rows[k], mode});
    if (element.kind != ModeElement::Kind::friction || mode.kind != ModeKind::hold) continue;
    const Friction& law = equations.system().frictions[*friction_of(equations.system(), made.rows[k])];
    for (std::size_t t = 0; t < law.rows.size(); ++t)
      made.multipliers(index(law.rows[t])) = found.multipliers(element.row + 1 + index(t));
  }
}

}  // namespace

bool has_friction(const Equations& equations, std::size_t friction, const State& state) {
  return equations.friction(friction, state).cone_static > 0;
}

std::optional<std::size_t> friction_of(const System& system, std::size_t condition) {
  for (std::size_t f = 0; f < system.frictions.size(); ++f)
    if (system.frictions[f].contact == condition) return f;
  return {};
}

std::optional<std::size_t> bound_of(const System& system, std::size_t condition) {
  for (std::size_t b = 0; b < system.bounds.size(); ++b)
    if (system.bounds[b].condition == condition) return b;
  return {};
}

ModeProblem mode_problem(const Equations& equations, const State& state, const Sizes& sizes,
                         const Dynamics& dynamics, const ModeQuestion& question) {
  ModeProblem problem;
  const ProblemRows rows = problem_rows(equations, state, sizes, question);
  const MassMetric metric(dynamics.mass);
  problem.mass = dynamics.mass;
  problem.free = metric.solve(dynamics.applied);
  problem.elements = rows.elements;
  const Eigen::Index count = index(rows.conditions.size());
  problem.rows.setZero(count, index(equations.size()));
  problem.offsets.setZero(count);
  problem.slack.setZero(count);
  std::vector<double> rests, lengths;
  for (Eigen::Index k = 0; k < count; ++k) {
    const std::size_t i = rows.conditions[static_cast<std::size_t>(k)];
    const std::vector<Scaled> scaled = equations.scaled_row(i, state, sizes);
    const Constraint& constraint = equations.system().constraints[i];
    for (std::size_t c = 0; c < constraint.columns.size(); ++c)
      problem.rows(k, index(constraint.columns[c])) = scaled[3 + c].value;
    problem.offsets(k) = scaled[2].value;
    rests.push_back(scaled[2].scale);
    lengths.push_back(metric.rows(Eigen::MatrixXd(problem.rows.row(k))).norm());
  }
  // The zero of f'' is the rounding of its terms A a and c. Bounded conditions that yield accelerate too.
  double free_size = std::sqrt(problem.free.dot(dynamics.mass * problem.free));
  for (const ModeElement& element : problem.elements)
    if (element.kind == ModeElement::Kind::bound && element.direction.size() > 0)
      free_size += element.limit * lengths[static_cast<std::size_t>(element.row)];
  for (std::size_t k = 0; k < lengths.size(); ++k)
    problem.slack(index(k)) = question.tolerance * (lengths[k] * free_size + rests[k]);
  return problem;
}

FrictionConstraint friction_constraint(const Equations& equations, const State& state, const Sizes& sizes,
                                       const ModeQuestion& question) {
  FrictionConstraint made;
  made.rows = question.rows;
  made.dynamics = equations.dynamics(state);
  made.multipliers = Eigen::VectorXd::Zero(index(equations.count()));
  if (!made.dynamics.mass.allFinite() || !made.dynamics.applied.allFinite() ||
      !MassMetric(made.dynamics.mass).valid()) {
    made.status = Status::not_finite;
    return made;
  }
  for (const std::size_t i : question.rows)
    if (vanishes(equations.scaled_row(i, state, sizes))) {
      made.status = Status::singular;
      return made;
    }
  made.problem = mode_problem(equations, state, sizes, made.dynamics, question);
  // The rows of the question, as least_constraint() has them.
  const Eigen::Index count = index(question.rows.size());
  made.program = {made.problem.mass,
                  made.problem.free,
                  Eigen::MatrixXd(count, made.problem.rows.cols()),
                  Eigen::VectorXd(count),
                  {}};
  for (std::size_t k = 0; k < question.rows.size(); ++k) {
    const Eigen::Index row = made.problem.elements[k].row;
    made.program.rows.row(index(k)) = made.problem.rows.row(row);
    made.program.offsets(index(k)) = made.problem.offsets(row);
    made.program.equation.push_back(equations.system().constraints[question.rows[k]].equation);
  }
  made.solution = solve_modes(made.problem, question.margin, false);
  made.status = made.solution.status;
  if (made.status == Status::ok) take_solution(equations, made);
  return made;
}

std::vector<SlipStiffness> slip_stiffness(const Equations& equations, const State& state,
                                          const std::vector<std::size_t>& set) {
  ModeQuestion question;
  question.continued = true;
  for (const std::size_t i : set)
    if (!equations.system().constraints[i].slip_of) question.rows.push_back(i);
  const ModeProblem problem =
      mode_problem(equations, state, sizes_of(state), equations.dynamics(state), question);
  const ModeSolver solver(problem);
  if (!solver.usable()) return {};
  std::vector<ElementMode> modes;
  for (const ModeElement& element : problem.elements) {
    ElementMode mode;
    if (element.kind == ModeElement::Kind::friction) {
      const Friction& law = equations.system().frictions[*friction_of(equations.system(), element.condition)];
      if (!contains(set, law.rows[0])) {
        const FrictionValues values =
            equations.friction(*friction_of(equations.system(), element.condition), state);
        mode = {ModeKind::slip, values.cone > 0 ? Eigen::VectorXd(values.drag / values.cone)
                                                : Eigen::VectorXd::Zero(element.tangents)};
      }
    }
    modes.push_back(std::move(mode));
  }
  return solver.stiffness(modes);
}

std::string describe_no_mode(const System& system, const ModeSolution& solution) {
  std::string text;
  const SlipStiffness* worst = nullptr;
  for (const SlipStiffness& one : solution.stiffness)
    if (!worst || one.kappa * worst->normal < worst->kappa * one.normal) worst = &one;
  if (solution.status == Status::painleve && worst)
    text = "contact '" + system.constraints[worst->condition].name +
           "' slips with kappa = " + number_text(worst->kappa) + " (" + number_text(worst->normal) +
           " without friction), Phi0 = " + number_text(worst->free) + ": ";
  if (solution.admissible.empty())
    text += "no admissible mode of the contacts";
  else
    text += std::to_string(solution.admissible.size()) + " admissible mode" +
            (solution.admissible.size() == 1 ? "" : "s") + " of the contacts";
  return text;
}

}  // namespace zwang
