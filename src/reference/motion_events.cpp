// Dispatch of events: located ones (contacts, releases, watched functions, stop) and scheduled ones
// (impulses, conditions imposed and lifted).
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/expression/evaluate.h"
#include "src/expression/scaled.h"
#include "src/laws/friction_modes.h"
#include "src/reference/event_functions.h"
#include "src/reference/first_event.h"
#include "src/reference/member_state.h"
#include "src/reference/motion.h"
#include "src/reference/schedule.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// An imposed equation must already hold, to the accuracy of the integrator.
constexpr double imposition_slack = 1e3;

}  // namespace

void Motion::dispatch_event(const LocatedEvent& located) {
  const std::size_t i = located.event_function.index;
  const ModesInForce before = modes_in_force();
  switch (located.event_function.kind) {
    case EventFunction::Kind::reached:
      reach(i);
      break;
    case EventFunction::Kind::release:
      release(i);
      break;
    case EventFunction::Kind::press:
      interrupt_accumulation();
      recorder_.record_event({.t = member_.t, .kind = EventKind::press, .constraints = {i}});
      member_.conditions[i].idle = false;
      break;
    case EventFunction::Kind::watch:
      // What the function does at zero depends on the motion after the slip or yield that ends at this instant.
      if (const std::optional<std::size_t> ending = ending_motion())
        dispatch_transition(*ending);
      else
        cross_watches(located);
      return;
    case EventFunction::Kind::stop:
      recorder_.record_event({.t = member_.t, .kind = EventKind::stop});
      fail(Status::stopped, "the stop condition was met");
      break;
    case EventFunction::Kind::transition:
      dispatch_transition(i);
      return;
    case EventFunction::Kind::painleve:
      fail_painleve(i);
      return;
    case EventFunction::Kind::kink:
      return;  // the motion is unchanged; the next step starts on the other side
  }
  resume_accumulation();
  if (going()) record_mode_changes(before);
  if (going()) update_watch_signs();
}

void Motion::dispatch_transition(std::size_t k) {
  const std::size_t events = recorder_.trajectory().events.size();
  change_mode(equations_.system().transitions[k]);
  if (recorder_.trajectory().events.size() == events) recorder_.count_at_instant(member_.t);
  resume_accumulation();
  if (going()) update_watch_signs();
}

// Condition i is reached. All others that are reached at this instant belong to the same shock.
void Motion::reach(std::size_t i) {
  const State now = member_.state();
  const bool approaches = equations_.rate(i, now) > member_.zero_of(i, now).rate;
  std::vector<std::size_t> reached;
  for (std::size_t j = 0; j < member_.conditions.size(); ++j) {
    if (member_.conditions[j].standing != Standing::open) continue;
    const Zero zero = member_.zero_of(j, now);
    const bool together = std::abs(equations_.value(j, now)) <= zero.value && member_.conditions[j].armed &&
                          equations_.rate(j, now) > zero.rate;
    if (j == i || (together && equations_.system().constraints[j].holonomic)) reached.push_back(j);
  }
  const bool holonomic = equations_.system().constraints[i].holonomic;
  interrupt_accumulation();
  recorder_.record_event(
      {.t = member_.t, .kind = holonomic ? EventKind::contact : EventKind::touch, .constraints = reached});
  apply_shock(now.v, reached, EventKind::shock, {});
  // Reached by rounding, since it does not approach. It leaves from the value it has: armed, that value would
  // count as reached again at the same instant, without end.
  if (going() && holonomic && !approaches && member_.conditions[i].standing == Standing::open)
    member_.conditions[i].armed = false;
}

// The multiplier of condition i has fallen to zero. Others may lose their force at the same instant; they are
// released with it.
void Motion::release(std::size_t i) {
  const std::vector<ConditionState> before = member_.conditions;
  interrupt_accumulation();
  if (!update_active_set(touching_now(), i, {.slides = growing_slips()})) return;
  Event event{.t = member_.t, .kind = EventKind::release};
  for (std::size_t j = 0; j < member_.conditions.size(); ++j)
    if (j == i ||
        (before[j].standing == Standing::closed && member_.conditions[j].standing == Standing::open))
      event.constraints.push_back(j);
  recorder_.record_event_now(std::move(event));
}

void Motion::cross_watches(const LocatedEvent& located) {
  std::vector<std::size_t> crossing = located.also;
  crossing.insert(crossing.begin(), located.event_function.index);
  for (const std::size_t k : crossing) {
    const int direction = equations_.system().watches[k].direction;
    member_.watch_signs[k] = -member_.watch_signs[k];
    if (going() && (direction == 0 || direction == member_.watch_signs[k]))
      recorder_.record_event({.t = member_.t, .kind = EventKind::event, .watch = k});
  }
}

// The next scheduled event, the limit of an accumulation, or the end.
double Motion::next_scheduled_time() const {
  double next = std::min(plan_.end, schedule_.next_time());
  if (const std::optional<Event>& pending = recorder_.pending_accumulation())
    next = std::min(next, pending->t);
  for (const double end : member_.hops_end)
    if (end > 0) next = std::min(next, end);
  return next;
}

