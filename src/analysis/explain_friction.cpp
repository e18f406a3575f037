// Modes of contacts and bounded rows in words and numbers.
#include "src/analysis/explain_friction.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/status.h"
#include "src/base/index.h"
#include "src/laws/mode_problem.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Contacts within this share of their cone are at it.
constexpr double near_cone = 1e-9;
constexpr double equal_lengths = 1e-6;

const ElementMode* mode_of(const FrictionConstraint& found, std::size_t condition) {
  for (const FoundMode& one : found.modes)
    if (one.condition == condition) return &one.mode;
  return nullptr;
}

std::string mode_text(const ModeElement& element, const ElementMode& mode) {
  const bool friction = element.kind == ModeElement::Kind::friction;
  if (mode.kind == ModeKind::open) return "opens";
  if (mode.kind == ModeKind::hold)
    return friction ? "sticks" : element.kind == ModeElement::Kind::bound ? "holds" : "presses";
  const std::string sign =
      mode.direction.size() == 1 ? (mode.direction(0) > 0 ? " forwards" : " backwards") : "";
  return (friction ? "slips" : "yields") + sign;
}

ExplainedContact explain_contact(const Equations& equations, const State& state, std::size_t f,
                                 const FrictionConstraint& found) {
  const Friction& friction = equations.system().frictions[f];
  const Constraint& constraint = equations.system().constraints[friction.contact];
  const Eigen::Index count = index(friction.rows.size());
  ExplainedContact made;
  made.name = constraint.name;
  made.mode = "open";
  made.tangential = made.slip = made.slip_rate = Eigen::VectorXd::Zero(count);
  const FrictionValues values = equations.friction(f, state);
  made.normal_length = equations.row(friction.contact, state).a.norm();
  for (std::size_t k = 0; k < friction.rows.size(); ++k) {
    const Row row = equations.row(friction.rows[k], state);
    made.slip(index(k)) = row.rate;
    if (found.a.size() > 0) made.slip_rate(index(k)) = row.a.dot(found.a) + row.rest;
    made.slip_length = std::max(made.slip_length, row.a.norm());
  }
  made.lengths_differ = !constraint.friction->derived &&
                        std::abs(made.slip_length - made.normal_length) > equal_lengths * made.normal_length;
  const FrictionFormula& law = *constraint.friction;
  made.impacts_ignore_static =
      law.coefficient_static != law.coefficient && law.restitution != equations.system().pool->zero();
  const ElementMode* mode = mode_of(found, friction.contact);
  if (!mode || mode->kind == ModeKind::open) return made;
  made.normal = found.multipliers(index(friction.contact));
  if (mode->kind == ModeKind::slip) {
    made.mode = "slips";
    made.tangential = values.cone * made.normal * mode->direction;
    for (const SlipStiffness& one : found.solution.stiffness)
      if (one.condition == friction.contact) {
        made.kappa = one.kappa;
        made.kappa_smooth = one.normal;
      }
    return made;
  }
  for (std::size_t k = 0; k < friction.rows.size(); ++k)
    made.tangential(index(k)) = found.multipliers(index(friction.rows[k]));
  const double most = values.cone_static * made.normal;
  made.margin = most - made.tangential.norm();
  made.mode = made.margin <= near_cone * most ? "at the cone" : "sticks";
  return made;
}

ExplainedBound explain_bound(const Equations& equations, const State& state, std::size_t b,
                             const FrictionConstraint& found, const std::vector<double>& closed) {
  const Bound& bound = equations.system().bounds[b];
  const Constraint& constraint = equations.system().constraints[bound.condition];
  ExplainedBound made{constraint.name, "open", 0, equations.bound(b).limit,
                      equations.rate(bound.condition, state)};
  const double sign = bound.sign && state.modes.size() > 0 ? state.modes(index(*bound.sign)) : 0;
  const ElementMode* mode = mode_of(found, bound.condition);
  const bool yields = mode ? mode->kind == ModeKind::slip : sign != 0;
  if (yields) {
    made.mode = bound.breaks ? "broken" : "yields";
    made.multiplier = bound.breaks ? 0 : made.limit * (mode ? mode->direction(0) : sign);
  } else if (found.multipliers.size() > 0 &&
             (mode ? mode->kind == ModeKind::hold : closed[bound.condition] > 0)) {
    made.mode = "holds";
    made.multiplier = found.multipliers(index(bound.condition));
  } else if (constraint.equation) {
    made.mode = bound.breaks ? "broken" : "not in force";
  }
  return made;
}

// A link of several rows: the norm of its force or torque, and the speed at which its ends move against each other.
ExplainedBound explain_link(const Equations& equations, const State& state, std::size_t l,
                            const FrictionConstraint& found, const std::vector<double>& closed) {
  const LinkLimitFormula& link = equations.system().link_limits[l];
  ExplainedBound made{link.name, closed[link.first] > 0 ? "holds" : "broken", 0, equations.link_limit(l), 0};
  double squares = 0;
  for (std::size_t i = link.first_loaded; i < link.first_loaded + link.loaded; ++i) {
    const double rate = equations.rate(i, state);
    squares += rate * rate;
  }
  made.rate = std::sqrt(squares);
  if (closed[link.first] > 0 && found.multipliers.size() > 0)
    made.multiplier = found.multipliers.segment(index(link.first_loaded), index(link.loaded)).norm();
  return made;
}

}  // namespace

ExplainedFriction explain_friction(const Equations& equations, const State& state,
                                   const FrictionConstraint& found, const std::vector<double>& closed) {
  ExplainedFriction made;
  const System& system = equations.system();
  for (std::size_t f = 0; f < system.frictions.size(); ++f)
    made.contacts.push_back(explain_contact(equations, state, f, found));
  for (std::size_t b = 0; b < system.bounds.size(); ++b)
    made.bounds.push_back(explain_bound(equations, state, b, found, closed));
  for (std::size_t l = 0; l < system.link_limits.size(); ++l)
    made.bounds.push_back(explain_link(equations, state, l, found, closed));
  for (const ModeCandidate& candidate : found.solution.admissible) {
    ExplainedMode mode;
    for (std::size_t i = 0; i < candidate.modes.size(); ++i) {
      const ModeElement& element = found.problem.elements[i];
      if (element.kind == ModeElement::Kind::equation) continue;
      mode.modes.push_back(system.constraints[element.condition].name + " " +
                           mode_text(element, candidate.modes[i]));
    }
    mode.acceleration = candidate.x;
    made.admissible.push_back(std::move(mode));
  }
  made.unique_forces = !found.redundant;
  made.certified = found.solution.certified;
  if (found.solution.status != Status::ok) made.verdict = describe_no_mode(system, found.solution);
  return made;
}

}  // namespace zwang
