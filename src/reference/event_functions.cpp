// Event functions of a step and their values.
#include "src/reference/event_functions.h"

#include <algorithm>
#include <cmath>

#include "src/expression/evaluate.h"
#include "src/expression/scaled.h"
#include "src/laws/friction_modes.h"
#include "src/laws/least_constraint.h"
#include "src/laws/mode_problem.h"
#include "src/reference/row_dependence.h"
#include "src/system/system.h"

namespace zwang {

namespace {

void add_condition(const MemberState& member, std::size_t i, const State& start,
                   std::vector<EventFunction>& list) {
  const ConditionState& condition = member.conditions[i];
  if (condition.standing == Standing::open && !member.system().constraints[i].equation) {
    const double zero = member.zero_of(i, start).value;
    // Armed: reached at zero, or where it comes back to a start that rounding has put above zero. Not armed yet: noise
    // around zero is no contact, but a crossing of the raised level still is.
    const double above = std::max(member.equations.value(i, start), 0.0);
    EventFunction event_function{EventFunction::Kind::reached, i, 1, above, zero};
    if (!condition.armed) {
      event_function.level = condition.above + zero;
      event_function.since = condition.since;
      event_function.noise = condition.noise;
    }
    list.push_back(event_function);
  }
  if (condition.standing == Standing::closed) {
    const double zero = condition.multiplier_zero;
    list.push_back({EventFunction::Kind::release, i, -1, condition.idle ? zero : 0, zero});
    if (condition.idle) list.push_back({EventFunction::Kind::press, i, 1, zero, zero});
  }
}

// The sign with which a function rises through zero at its crossing within the step; 0 if it stays at zero. A
// function that starts within `zero` of zero has the sign of its first sample clearly off zero.
double crossing_sign(const MemberState& member, const SmoothMotion& smooth, const Program& program,
                     const SmoothStep& step, double zero) {
  for (double theta = zero > 0 ? 0x1p-28 : 0; theta <= 1; theta = std::max(4 * theta, 0x1p-28)) {
    const double value = member.kink_value(program, smooth.state_at(step, theta));
    if (std::abs(value) > zero) return value < 0 ? 1 : -1;
  }
  return 0;
}

// Changes of mode, and the loss of a slipping contact's normal force [friction-5]. A function may start above zero by
// the rounding with which the mode was admitted: it crosses where it is clearly beyond that.
void add_transitions(const MemberState& member, const MotionFormulas& formulas, const State& start,
                     std::vector<EventFunction>& list) {
  const System& system = member.system();
  for (std::size_t k = 0; k < system.transitions.size(); ++k) {
    if (!member.may_change(system.transitions[k])) continue;
    double zero =
        member.settings.contact_tolerance * member.scaled_kink(formulas.transitions[k], start).scale;
    if (!member.unique_forces && system.transitions[k].kind == TransitionKind::slide)
      zero = std::max(zero, member.zero_of_excess(start));
    const double value = member.transition_value(k, formulas.transitions[k], start);
    const double level = value >= -zero ? std::max(value, 0.0) + zero : 0;
    list.push_back({EventFunction::Kind::transition, k, 1, level, zero});
  }
  for (std::size_t f = 0; f < system.frictions.size(); ++f)
    if (member.slips(f)) list.push_back({EventFunction::Kind::painleve, f, 1, 0, 1e-12});
}

// The margin by which the matrix of a contact's normal force exceeds the least allowed, in units of its value without
// friction, with the other sign.
double painleve_value(const MemberState& member, std::size_t friction, const State& state) {
  const std::size_t contact = member.system().frictions[friction].contact;
  for (const SlipStiffness& one : slip_stiffness(member.equations, state, member.active))
    if (one.condition == contact) return member.settings.painleve_margin - one.kappa / one.normal;
  return -1;
}

// Whether multipliers that are not unique are admissible: no inequality pulls.
bool none_pulls(const MemberState& member, const Eigen::VectorXd& multipliers) {
  for (std::size_t i = 0; i < member.conditions.size(); ++i) {
    const ConditionState& condition = member.conditions[i];
    if (condition.standing == Standing::closed &&
        multipliers(static_cast<Eigen::Index>(i)) < -condition.multiplier_zero)
      return false;
  }
  return true;
}

// Where the multiplier of a condition falls to zero, or leaves it. One that is not unique stays at zero while it would
// be negative: there it is that of a condition that may pull, so that the curve crosses zero. An idle condition has no
// force to lose: it `ends` where its multiplier is negative and the others do not hold it.
double pressing_force(const MemberState& member, std::size_t i, bool ends, const State& state,
                      const Eigen::VectorXd* multipliers) {
  const auto of = [&](std::optional<std::size_t> pulling) {
    return constrained_acceleration(member.equations, state, member.active, pulling).multipliers;
  };
  const auto place = static_cast<Eigen::Index>(i);
  const ConditionState& condition = member.conditions[i];
  const Eigen::VectorXd all = multipliers ? *multipliers : of(std::nullopt);
  if (member.unique_forces || (all(place) > condition.multiplier_zero && none_pulls(member, all)))
    return all(place);
  if (ends && condition.idle) {
    std::vector<char> bear;
    for (const ConditionState& other : member.conditions) bear.push_back(!other.idle);
    if (is_held_by_others(member, i, state, bear)) return condition.multiplier_zero;
  }
  return of(i)(place);
}

}  // namespace

std::vector<EventFunction> event_functions(const MemberState& member, const MotionFormulas& formulas,
                                           const SmoothMotion& smooth, const SmoothStep& step) {
  std::vector<EventFunction> list;
  const State start = member.state_of(step.t, step.start);
  for (std::size_t i = 0; i < member.conditions.size(); ++i) add_condition(member, i, start, list);

  // A function that rests at zero (the height of a body on the ground) crosses when it is clearly beyond
  // zero.
  const auto add_signal = [&](EventFunction::Kind kind, std::size_t k, const Scaled& value, auto sign) {
    const double zero = member.settings.contact_tolerance * value.scale;
    const double level = std::abs(value.value) <= zero ? zero : 0;
    list.push_back({kind, k, sign(level), level, zero});
  };
  const auto scaled = [&](const Program& program) { return member.scaled_watch(program, start, step.h); };
  for (std::size_t k = 0; k < formulas.watches.size(); ++k) {
    if (member.watch_signs[k] == 0) continue;
    add_signal(EventFunction::Kind::watch, k, scaled(formulas.watches[k]),
               [&](double) { return member.watch_signs[k] < 0 ? 1.0 : -1.0; });
  }
  if (formulas.stop.outputs() > 0)
    add_signal(EventFunction::Kind::stop, 0, scaled(formulas.stop), [](double) { return 1.0; });
  // Integrands with kinks: the step ends at a kink, so that the integral is as accurate as the motion.
  for (std::size_t k = 0; k < formulas.kinks.size(); ++k)
    add_signal(EventFunction::Kind::kink, k, member.scaled_kink(formulas.kinks[k], start),
               [&](double level) { return crossing_sign(member, smooth, formulas.kinks[k], step, level); });
  add_transitions(member, formulas, start, list);
  return list;
}

double event_value(const MemberState& member, const MotionFormulas& formulas,
                   const EventFunction& event_function, const State& state,
                   const Eigen::VectorXd* multipliers) {
  const Equations& equations = member.equations;
  double raw = 0;
  switch (event_function.kind) {
    case EventFunction::Kind::reached:
      raw = equations.value(event_function.index, state);
      break;
    case EventFunction::Kind::release:
    case EventFunction::Kind::press:
      raw = pressing_force(member, event_function.index, event_function.kind == EventFunction::Kind::release,
                           state, multipliers);
      break;
    case EventFunction::Kind::watch:
      raw = member.kink_value(formulas.watches[event_function.index], state, multipliers);
      break;
    case EventFunction::Kind::stop:
      raw = member.kink_value(formulas.stop, state, multipliers);
      break;
    case EventFunction::Kind::kink:
      raw = member.kink_value(formulas.kinks[event_function.index], state, multipliers);
      break;
    case EventFunction::Kind::transition:
      raw = member.transition_value(event_function.index, formulas.transitions[event_function.index], state,
                                    multipliers);
      break;
    case EventFunction::Kind::painleve:
      raw = painleve_value(member, event_function.index, state);
      break;
  }
  const double elapsed = state.t - event_function.since;
  return event_function.sign * raw - event_function.level - 0.5 * event_function.noise * elapsed * elapsed;
}

}  // namespace zwang
