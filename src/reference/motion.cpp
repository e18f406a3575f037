// One member's motion from its start to its end.
#include "src/reference/motion.h"

#include <algorithm>
#include <cmath>

#include "src/base/error.h"
#include "src/expression/evaluate.h"
#include "src/expression/scaled.h"
#include "src/laws/project.h"
#include "src/reference/audit.h"
#include "src/reference/row_dependence.h"
#include "src/reference/runge_kutta.h"
#include "src/system/friction.h"
#include "src/system/system.h"

namespace zwang {

Motion::Motion(const Equations& equations, const IntegratorSettings& settings, const Plan& plan)
    : equations_(equations),
      settings_(settings),
      plan_(plan),
      formulas_(equations),
      member_(equations, settings_),
      smooth_(member_, formulas_),
      recorder_(member_, formulas_, plan_),
      schedule_(equations),
      accumulation_(settings.accumulation_gap, settings.rtol),
      autonomous_(equations.system().bounds_forces() && is_autonomous(equations.system())) {
  for (std::size_t i = 0; i < equations.count(); ++i) {
    const auto [from, until] = time_in_force(equations, i);
    if (from < 0 && until > 0 && !equations.system().constraints[i].slip_of)
      member_.conditions[i].standing =
          equations.system().constraints[i].equation ? Standing::equation : Standing::open;
  }
}

Trajectory Motion::run(const State& start) {
  Trajectory made = integrate(begin(start));
  judge_audit(member_, start, made);
  return made;
}

// [mayer-§4] Smooth motion with the active conditions as equations, until one of them is released or another
// is reached.
Trajectory Motion::integrate(bool begun) {
  while (begun && going()) {
    if (is_at_rest_for_good())
      rest_until_scheduled_time();
    else if (!move_by_a_step())
      break;
    if (going()) apply_scheduled_events();
    finished_ = at_end();
    const Status status = recorder_.trajectory().status;
    if (status == Status::ok || status == Status::stopped) recorder_.emit_output_now(smooth_.step_length());
  }
  recorder_.trajectory().shocks = accumulation_;
  return recorder_.finish();
}

// One step, to its end or to the first event within it, which is dispatched. False: the motion has no next step.
bool Motion::move_by_a_step() {
  const std::optional<SmoothStep> step = next_step();
  if (!step) return false;
  const std::optional<LocatedEvent> located = first_event(member_, formulas_, smooth_, *step);
  if (located && located->status != Status::ok) {
    fail(located->status,
         "an event near t = " + number_text(step->t + located->theta * step->h) + " has no state");
    return false;
  }
  advance(*step, located ? located->theta : 1, located ? located->y : step->end);
  if (going() && located) dispatch_event(*located);
  return true;
}

// Whether nothing can change any more: as many independent rows hold as there are coordinates, none of them demands a
// velocity (what sticks to a belt moves on), no integral grows, and nothing depends on the time. What velocities there are
// is rounding.
bool Motion::is_at_rest_for_good() const {
  const auto n = static_cast<std::size_t>(member_.n());
  if (!autonomous_ || member_.active.size() < n) return false;
  State still = member_.state();
  still.v.setZero();
  for (const std::size_t row : member_.active)
    if (equations_.rate(row, still) != 0) return false;
  if (row_dependence(equations_, still, member_.active).rank < n) return false;
  Eigen::VectorXd y = member_.y, rate, multipliers;
  y.segment(member_.n(), member_.n()).setZero();
  const Status status = smooth_.rates_with(member_.active, member_.t, y, rate, multipliers);
  return status == Status::ok && (rate.tail(rate.size() - 2 * member_.n()).array() == 0).all();
}

void Motion::rest_until_scheduled_time() {
  if (!count_step()) return;
  member_.set_velocities(Eigen::VectorXd::Zero(member_.n()));
  recorder_.emit_outputs_at_rest(next_scheduled_time());
  member_.t = next_scheduled_time();
  recorder_.update_extremes_now();
  recorder_.audit_energy();
}

std::optional<SmoothStep> Motion::next_step() {
  renew_slip_directions();
  NextStep next = smooth_.next_step(next_scheduled_time(), plan_.end);
  recorder_.trajectory().rejected += next.rejected;
  if (next.status == Status::ok) return std::move(next.step);
  if (next.status == Status::step_too_small && rest_unresolved_slip())
    return going() ? next_step() : std::nullopt;
  fail(next.status, next.cause);
  return std::nullopt;
}

bool Motion::begin(const State& start) {
  if (!set_initial_state(start)) return false;
  apply_scheduled_events();
  return going() && open_record();
}

// The state with nothing integrated yet; false when no motion can start from it.
bool Motion::set_initial_state(const State& start) {
  const System& system = equations_.system();
  const Eigen::Index n = member_.n(), nz = start.z.size();
  member_.t = start.t;
  member_.y.setZero(2 * n + nz + static_cast<Eigen::Index>(system.integrands.size()) + 1);
  member_.y.head(n) = start.q;
  member_.y.segment(n, n) = start.v;
  member_.y.segment(2 * n, nz) = start.z;
  member_.modes = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(system.modes));
  member_.sizes = sizes_of(start);
  raise_to_noise(member_.sizes, equations_.mass(start));
  member_.watch_signs.assign(system.watches.size(), 0);
  const double energy = equations_.energy(start);
  recorder_.set_start(start.t, energy);
  recorder_.start_records(start.t);
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    const Constraint& constraint = system.constraints[i];
    const double restitution = formulas_.restitution[i];
    if (!(restitution >= 0 && restitution <= 1))
      fail(Status::inconsistent_start, "restitution of '" + constraint.name + "' is not between 0 and 1");
    if (constraint.radius && !(equations_.evaluate(Program(*system.pool, {*constraint.radius}), start) > 0))
      fail(Status::inconsistent_start, "the distance in '" + constraint.name + "' is not positive");
  }
  check_coefficients(start);
  if (!member_.y.allFinite() || !std::isfinite(energy))
    fail(Status::not_finite, "the initial state is not finite");
  return going();
}