// Impulses and conditions imposed or lifted now are together one shock (mechanics section 5). At the start it
// includes every contact that is already approaching.
void Motion::apply_scheduled_events() {
  const std::optional<Event>& pending = recorder_.pending_accumulation();
  const bool overloaded = ends_hops_overloaded();
  if (pending && pending->t <= member_.t + member_.rounding_of_time())
    recorder_.flush_accumulation(false, overloaded);
  const bool starting =
      recorder_.trajectory().steps == 0 && schedule_.at_beginning() && member_.active.empty();
  const ModesInForce before = modes_in_force();
  const DueEvents due = take_due_events();
  if (!going()) return;
  const bool shock = due.impulse || !due.imposed.empty();
  const bool others = overloaded || !due.lifted.empty();
  if (shock || others) interrupt_accumulation();
  for (const std::size_t i : due.lifted)
    recorder_.record_event({.t = member_.t, .kind = EventKind::lifted, .constraints = {i}});
  if (shock)
    apply_shock(due.alpha, due.imposed, due.impulse ? EventKind::impulse : EventKind::imposed, due.imposed);
  else if (starting)
    apply_start_shock(due.alpha);
  else if (others)
    update_active_set(touching_now(), no_condition);
  resume_accumulation();
  if (going() && !starting) record_mode_changes(before);
  // The modes of the start are no changes, but what is overloaded there breaks there.
  if (going() && starting && !broken_now_.empty()) {
    lose_density();
    recorder_.record_event(
        {.t = member_.t, .kind = EventKind::breaks, .constraints = std::exchange(broken_now_, {})});
  }
  if (going() && (shock || others)) update_watch_signs();
}

// Removes the events due now from the schedule, and changes the standing of the conditions they name.
Motion::DueEvents Motion::take_due_events() {
  const State now = member_.state();
  DueEvents due{.alpha = now.v, .imposed = {}, .lifted = {}};
  while (const ScheduledEvent* event = schedule_.take_due(member_.t + member_.rounding_of_time())) {
    const std::size_t i = event->index;
    switch (event->kind) {
      case ScheduledEvent::Kind::lifted:
        member_.conditions[i] = {};
        if (const std::optional<std::size_t> b = bound_of(equations_.system(), i))
          if (const std::optional<std::size_t>& sign = equations_.system().bounds[*b].sign)
            member_.modes(static_cast<Eigen::Index>(*sign)) = 0;
        due.lifted.push_back(i);
        break;
      case ScheduledEvent::Kind::imposed:
        impose(i, now);
        due.imposed.push_back(i);
        break;
      case ScheduledEvent::Kind::impulse:
        due.alpha += velocity_gain(i, now);
        due.impulse = true;
        break;
    }
  }
  return due;
}

void Motion::impose(std::size_t i, const State& now) {
  const Constraint& constraint = equations_.system().constraints[i];
  const double f = equations_.value(i, now);
  const double slack = imposition_slack * std::max(settings_.contact_tolerance, settings_.rtol) /
                       settings_.contact_tolerance * member_.zero_of(i, now).value;
  if (constraint.holonomic && (f > slack || (constraint.equation && f < -slack)))
    fail(Status::infeasible,
         "'" + constraint.name + "' is imposed where it does not hold: its value is " + number_text(f));
  member_.conditions[i].standing = constraint.equation ? Standing::equation : Standing::open;
}

// What an impulse would add to the velocities of the free system [mayer2-12].
Eigen::VectorXd Motion::velocity_gain(std::size_t impulse, const State& now) const {
  const ImpulseFormula& formula = equations_.system().impulses[impulse];
  Eigen::VectorXd amounts = Eigen::VectorXd::Zero(member_.n());
  for (std::size_t k = 0; k < formula.coordinates.size(); ++k)
    amounts(static_cast<Eigen::Index>(formula.coordinates[k])) =
        equations_.evaluate(Program(*equations_.system().pool, {formula.amounts[k]}), now);
  return formula.momentum ? MassMetric(equations_.mass(now)).solve(amounts) : amounts;
}

// A start on a condition with f' > 0 is a shock at t = 0.
void Motion::apply_start_shock(const Eigen::VectorXd& alpha) {
  const State now = member_.state();
  std::vector<std::size_t> reached;
  const std::vector<char> touching = touching_now();
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    if (member_.conditions[i].standing == Standing::open && touching[i] &&
        equations_.system().constraints[i].holonomic &&
        equations_.rate(i, now) > member_.zero_of(i, now).rate)
      reached.push_back(i);
  if (!reached.empty())
    recorder_.record_event({.t = member_.t, .kind = EventKind::contact, .constraints = reached});
  apply_shock(alpha, reached, EventKind::shock, {});
}

// After an event that may make watched functions jump: a jump over zero counts as a crossing.
void Motion::update_watch_signs() {
  const State now = member_.state();
  for (std::size_t k = 0; k < formulas_.watches.size() && going(); ++k) {
    const Scaled value = member_.scaled_watch(formulas_.watches[k], now, member_.last_duration);
    if (std::abs(value.value) <= settings_.contact_tolerance * value.scale) continue;
    const int sign = value.value > 0 ? 1 : -1;
    const int direction = equations_.system().watches[k].direction;
    const bool crossed = member_.watch_signs[k] != 0 && sign != member_.watch_signs[k];
    member_.watch_signs[k] = sign;
    if (crossed && (direction == 0 || direction == sign))
      recorder_.record_event({.t = member_.t, .kind = EventKind::event, .watch = k});
  }
  if (!going() || formulas_.stop.outputs() == 0) return;
  const Scaled beyond = member_.scaled_watch(formulas_.stop, now, member_.last_duration);
  if (beyond.value > settings_.contact_tolerance * beyond.scale) {
    recorder_.record_event({.t = member_.t, .kind = EventKind::stop});
    fail(Status::stopped, "the stop condition was met");
  }
}

}  // namespace zwang
