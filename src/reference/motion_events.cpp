// What happens at one instant: contacts, shocks, releases, appointments, accumulations.
#include <algorithm>
#include <cmath>

#include "kernels/base/status.h"
#include "src/base/index.h"
#include "src/expression/evaluate.h"
#include "src/expression/scaled.h"
#include "src/laws/least_constraint.h"
#include "src/laws/shock.h"
#include "src/reference/accumulation.h"
#include "src/reference/motion.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// An imposed equation must already hold; the motion brings it there only to the integrator's accuracy.
constexpr double imposition_slack = 1e3;
// A hop whose height would stay within this many zeros of f cannot be followed.
constexpr double unresolved_hop = 4;

}  // namespace

void Motion::dispatch_event(const LocatedEvent& located) {
  const std::size_t i = located.event_function.index;
  switch (located.event_function.kind) {
    case EventFunction::Kind::reached: {
      // Everything else that is reached at this instant belongs to the same shock.
      const State now = state();
      std::vector<std::size_t> reached;
      for (std::size_t j = 0; j < conditions_.size(); ++j) {
        if (conditions_[j].standing != Standing::open) continue;
        const bool together = std::abs(equations_.value(j, now)) <= zero_of(j, now).value &&
                              conditions_[j].armed && equations_.rate(j, now) > zero_of(j, now).rate;
        if (j == i || (together && equations_.system().constraints[j].holonomic)) reached.push_back(j);
      }
      const bool holonomic = equations_.system().constraints[i].holonomic;
      record({.t = t_, .kind = holonomic ? EventKind::contact : EventKind::touch, .constraints = reached});
      apply_shock(now.v, reached, EventKind::shock, {});
      break;
    }
    case EventFunction::Kind::release: {
      // Others may lose their force at the same instant; they are released with it.
      const std::vector<ConditionState> before = conditions_;
      flush_accumulation();
      if (!update_active_set(touching_now(), i)) break;
      Event event{.t = t_, .kind = EventKind::release};
      for (std::size_t j = 0; j < conditions_.size(); ++j)
        if (j == i || (before[j].standing == Standing::closed && conditions_[j].standing == Standing::open))
          event.constraints.push_back(j);
      record_now(std::move(event));
      break;
    }
    case EventFunction::Kind::press:
      record({.t = t_, .kind = EventKind::press, .constraints = {i}});
      conditions_[i].idle = false;
      break;
    case EventFunction::Kind::watch: {
      std::vector<std::size_t> crossing = located.also;
      crossing.insert(crossing.begin(), i);
      for (const std::size_t k : crossing) {
        const int direction = equations_.system().watches[k].direction;
        watch_signs_[k] = -watch_signs_[k];
        if (going() && (direction == 0 || direction == watch_signs_[k]))
          record({.t = t_, .kind = EventKind::event, .watch = k});
      }
      break;
    }
    case EventFunction::Kind::stop:
      record({.t = t_, .kind = EventKind::stop});
      fail(Status::stopped, "the stop condition was met");
      break;
    case EventFunction::Kind::kink:
      return;  // nothing happens to the motion; the next step starts on the other side
  }
  if (going() && located.event_function.kind != EventFunction::Kind::watch) update_watch_signs();
}