// Coefficients of friction and bounds outside their range, as draws may be.
void Motion::check_coefficients(const State& start) {
  const System& system = equations_.system();
  const auto check = [&](bool holds, std::size_t condition, const std::string& what) {
    const std::string& name = system.constraints[condition].name;
    if (!holds) fail(Status::inconsistent_start, what + " of '" + name + "' is out of range");
  };
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const FrictionValues law = equations_.friction(f, start);
    const std::size_t contact = system.frictions[f].contact;
    check(law.cone >= 0, contact, "friction");
    check(law.cone_static >= law.cone, contact, "friction_static");
    check(law.restitution >= 0 && law.restitution <= 1, contact, "restitution_tangential");
  }
  for (std::size_t b = 0; b < system.bounds.size(); ++b) {
    check(equations_.bound(b).limit > 0, system.bounds[b].condition, "limit");
    check(equations_.bound(b).impulse_limit >= 0, system.bounds[b].condition, "impulse_limit");
  }
  for (std::size_t l = 0; l < system.link_limits.size(); ++l)
    if (!(equations_.link_limit(l) > 0))
      fail(Status::inconsistent_start, "limit of '" + system.link_limits[l].name + "' is out of range");
}

bool Motion::open_record() {
  recorder_.start_measures();
  recorder_.audit_energy();
  recorder_.emit_output_now(smooth_.step_length());
  update_watch_signs();
  finished_ = at_end();
  return going();
}

// False: there may be no more steps, and the member fails.
bool Motion::count_step() {
  const long long steps = ++recorder_.trajectory().steps;
  if (steps >= settings_.max_steps) {
    fail(Status::step_limit, "max_steps = " + std::to_string(settings_.max_steps) + " used up");
    return false;
  }
  const long long tried = steps + recorder_.trajectory().rejected;
  if (tried >= plan_.max_trial_steps) {
    recorder_.trajectory().given_up = true;
    fail(Status::step_limit, std::to_string(tried) + " trial steps used up");
    return false;
  }
  return true;
}

