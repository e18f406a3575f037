#include "src/reference/motion.h"
#include "kernels/base/layout.h"
#include "src/base/settings.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/scaled.h"
#include "src/laws/project.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zwang {

namespace {

// So many events at one and the same instant mean that the motion is stuck.
constexpr std::size_t standstill_limit = 1000;

double parameter_value(const Equations& equations, Expr e) {
  return equations.evaluate(Program(*equations.system().pool, {e}), State{});
}

}  // namespace

std::string event_kind_name(EventKind kind) {
  constexpr const char* names[] = {"contact", "touch",  "press",        "release", "shock", "impulse",
                                   "imposed", "lifted", "accumulation", "event",   "stop"};
  return names[static_cast<std::size_t>(kind)];
}

Motion::Motion(const Equations& equations, const IntegratorSettings& settings, const Plan& plan)
    : equations_(equations),
      settings_(settings),
      plan_(plan),
      measures_(equations),
      conditions_(equations.count()),
      accumulation_(settings.accumulation_gap) {
  const System& system = equations.system();
  const Expressions& pool = *system.pool;
  std::vector<Expr> roots;
  for (const NamedExpr& observable : system.observables) roots.push_back(observable.value);
  observables_ = Program(pool, roots);
  if (system.density) divergence_.emplace(equations);
  integrands_ = Program(pool, system.integrands);
  if (system.stop) stop_ = Program(pool, {*system.stop});
  for (const WatchFormula& watch : system.watches) watches_.push_back(Program(pool, {watch.value}));
  roots.clear();
  for (const Turn& turn : system.turns) roots.insert(roots.end(), {turn.rate, turn.longest});
  turns_ = Program(pool, roots);
  for (const Expr kink : system.kinks) kinks_.push_back(Program(pool, {kink}));
  for (const Expr branch : system.branches) branch_values_.push_back(Program(pool, {branch}));
  branches_.assign(system.branches.size(), 0);
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    const Constraint& constraint = system.constraints[i];
    reaches_.push_back(Program(pool, {constraint.reach}));
    restitution_.push_back(parameter_value(equations, constraint.restitution));
    const double never = std::numeric_limits<double>::infinity();
    const double from = constraint.from ? parameter_value(equations, *constraint.from) : -never;
    const double until = constraint.until ? parameter_value(equations, *constraint.until) : never;
    if (from < 0 && until > 0)
      conditions_[i].standing = constraint.equation ? Standing::equation : Standing::open;
    if (from >= 0 && from < until) scheduled_.push_back({ScheduledEvent::Kind::imposed, from, i});
    if (until > 0 && until < never && from < until)
      scheduled_.push_back({ScheduledEvent::Kind::lifted, until, i});
  }
  for (std::size_t k = 0; k < system.impulses.size(); ++k)
    scheduled_.push_back(
        {ScheduledEvent::Kind::impulse, parameter_value(equations, system.impulses[k].at), k});
  std::stable_sort(scheduled_.begin(), scheduled_.end(),
                   [](const ScheduledEvent& a, const ScheduledEvent& b) { return a.t < b.t; });
}

Trajectory Motion::run(const State& start) { return integrate(begin(start)); }

// [mayer-§4] Smooth motion with the pressing conditions as equations, until one of them lets go or another is reached.
Trajectory Motion::integrate(bool begun) {
  while (begun && going()) {
    const std::optional<Step> step = next_step();
    if (!step) break;
    const std::optional<LocatedEvent> located = first_event(*step);
    if (!going()) break;
    advance(*step, located ? located->theta : 1, located ? located->y : step->end);
    if (going() && located) dispatch_event(*located);
    if (going()) apply_scheduled_events();
    finished_ = !(t_ < plan_.end - rounding_of_time());
    if (trajectory_.status == Status::ok || trajectory_.status == Status::stopped) emit_output_now();
  }
  finish();
  return std::move(trajectory_);
}

bool Motion::begin(const State& start) {
  if (!set_initial_state(start)) return false;
  apply_scheduled_events();
  return going() && open_record();
}

// The state with nothing integrated yet; false when no motion can start from it.
bool Motion::set_initial_state(const State& start) {
  const System& system = equations_.system();
  t_ = begun_ = start.t;
  y_.setZero(2 * n() + start.z.size() + static_cast<Eigen::Index>(system.integrands.size()) + 1);
  y_.head(n()) = start.q;
  y_.segment(n(), n()) = start.v;
  y_.segment(2 * n(), start.z.size()) = start.z;
  sizes_ = sizes_of(start);
  raise_to_noise(sizes_, equations_.mass(start));
  watch_signs_.assign(system.watches.size(), 0);
  energy_start_ = equations_.energy(start);
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    const Constraint& constraint = system.constraints[i];
    if (!(restitution_[i] >= 0 && restitution_[i] <= 1))
      fail(Status::inconsistent_start, "restitution of '" + constraint.name + "' is not between 0 and 1");
    if (constraint.radius && !(equations_.evaluate(Program(*system.pool, {*constraint.radius}), start) > 0))
      fail(Status::inconsistent_start, "the distance in '" + constraint.name + "' is not positive");
  }
  if (!y_.allFinite() || !std::isfinite(energy_start_))
    fail(Status::not_finite, "the initial state is not finite");
  return going();
}