// Impulses, impositions and liftings due now: together one shock (mechanics section 5). At the start also every
// contact that is already approaching.
void Motion::apply_scheduled_events() {
  if (pending_ && pending_->t <= t_ + rounding_of_time()) flush_accumulation();
  const bool starting = trajectory_.steps == 0 && next_scheduled_ == 0 && active_.empty();
  Eigen::VectorXd alpha = state().v;
  std::vector<std::size_t> imposed, lifted;
  bool impulse = false;
  const State now = state();
  for (; next_scheduled_ < scheduled_.size() && scheduled_[next_scheduled_].t <= t_ + rounding_of_time();
       ++next_scheduled_) {
    const ScheduledEvent& due = scheduled_[next_scheduled_];
    const std::size_t i = due.index;
    if (due.kind == ScheduledEvent::Kind::lifted) {
      conditions_[i] = {};
      lifted.push_back(i);
    } else if (due.kind == ScheduledEvent::Kind::imposed) {
      const bool equation = equations_.system().constraints[i].equation;
      const double f = equations_.value(i, now);
      const double slack = imposition_slack * std::max(settings_.contact_tolerance, settings_.rtol) /
                           settings_.contact_tolerance * zero_of(i, now).value;
      const bool holonomic = equations_.system().constraints[i].holonomic;
      if (holonomic && (f > slack || (equation && f < -slack)))
        fail(Status::infeasible, "'" + equations_.system().constraints[i].name +
                                     "' is imposed where it does not hold: its value is " +
                                     std::to_string(f));
      conditions_[i].standing = equation ? Standing::equation : Standing::open;
      imposed.push_back(i);
    } else {
      const ImpulseFormula& formula = equations_.system().impulses[i];
      Eigen::VectorXd amounts = Eigen::VectorXd::Zero(n());
      for (std::size_t k = 0; k < formula.coordinates.size(); ++k)
        amounts(index(formula.coordinates[k])) =
            equations_.evaluate(Program(*equations_.system().pool, {formula.amounts[k]}), now);
      alpha += formula.momentum ? MassMetric(equations_.mass(now)).solve(amounts) : amounts;
      impulse = true;
    }
  }
  if (!going()) return;
  for (const std::size_t i : lifted) record({.t = t_, .kind = EventKind::lifted, .constraints = {i}});
  if (impulse || !imposed.empty()) {
    apply_shock(alpha, imposed, impulse ? EventKind::impulse : EventKind::imposed, imposed);
  } else if (starting) {
    // A start on a condition with f' > 0 is a shock at t = 0.
    std::vector<std::size_t> reached;
    const std::vector<char> touching = touching_now();
    for (std::size_t i = 0; i < conditions_.size(); ++i)
      if (conditions_[i].standing == Standing::open && touching[i] &&
          equations_.system().constraints[i].holonomic && equations_.rate(i, now) > zero_of(i, now).rate)
        reached.push_back(i);
    if (!reached.empty()) record({.t = t_, .kind = EventKind::contact, .constraints = reached});
    apply_shock(alpha, reached, EventKind::shock, {});
  } else if (!lifted.empty()) {
    update_active_set(touching_now(), no_condition);
  }
  if (going() && (impulse || !imposed.empty() || !lifted.empty())) update_watch_signs();
}

// Which inequalities in force are at f = 0 now (velocity conditions: g = 0).
std::vector<char> Motion::touching_now() const {
  const State now = state();
  std::vector<char> touching(conditions_.size(), 0);
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    if (conditions_[i].standing == Standing::closed) touching[i] = 1;
    if (conditions_[i].standing != Standing::open) continue;
    const Zero zero = zero_of(i, now);
    touching[i] =
        std::abs(equations_.value(i, now)) <=
        (equations_.system().constraints[i].holonomic ? zero.value : std::max(zero.value, zero.rate));
  }
  return touching;
}

ShockParticipants Motion::participants(const std::vector<char>& touching) const {
  ShockParticipants who;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    if (!in_force(i)) continue;
    if (conditions_[i].standing == Standing::equation)
      who.equations.push_back(i);
    else if (!equations_.system().constraints[i].holonomic)
      who.velocities.push_back(i);
    else if (touching[i])
      who.contacts.push_back(i);
  }
  return who;
}

void Motion::add_jump(Event& event, const Shock& shock, const Eigen::VectorXd& before) const {
  event.velocities_jump = true;
  event.energy_lost = shock.energy_lost;
  event.velocity_before = before;
  event.velocity_after = shock.v;
  if (event.kind != EventKind::imposed || event.constraints.empty()) event.constraints.clear();
  for (std::size_t i = 0; i < conditions_.size(); ++i)
    if (shock.struck[i] &&
        std::find(event.constraints.begin(), event.constraints.end(), i) == event.constraints.end())
      event.constraints.push_back(i);
  const State now = state();
  for (const std::size_t i : event.constraints)
    event.impulses.push_back(
        shock.struck[i] ? shock.impulses(index(i)) * equations_.evaluate(reaches_[i], now) : 0);
}

