// Outputs, events, measures and energy audit of a motion.
#include "src/reference/recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/error.h"
#include "src/laws/least_constraint.h"
#include "src/reference/audit.h"
#include "src/system/not_finite.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// This many events at the same instant mean that the motion is stuck.
constexpr int standstill_limit = 1000;

Moment moment_of(const Sample& sample) { return {sample.state, sample.multipliers, sample.closed}; }

}  // namespace

Recorder::Recorder(const MemberState& member, const MotionFormulas& formulas, const Plan& plan)
    : member_(member),
      formulas_(formulas),
      plan_(plan),
      measures_(member.equations),
      records_(member.equations) {}

void Recorder::fail(Status status, std::string cause) {
  if (trajectory_.status != Status::ok) return;
  trajectory_.status = status;
  trajectory_.cause = std::move(cause);
  if (status != Status::not_finite && status != Status::step_too_small) return;
  const std::string formula = describe_not_finite(member_.equations, member_.state(), true);
  if (!formula.empty()) trajectory_.cause = formula + " (" + trajectory_.cause + ")";
}

void Recorder::start_measures() {
  const Sample first = sample(member_.state());
  if (!plan_.extremes.empty()) measures_.update_extremes(plan_.extremes);
  measures_.start(moment_of(first));
}

void Recorder::start_records(double t) {
  const std::string cause = records_.start(t);
  if (!cause.empty()) fail(Status::not_finite, cause);
}

// The next time at which something is written: an output time, or that of a periodic record.
double Recorder::next_time() const {
  const bool listed = !plan_.every_step && next_output_ < plan_.outputs.size();
  const double output = listed ? plan_.outputs[next_output_] : std::numeric_limits<double>::infinity();
  return std::min(output, records_.next_time());
}

// Everything that is due at `when`.
void Recorder::write_at(double when, const State& state) {
  Sample now = sample(state);
  records_.note_time(when, moment_of(now));
  if (plan_.every_step || next_output_ == plan_.outputs.size() || plan_.outputs[next_output_] > when) return;
  now.state.t = plan_.outputs[next_output_++];
  trajectory_.samples.push_back(std::move(now));
}

// [voss] T + V + energy lost in shocks - work of other forces and of moving conditions is constant.
void Recorder::audit_energy() {
  const State now = member_.state();
  const double energy = member_.equations.energy(now);
  const double kinetic = member_.equations.kinetic(now);
  const double work = member_.y(member_.y.size() - 1);
  Audit& audit = trajectory_.audit;
  raise_worst(audit.energy_drift, std::abs(energy + energy_lost_ - work - energy_start_));
  for (const double size : {std::abs(kinetic), std::abs(energy - kinetic), std::abs(work)})
    raise_worst(audit.energy_size, size);
}

void Recorder::skip_past_outputs() {
  const double now = member_.t - member_.rounding_of_time();
  while (next_output_ < plan_.outputs.size() && plan_.outputs[next_output_] < now) ++next_output_;
}

// A partial step of the method itself is more accurate than its interpolant and leaves the motion unchanged.
// Output times within rounding of the end are left to emit_output_now: values at an event are those after it.
void Recorder::emit_outputs_until(const SmoothStep& step, double until, const SmoothMotion& smooth) {
  const double near = 1e-12 * std::max(std::abs(until), step.h);
  while (next_time() < until - near) {
    const double t = next_time();
    const PartialStep part = smooth.flow(step, (t - step.t) / step.h);
    if (part.status != Status::ok) {
      fail(part.status, "the state at an output time is not defined");
      return;
    }
    write_at(t, member_.state_of(t, part.y));
  }
}

void Recorder::emit_outputs_at_rest(double until) {
  const double near = 1e-12 * std::max(std::abs(until), until - member_.t);
  while (next_time() < until - near) {
    State still = member_.state();
    still.t = next_time();
    write_at(next_time(), still);
  }
}

void Recorder::emit_output_now(double h) {
  if (plan_.every_step) trajectory_.samples.push_back(sample(member_.state()));
  const double near = 1e-12 * std::max(std::abs(member_.t), h);
  while (next_time() <= member_.t + near) write_at(next_time(), member_.state());
}