bool Motion::open_record() {
  const Sample first = sample(state());
  if (!plan_.extremes.empty()) measures_.see(plan_.extremes);
  measures_.start({first.state, first.multipliers, first.closed});
  audit_energy();
  emit_output_now();
  update_watch_signs();
  finished_ = !(t_ < plan_.end - rounding_of_time());
  return going();
}

// Takes the stretch of motion up to the fraction theta of a step into the record.
void Motion::advance(const Step& step, double theta, const Eigen::VectorXd& end) {
  ++trajectory_.steps;
  if (trajectory_.steps >= settings_.max_steps) {
    fail(Status::step_limit, "max_steps = " + std::to_string(settings_.max_steps) + " used up");
    return;
  }
  const bool whole = theta >= 1;
  const double until = whole && next_scheduled_time() <= step.t + step.h * (1 + 1e-15)
                           ? next_scheduled_time()
                           : step.t + theta * step.h;
  emit_outputs_until(step, until);
  measures_.follow([&](double x) {
    const State there = state_of(step.t + x * theta * step.h, step.at(x * theta, settings_.method));
    const Sample s = sample(there);
    return measures_.values({s.state, s.multipliers, s.closed});
  });
  measure_sizes(step, theta, end);
  y_ = end;
  t_ = until;
  if (!y_.allFinite()) {
    fail(Status::not_finite, "the state is no longer finite");
    return;
  }
  project_drift();
  const Sample now = sample(state());
  measures_.see({now.state, now.multipliers, now.closed});
  audit_energy();

  // Conditions clearly below zero are armed; watched functions clearly off zero know their side.
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    ConditionState& condition = conditions_[i];
    if (condition.standing == Standing::open && !condition.armed) {
      const double elapsed = t_ - condition.since;
      const double clearly = zero_of(i, now.state).value + 0.5 * condition.noise * elapsed * elapsed;
      condition.armed = equations_.value(i, now.state) < -clearly;
    }
    // A multiplier that has been large comes back to zero only to the rounding of what it was.
    const double lambda = std::abs(now.multipliers(static_cast<Eigen::Index>(i)));
    if (condition.standing == Standing::closed)
      condition.multiplier_zero =
          std::max(condition.multiplier_zero, 10 * settings_.contact_tolerance * lambda);
  }
  for (std::size_t k = 0; k < watch_signs_.size(); ++k) {
    const Scaled value = equations_.evaluate_scaled(watches_[k], now.state, sizes_);
    if (watch_signs_[k] == 0 && std::abs(value.value) > settings_.contact_tolerance * value.scale)
      watch_signs_[k] = value.value > 0 ? 1 : -1;
  }
}

// Times closer than this are one instant.
double Motion::rounding_of_time() const { return 16 * std::numeric_limits<double>::epsilon() * std::abs(t_); }

// How large coordinates and velocities were along the stretch just travelled: their rounding is of that size.
void Motion::measure_sizes(const Step& step, double theta, const Eigen::VectorXd& end) {
  const Eigen::VectorXd travel = (theta * step.h * step.start.segment(n(), n())).cwiseAbs();
  sizes_.q = step.start.head(n()).cwiseAbs().cwiseMax(end.head(n()).cwiseAbs()).cwiseMax(travel);
  sizes_.v = step.start.segment(n(), n()).cwiseAbs().cwiseMax(end.segment(n(), n()).cwiseAbs());
  raise_to_noise(sizes_, equations_.mass(state()));
}

// Output times inside the stretch: a partial step of the method itself, which is more exact than its interpolant and
// leaves the motion untouched. Times within rounding of the stretch's end wait: values at an event are those after it.
void Motion::emit_outputs_until(const Step& step, double until) {
  if (plan_.every_step) return;
  const double near = 1e-12 * std::max(std::abs(until), step.h);
  while (next_output_ < plan_.outputs.size() && plan_.outputs[next_output_] < until - near) {
    const double t = plan_.outputs[next_output_++];
    bool ok = true;
    const Eigen::VectorXd y = flow(step, (t - step.t) / step.h, ok);
    if (!ok) {
      fail(trouble_ == Status::ok ? Status::not_finite : trouble_,
           "the state at an output time is not defined");
      return;
    }
    trajectory_.samples.push_back(sample(state_of(t, y)));
  }
}

void Motion::emit_output_now() {
  if (plan_.every_step) {
    trajectory_.samples.push_back(sample(state()));
    return;
  }
  const double near = 1e-12 * std::max(std::abs(t_), h_);
  while (next_output_ < plan_.outputs.size() && plan_.outputs[next_output_] <= t_ + near) {
    trajectory_.samples.push_back(sample(state()));
    trajectory_.samples.back().state.t = plan_.outputs[next_output_++];
  }
}