// A shock (mechanics section 4), whatever its cause, and the rebuilding of the closed set after it. `named` are the
// conditions an imposition is about.
void Motion::apply_shock(const Eigen::VectorXd& alpha, const std::vector<std::size_t>& reached,
                         EventKind kind, std::vector<std::size_t> named) {
  flush_accumulation();
  std::vector<char> touching = touching_now();
  for (const std::size_t i : reached)
    if (conditions_[i].standing == Standing::open) touching[i] = touching[i] || kind == EventKind::shock;
  const State before = state();
  const Shock result =
      shock(equations_, before, sizes_, alpha, participants(touching), restitution_, settings_.rest_speed);
  if (result.status != Status::ok) {
    fail(result.status, "no admissible velocities after a shock at t = " + std::to_string(t_));
    return;
  }
  Audit& audit = trajectory_.audit;
  audit.kkt = std::max(audit.kkt, result.kkt);
  audit.carnot = std::max(audit.carnot, result.carnot);
  const bool external = kind == EventKind::impulse;
  const double energy_before = equations_.energy(before);
  set_velocities(result.v);
  energy_lost_ += energy_before - equations_.energy(state());
  sizes_.v = sizes_.v.cwiseMax(result.v.cwiseAbs()).cwiseMax(before.v.cwiseAbs()).cwiseMax(result.pushed);

  // Conditions that move, or that hold a velocity other than zero, may give energy; others may not.
  bool fixed = !external;
  State still = before;
  still.v.setZero();
  for (std::size_t i = 0; i < conditions_.size(); ++i)
    fixed = fixed && !(result.struck[i] && std::abs(equations_.rate(i, still)) > zero_of(i, before).rate);
  if (fixed) audit.energy_created = std::max(audit.energy_created, -result.energy_lost);

  const bool internal = result.jumped && kind == EventKind::shock;
  const std::optional<AccumulationWatch::Sequence> earlier = accumulation_.sequence();
  // Open until now and at zero: closed ones, struck a moment ago, say nothing about how close the others have come.
  std::vector<char> arriving = touching;
  for (std::size_t i = 0; i < conditions_.size(); ++i)
    arriving[i] = touching[i] && conditions_[i].standing == Standing::open;
  if (internal) accumulation_.note(t_, reached);
  if (!update_active_set(touching, no_condition)) return;
  const bool at_start = trajectory_.steps == 0 && t_ == 0;
  const bool closes = std::any_of(reached.begin(), reached.end(),
                                  [&](std::size_t i) { return conditions_[i].standing == Standing::closed; });
  if (((result.jumped || external) && !keeps_volume(result, kind)) || (closes && !at_start)) lose_density();
  if (result.jumped || external || (kind == EventKind::imposed && !at_start)) {
    Event event{.t = t_, .kind = kind, .constraints = std::move(named), .reached = reached};
    if (result.jumped || external) add_jump(event, result, before.v);
    record_now(std::move(event));
  }
  if (going() && internal) finish_accumulation(arriving, earlier);
  if (going()) project_drift();
}

// Through an elastic reflection at one condition phase volume passes unchanged: the velocities' map has the determinant
// -e, and neighbours that arrive later travel at the old velocity for a time and with the new one for the rest, which is
// another f'+/f'- = -e. An impulse given whatever the velocities shifts them all alike. Everything else loses dimensions,
// and with them the density [voss-11].
bool Motion::keeps_volume(const Shock& shock, EventKind kind) const {
  const System& system = equations_.system();
  std::size_t struck = 0;
  bool elastic = true;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    if (!shock.struck[i] || conditions_[i].standing == Standing::equation) continue;
    ++struck;
    elastic = elastic && system.constraints[i].holonomic && restitution_[i] == 1;
  }
  if (kind == EventKind::shock) return struck == 1 && elastic;
  return kind == EventKind::impulse && struck == 0 && system.impulses_shift();
}

void Motion::lose_density() {
  if (const std::optional<std::size_t>& density = equations_.system().density)
    y_(2 * n() + index(*density) + 1) = 1;
}

// When the hops of one contact will be over: the hop that begins now lasts 2|f'|/f'', each later one e times the last.
// Speeds are known more exactly than the times between shocks, so this is better than extrapolating those.
double Motion::limit_of_hops(std::size_t contact, const Eigen::VectorXd& accelerations) const {
  const Row row = equations_.row(contact, state());
  const double second = row.a.dot(accelerations) + row.rest, e = restitution_[contact];
  if (!(row.rate < 0 && second > 0 && e < 1))
    return accumulation_.sequence() ? accumulation_.sequence()->limit : t_;
  return t_ - 2 * row.rate / (second * (1 - e));
}