void Recorder::refine_extremes(const SmoothStep& step, double theta) {
  measures_.refine_extremes([&](double x) {
    const State within =
        member_.state_of(step.t + x * theta * step.h, step.at(x * theta, member_.settings.method));
    return measures_.values(moment_of(sample(within)));
  });
}

Sample Recorder::update_extremes_now() {
  Sample now = sample(member_.state());
  measures_.update_extremes(moment_of(now));
  return now;
}

void Recorder::record_event(Event event) {
  flush_accumulation();
  record_event_now(std::move(event));
}

void Recorder::record_event_now(Event event) {
  const Sample now = update_extremes_now();
  measures_.note(event, moment_of(now));
  records_.note_event(event, moment_of(now));
  event.state = now.state;
  trajectory_.events.push_back(std::move(event));
  count_at_instant(trajectory_.events.back().t);
  const long long limit = member_.settings.max_events;
  if (static_cast<long long>(trajectory_.events.size()) > limit)
    fail(Status::event_limit, "max_events = " + std::to_string(limit) + " used up");
}

void Recorder::count_at_instant(double t) {
  at_last_time_ = t == last_time_ ? at_last_time_ + 1 : 1;
  last_time_ = t;
  if (at_last_time_ > standstill_limit)
    fail(Status::event_lost, "events repeat without end at t = " + number_text(t));
}

void Recorder::set_remainder(std::vector<std::size_t> struck, std::vector<double> impulses,
                             double energy_lost) {
  if (!pending_) return;
  pending_->energy_lost += energy_lost;
  pending_->reached = std::move(struck);
  pending_->impulses = std::move(impulses);
}

void Recorder::flush_accumulation(bool interrupted, bool overloaded) {
  if (!pending_) return;
  Event event = std::move(*pending_);
  pending_.reset();
  // At the limit itself the forces are those of the motion.
  if (!overloaded && !(member_.t < event.t - member_.rounding_of_time())) forget_averaged_extremes();
  event.t = std::min(event.t, member_.t);
  record_event_now(std::move(event));
  if (!interrupted) forget_averaged_extremes();
}

void Recorder::forget_averaged_extremes() {
  if (averaged_.size() > 0) measures_.restore_extremes_of(averaged_, extremes_before_);
  averaged_.resize(0);
}

Sample Recorder::sample(const State& state) const {
  const Equations& equations = member_.equations;
  Sample made{state, Eigen::VectorXd::Zero(static_cast<Eigen::Index>(equations.count())),
              member_.closed_flags(), std::vector<double>(formulas_.observables.outputs())};
  if (!member_.active.empty()) {
    const Accelerations accelerations = constrained_acceleration(equations, state, member_.active);
    if (accelerations.status == Status::ok) made.multipliers = accelerations.multipliers;
    for (std::size_t i = 0; i < member_.conditions.size(); ++i) {
      double& lambda = made.multipliers(static_cast<Eigen::Index>(i));
      if (member_.conditions[i].standing == Standing::closed) lambda = std::max(lambda, 0.0);
    }
  }
  equations.evaluate(formulas_.observables, state,
                     {made.multipliers.data(), static_cast<std::size_t>(made.multipliers.size())},
                     made.closed, made.observables);
  return made;
}

Trajectory Recorder::finish() {
  flush_accumulation();
  trajectory_.last = sample(member_.state());
  const auto integrals = static_cast<Eigen::Index>(member_.system().integrands.size());
  trajectory_.reductions =
      measures_.finish(moment_of(trajectory_.last),
                       member_.y.segment(member_.y.size() - 1 - integrals, integrals), member_.t - begun_);
  const auto& formulas = member_.system().reductions;
  for (std::size_t i = 0; i < formulas.size(); ++i)
    if (is_of_record(formulas[i]))
      trajectory_.reductions[i] =
          records_.reduced(formulas[i], measures_.values(moment_of(trajectory_.last))[i]);
  trajectory_.records = records_.finish();
  trajectory_.measures = measures_.combined(trajectory_.reductions);
  trajectory_.sides = member_.watch_signs;
  return std::move(trajectory_);
}

}  // namespace zwang