// Moves the member to the fraction theta of a step, where the state is `end`, and records the motion up to
// there.
void Motion::advance(const SmoothStep& step, double theta, const Eigen::VectorXd& end) {
  if (!count_step()) return;
  const bool whole = theta >= 1;
  const double until = whole && next_scheduled_time() <= step.t + step.h * (1 + 1e-15)
                           ? next_scheduled_time()
                           : step.t + theta * step.h;
  recorder_.emit_outputs_until(step, until, smooth_);
  recorder_.refine_extremes(step, theta);
  measure_sizes(step, theta, end);
  member_.y = end;
  member_.t = until;
  if (!member_.y.allFinite()) {
    fail(Status::not_finite, "the state is no longer finite");
    return;
  }
  project_drift();
  audit_open_conditions(member_, recorder_.trajectory().audit);
  const Sample now = recorder_.update_extremes_now();
  recorder_.audit_energy();
  update_certainties(now);
}

// Arms conditions that are clearly below zero, and sets the signs of watched functions that are clearly off
// zero.
void Motion::update_certainties(const Sample& now) {
  for (std::size_t i = 0; i < member_.conditions.size(); ++i) {
    ConditionState& condition = member_.conditions[i];
    if (condition.standing == Standing::open && !condition.armed) {
      const double elapsed = member_.t - condition.since;
      const double clearly = member_.zero_of(i, now.state).value + 0.5 * condition.noise * elapsed * elapsed;
      condition.armed = equations_.value(i, now.state) < -clearly;
    }
    // A multiplier that has been large comes back to zero only to the rounding of its former size.
    const double lambda = std::abs(now.multipliers(static_cast<Eigen::Index>(i)));
    if (condition.standing == Standing::closed)
      condition.multiplier_zero =
          std::max(condition.multiplier_zero, 10 * settings_.contact_tolerance * lambda);
  }
  for (std::size_t k = 0; k < member_.watch_signs.size(); ++k) {
    const Scaled value = member_.scaled_watch(formulas_.watches[k], now.state, member_.last_duration);
    if (member_.watch_signs[k] == 0 && std::abs(value.value) > settings_.contact_tolerance * value.scale)
      member_.watch_signs[k] = value.value > 0 ? 1 : -1;
  }
}

// The sizes of coordinates and velocities along the step just taken: their rounding is proportional to them.
void Motion::measure_sizes(const Step& step, double theta, const Eigen::VectorXd& end) {
  const Eigen::Index n = member_.n();
  member_.last_duration = theta * step.h;
  const Eigen::VectorXd travel = (theta * step.h * step.start.segment(n, n)).cwiseAbs();
  member_.sizes.q = step.start.head(n).cwiseAbs().cwiseMax(end.head(n).cwiseAbs()).cwiseMax(travel);
  member_.sizes.v = step.start.segment(n, n).cwiseAbs().cwiseMax(end.segment(n, n).cwiseAbs());
  raise_to_noise(member_.sizes, equations_.mass(member_.state()));
}

// Positions and velocities back onto the active conditions (mechanics section 5, drift).
void Motion::project_drift() {
  if (member_.active.empty()) return;
  State now = member_.state();
  const Residuals left = project(equations_, now, member_.sizes, member_.active);
  member_.set_positions(now.q);
  member_.set_velocities(now.v);
  member_.set_auxiliaries(now.z);
  Audit& audit = recorder_.trajectory().audit;
  raise_worst(audit.position_violation, left.position);
  raise_worst(audit.velocity_violation, left.velocity);
}

Start prepare_start(const Equations& equations, const IntegratorSettings& settings, State& state) {
  std::vector<std::size_t> in_force;
  std::vector<char> imposed(equations.count(), 0);
  const std::vector<Constraint>& constraints = equations.system().constraints;
  for (std::size_t i = 0; i < equations.count(); ++i) {
    const auto [from, until] = time_in_force(equations, i);
    if (from > 0 || until <= 0 || !projected_at_start(constraints[i], false)) continue;
    in_force.push_back(i);
    imposed[i] = from == 0 || !projected_at_start(constraints[i], true);
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