// A geometric sequence of shocks ends when what is left of it is negligible, or when its conditions have come so close
// together that they can no longer be told apart.
void Motion::finish_accumulation(const std::vector<char>& arriving,
                                 const std::optional<AccumulationWatch::Sequence>& earlier) {
  const auto& sequence = accumulation_.sequence();
  const bool merged = earlier && earlier->conditions.size() > 1 &&
                      std::all_of(earlier->conditions.begin(), earlier->conditions.end(),
                                  [&](std::size_t i) { return arriving[i] != 0; });
  if (!merged && !(sequence && sequence->nearly_over())) return;
  const std::vector<std::size_t> together = merged ? earlier->conditions : sequence->conditions;
  double limit = merged ? earlier->limit : sequence->limit;
  if (together.size() == 1) {
    const Accelerations now = constrained_acceleration(equations_, state(), active_);
    if (now.status == Status::ok) limit = limit_of_hops(together[0], now.a);
  }
  complete_accumulation(together, limit);
  std::vector<char> closing = touching_now();
  for (const std::size_t i : together) closing[i] = 1;
  if (going()) update_active_set(closing, no_condition);
}

// Infinitely many shocks, completed: the limit velocity is the projection on the intersection (requirement 5).
void Motion::complete_accumulation(std::vector<std::size_t> contacts, double limit) {
  const State before = state();
  const auto sorted = [](std::vector<std::size_t> list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  };
  // Those that rest take part in the limit; those that rest because they were struck just now belong to the sequence.
  std::vector<std::size_t> resting;
  for (std::size_t i = 0; i < conditions_.size(); ++i)
    if (conditions_[i].standing == Standing::closed && equations_.system().constraints[i].holonomic)
      resting.push_back(i);
  for (const std::size_t i : accumulation_.latest())
    if (std::find(resting.begin(), resting.end(), i) != resting.end()) contacts.push_back(i);
  const std::vector<std::size_t> accumulating = sorted(contacts);
  contacts.insert(contacts.end(), resting.begin(), resting.end());
  contacts = sorted(contacts);
  ShockParticipants who = participants(std::vector<char>(conditions_.size(), 0));
  who.contacts = contacts;
  // Velocity limits at which the sequence arrives are part of its limit. Left to themselves they would open by what little
  // is left of the hops, and be touched again at once: a moment with other forces that depends on accumulation_gap.
  ShockParticipants with_limits = who;
  std::erase_if(with_limits.velocities,
                [&](std::size_t i) { return conditions_[i].standing == Standing::closed; });
  for (const std::size_t i : who.velocities)
    if (conditions_[i].standing == Standing::closed) with_limits.equations.push_back(i);
  Shock result = completed_shock(equations_, before, sizes_, with_limits, settings_.rest_speed);
  if (result.status == Status::infeasible)
    result = completed_shock(equations_, before, sizes_, who, settings_.rest_speed);
  if (result.status != Status::ok) {
    fail(result.status, "an accumulation of shocks at t = " + std::to_string(t_) + " has no limit");
    return;
  }
  const double energy_before = equations_.energy(before);
  set_velocities(result.v);
  sizes_.v = sizes_.v.cwiseMax(result.pushed);
  lose_density();
  energy_lost_ += energy_before - equations_.energy(state());
  trajectory_.audit.kkt = std::max(trajectory_.audit.kkt, result.kkt);
  // The limit lies a little ahead; it is listed when the motion gets there.
  flush_accumulation();
  Event event{.t = std::max(t_, limit), .kind = EventKind::accumulation, .constraints = accumulating};
  event.velocities_jump = true;
  event.energy_lost = result.energy_lost;
  event.velocity_before = before.v;
  event.velocity_after = result.v;
  accumulation_.forget();
  pending_ = std::move(event);
}

void Motion::flush_accumulation() {
  if (!pending_) return;
  Event event = std::move(*pending_);
  pending_.reset();
  event.t = std::min(event.t, t_);
  record(std::move(event));
}