void Motion::finish() {
  flush_accumulation();
  trajectory_.last = sample(state());
  const auto integrals = static_cast<Eigen::Index>(equations_.system().integrands.size());
  const Sample& last = trajectory_.last;
  trajectory_.measures = measures_.finish({last.state, last.multipliers, last.closed},
                                          y_.segment(y_.size() - 1 - integrals, integrals), t_ - begun_);
  trajectory_.sides = watch_signs_;
}

void Motion::fail(Status status, std::string cause) {
  if (trajectory_.status != Status::ok) return;
  trajectory_.status = status;
  trajectory_.cause = std::move(cause);
}

State Motion::state_of(double t, const Eigen::VectorXd& y) const {
  const auto nz = static_cast<Eigen::Index>(equations_.system().auxiliaries.size());
  return {t, y.head(n()), y.segment(n(), n()), y.segment(2 * n(), nz)};
}

std::vector<double> Motion::closed_flags() const {
  std::vector<double> flags;
  for (const ConditionState& condition : conditions_)
    flags.push_back(condition.standing == Standing::closed || condition.standing == Standing::equation ? 1
                                                                                                       : 0);
  return flags;
}

Sample Motion::sample(const State& state) const {
  Sample made{state, Eigen::VectorXd::Zero(static_cast<Eigen::Index>(equations_.count())), closed_flags(),
              std::vector<double>(observables_.outputs())};
  if (!active_.empty()) {
    const Accelerations accelerations = constrained_acceleration(equations_, state, active_);
    if (accelerations.status == Status::ok) made.multipliers = accelerations.multipliers;
    // A closed inequality never pulls: what is below zero is rounding around a release.
    for (std::size_t i = 0; i < conditions_.size(); ++i) {
      double& lambda = made.multipliers(static_cast<Eigen::Index>(i));
      if (conditions_[i].standing == Standing::closed) lambda = std::max(lambda, 0.0);
    }
  }
  equations_.evaluate(observables_, state,
                      {made.multipliers.data(), static_cast<std::size_t>(made.multipliers.size())},
                      made.closed, made.observables);
  return made;
}

// An accumulation that is still ahead comes first in the list.
void Motion::record(Event event) {
  flush_accumulation();
  record_now(std::move(event));
}

void Motion::record_now(Event event) {
  const Sample now = sample(state());
  measures_.see({now.state, now.multipliers, now.closed});
  measures_.note(event, {now.state, now.multipliers, now.closed});
  trajectory_.events.push_back(std::move(event));
  const auto& events = trajectory_.events;
  if (events.size() > standstill_limit && events[events.size() - standstill_limit].t == events.back().t)
    fail(Status::event_lost, "events repeat without end at t = " + std::to_string(t_));
  if (static_cast<long long>(events.size()) > settings_.max_events)
    fail(Status::event_limit, "max_events = " + std::to_string(settings_.max_events) + " used up");
}

// Positions and velocities back onto what holds (mechanics section 5, drift).
void Motion::project_drift() {
  if (active_.empty()) return;
  State now = state();
  const Residuals left = project(equations_, now, sizes_, active_);
  y_.head(n()) = now.q;
  set_velocities(now.v);
  trajectory_.audit.position_violation = std::max(trajectory_.audit.position_violation, left.position);
  trajectory_.audit.velocity_violation = std::max(trajectory_.audit.velocity_violation, left.velocity);
}

// [voss] T + V + energy lost in shocks - work of other forces and of moving conditions stays what it was.
void Motion::audit_energy() {
  const State now = state();
  const double energy = equations_.energy(now);
  const double kinetic = equations_.kinetic(now);
  const double work = y_(y_.size() - 1);
  Audit& audit = trajectory_.audit;
  audit.energy_drift = std::max(audit.energy_drift, std::abs(energy + energy_lost_ - work - energy_start_));
  audit.energy_size =
      std::max({audit.energy_size, std::abs(kinetic), std::abs(energy - kinetic), std::abs(work)});
}

Start prepare_start(const Equations& equations, const IntegratorSettings& settings, State& state) {
  const System& system = equations.system();
  std::vector<std::size_t> in_force;
  std::vector<char> imposed(equations.count(), 0);
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    const Constraint& constraint = system.constraints[i];
    const double from = constraint.from ? parameter_value(equations, *constraint.from) : -1;
    const double until = constraint.until ? parameter_value(equations, *constraint.until) : 1;
    if (from > 0 || until <= 0) continue;
    in_force.push_back(i);
    imposed[i] = from == 0;
  }
  return make_consistent(equations, state, in_force, imposed, settings.contact_tolerance);
}

Trajectory simulate(const Equations& equations, const IntegratorSettings& settings, const Plan& plan,
                    const State& start) {
  return Motion(equations, settings, plan).run(start);
}

Trajectory resume(const Equations& equations, const IntegratorSettings& settings, const Plan& plan,
                  const State& state, const std::vector<double>& closed) {
  return Motion(equations, settings, plan).resume(state, closed);
}

}  // namespace zwang