// Rebuilds what is closed from f = 0 and f' = 0 (requirement 4) [mayer-1..5] [staeckel-20..24], and lets Gauss's principle
// say who presses. A
// condition just released stays out unless the others would push through it.
bool Motion::update_active_set(std::vector<char> touching, std::size_t released) {
  const double was_zero = released == no_condition ? 0 : conditions_[released].multiplier_zero;
  for (int pass = 0; pass < 8; ++pass) {
    const State now = state();
    std::vector<std::size_t> rows;
    std::vector<Zero> zeros(conditions_.size());
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
      if (!in_force(i)) continue;
      zeros[i] = zero_of(i, now);
      const bool still = std::abs(equations_.rate(i, now)) <= zeros[i].rate;
      if (conditions_[i].standing == Standing::equation || (touching[i] && still && i != released))
        rows.push_back(i);
    }
    LeastConstraint gauss = least_constraint(equations_, now, sizes_, rows, 10 * settings_.contact_tolerance);
    // Dependent rows leave the multipliers open, and with a general condition they are part of the motion.
    if (gauss.redundant && equations_.system().any_general()) gauss.status = Status::singular;
    if (gauss.status != Status::ok) {
      std::string who;
      for (const std::size_t i : rows)
        who += (who.empty() ? "" : ", ") + equations_.system().constraints[i].name;
      fail(gauss.status, "no acceleration at t = " + std::to_string(t_) + " under " + who);
      return false;
    }
    trajectory_.audit.kkt = std::max(trajectory_.audit.kkt, gauss.kkt);
    trajectory_.redundant = trajectory_.redundant || gauss.redundant;

    // Everything in force is open, unless Gauss keeps it.
    for (std::size_t i = 0; i < conditions_.size(); ++i)
      if (in_force(i) && conditions_[i].standing != Standing::equation) {
        const bool leaving = touching[i] && equations_.rate(i, now) < -zeros[i].rate;
        conditions_[i] = {.standing = Standing::open,
                          .armed = equations_.value(i, now) < -zeros[i].value || leaving,
                          .since = t_,
                          .above = touching[i] ? std::max(0.0, equations_.value(i, now)) : 0};
      }
    active_.clear();
    const Eigen::MatrixXd b = MassMetric(gauss.dynamics.mass).rows(gauss.program.rows);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      ConditionState& condition = conditions_[rows[k]];
      if (condition.standing != Standing::equation) {
        if (gauss.yielding[k]) {
          condition.noise = gauss.slack(index(k));
          continue;
        }
        const double zero = gauss.slack(index(k)) / b.row(index(k)).squaredNorm();
        condition = {.standing = Standing::closed, .idle = !gauss.pressing[k], .multiplier_zero = zero};
      }
      active_.push_back(rows[k]);
    }

    // Would the released condition be broken? Then it cannot go: the problem from the beginning, with it.
    if (released != no_condition) {
      const Row row = equations_.row(released, now);
      const double second = row.a.dot(gauss.a) + row.rest;
      const double size = std::abs(row.rest) + row.a.cwiseAbs().dot(gauss.a.cwiseAbs());
      // Its multiplier was zero only to rounding, so its f'' is.
      const double noise =
          10 * was_zero * MassMetric(gauss.dynamics.mass).rows(Eigen::MatrixXd(row.a)).squaredNorm();
      conditions_[released].noise = noise;
      if (second > 1e-6 * size + noise) {
        released = no_condition;
        continue;
      }
    }
    // Contacts that leave so slowly that their hop could not be followed close at once.
    std::vector<std::size_t> hops;
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
      if (conditions_[i].standing != Standing::open || !touching[i] || i == released) continue;
      if (!equations_.system().constraints[i].holonomic) continue;
      const Row row = equations_.row(i, now);
      const double second = row.a.dot(gauss.a) + row.rest;
      if (!(row.rate < 0 && second > 0)) continue;
      const double height = row.rate * row.rate / (2 * second), duration = -2 * row.rate / second;
      if (height <= unresolved_hop * zeros[i].value || duration <= 16 * rounding_of_time()) hops.push_back(i);
    }
    if (hops.empty()) return true;
    const double limit = hops.size() == 1           ? limit_of_hops(hops[0], gauss.a)
                         : accumulation_.sequence() ? accumulation_.sequence()->limit
                                                    : t_;
    complete_accumulation(hops, limit);
    if (!going()) return false;
    for (const std::size_t i : hops) touching[i] = 1;
  }
  return true;
}

// After anything that may make watched functions jump: a jump over zero counts as a crossing.
void Motion::update_watch_signs() {
  const State now = state();
  for (std::size_t k = 0; k < watches_.size() && going(); ++k) {
    const Scaled value = equations_.evaluate_scaled(watches_[k], now, sizes_);
    if (std::abs(value.value) <= settings_.contact_tolerance * value.scale) continue;
    const int side = value.value > 0 ? 1 : -1;
    const int direction = equations_.system().watches[k].direction;
    const bool crossed = watch_signs_[k] != 0 && side != watch_signs_[k];
    watch_signs_[k] = side;
    if (crossed && (direction == 0 || direction == side))
      record({.t = t_, .kind = EventKind::event, .watch = k});
  }
  if (!going() || stop_.outputs() == 0) return;
  const Scaled beyond = equations_.evaluate_scaled(stop_, now, sizes_);
  if (beyond.value > settings_.contact_tolerance * beyond.scale) {
    record({.t = t_, .kind = EventKind::stop});
    fail(Status::stopped, "the stop condition was met");
  }
}

}  // namespace zwang
