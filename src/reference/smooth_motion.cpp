// Right-hand side, step bounds and error control.
#include "src/reference/smooth_motion.h"

#include <algorithm>
#include <cmath>

#include "src/base/error.h"
#include "src/base/settings.h"
#include "src/expression/scaled.h"
#include "src/laws/least_constraint.h"
#include "src/system/system.h"

namespace zwang {

SmoothMotion::SmoothMotion(const MemberState& member, const MotionFormulas& formulas)
    : member_(member), formulas_(formulas), branches_(formulas.branches.size(), 0) {}

// q' = v, v' = a, z' as the study defines it, the integrands, and the power of all but potential forces;
// beside them the multipliers.
Status SmoothMotion::right_side(double t, const Eigen::VectorXd& y, const std::vector<double>& branches,
                                const std::vector<std::size_t>& active, Eigen::VectorXd& rate,
                                Eigen::VectorXd& multipliers) const {
  State now = member_.state_of(t, y);
  if (near_dependence_ && !project_within_step(member_, h_tried_, now)) return Status::singular;
  return right_side_of(now, branches, active, rate, multipliers);
}

Status SmoothMotion::right_side_of(const State& now, const std::vector<double>& branches,
                                   const std::vector<std::size_t>& active, Eigen::VectorXd& rate,
                                   Eigen::VectorXd& multipliers) const {
  const Equations& equations = member_.equations;
  const Eigen::Index n = member_.n();
  const Accelerations accelerations = constrained_acceleration(equations, now, active);
  if (accelerations.status != Status::ok) return accelerations.status;
  multipliers = accelerations.multipliers;
  const auto nz = now.z.size();
  rate.resize(member_.y.size());
  rate.head(n) = now.v;
  for (Eigen::Index i = 0; i < n; ++i)
    if (member_.system().is_turn(static_cast<std::size_t>(i)))
      rate(i) = 0;  // orientations are states of their own
  rate.segment(n, n) = accelerations.a;
  rate.segment(2 * n, nz) = accelerations.dynamics.rates;
  // d log rho/dt = -div [voss-11]
  if (formulas_.divergence)
    rate(2 * n + static_cast<Eigen::Index>(*member_.system().density)) =
        -formulas_.divergence->at(now, active, accelerations.a, multipliers);
  const std::size_t integrals = formulas_.integrands.outputs();
  if (integrals > 0) {
    std::vector<double> closed(equations.count(), 0);
    for (const std::size_t i : active) closed[i] = 1;
    equations.evaluate(formulas_.integrands, now,
                       {multipliers.data(), static_cast<std::size_t>(multipliers.size())}, closed,
                       {rate.data() + 2 * n + nz, integrals}, branches);
  }
  // Reactions do work only where conditions move: (M a - Q) v = -lambda A v.
  const Eigen::VectorXd reaction =
      accelerations.dynamics.mass * accelerations.a - accelerations.dynamics.applied;
  rate(rate.size() - 1) = accelerations.dynamics.power + reaction.dot(now.v);
  return rate.allFinite() ? Status::ok : Status::not_finite;
}

Status SmoothMotion::right_side(double t, const Eigen::VectorXd& y, const std::vector<double>& branches,
                                Eigen::VectorXd& rate) const {
  Eigen::VectorXd multipliers;
  return right_side(t, y, branches, member_.active, rate, multipliers);
}

RightSide SmoothMotion::with_branches(const std::vector<double>& branches) const {
  return [this, &branches](double t, const Eigen::VectorXd& y, Eigen::VectorXd& rate) {
    return right_side(t, y, branches, rate);
  };
}

// The fastest argument of a periodic or bump-like function, in units of what it may run within a step.
double SmoothMotion::argument_speed(const State& state) const {
  double fastest = 0;
  std::vector<double> values(formulas_.turns.outputs());
  member_.equations.evaluate(formulas_.turns, state, {}, {}, values);
  for (std::size_t k = 0; k + 1 < values.size(); k += 2)
    if (values[k] != 0) fastest = std::max(fastest, std::abs(values[k] / values[k + 1]));
  return fastest;
}

// The longest step allowed here, at most h. Speeds of arguments change within a step: a body at rest may fall
// past a whole row of obstacles. Over a step h with these accelerations an argument runs rate h + growth
// h^2/2, which is bounded by 1.
double SmoothMotion::step_bound(double h, double next_scheduled_time, const Eigen::VectorXd& rate) const {
  h = std::min(h, member_.settings.max_step);
  if (formulas_.turns.outputs() == 0) return h;
  const double length = std::min(h, next_scheduled_time - member_.t);
  State later = member_.state();
  const double now = argument_speed(later);
  later.t += length;
  later.v += length * rate.segment(member_.n(), member_.n());
  const double growth = std::max(argument_speed(later) - now, 0.0) / length;
  return std::min(h, 2 / (now + std::sqrt(now * now + 2 * growth)));
}

// Where accelerations change too, a step within the bound may still have run too far.
bool SmoothMotion::arguments_moved_too_far(const Step& step) const {
  if (formulas_.turns.outputs() == 0) return false;
  const State middle = member_.state_of(step.t + step.h / 2, step.at(0.5, member_.settings.method));
  const double sum = argument_speed(member_.state_of(step.t, step.start)) + 4 * argument_speed(middle) +
                     argument_speed(member_.state_of(step.t + step.h, step.end));
  return step.h * sum / 6 > 1.5;
}

// Near a dependence of the active constraints the projection at the step's end must not change the branch.
bool SmoothMotion::ends_on_branch(const Step& step) const {
  if (!near_dependence_) return true;
  State end = member_.state_of(step.t + step.h, step.end);
  return project_within_step(member_, step.h, end);
}

ImplicitSlip SmoothMotion::implicit_slip(double t, const Eigen::VectorXd& y,
                                         const std::vector<double>& branches) const {
  const auto rates = [this, &branches](double when, const Eigen::VectorXd& at, const Eigen::VectorXd& modes,
                                       Eigen::VectorXd& rate) {
    State now = member_.state_of(when, at);
    now.modes = modes;
    Eigen::VectorXd multipliers;
    return right_side_of(now, branches, member_.active, rate, multipliers);
  };
  return {member_, rates, t, y};
}

// A step that is implicit in the directions of slips, where explicit ones would have to be much shorter for
// the sake of stability. False: explicit steps do, and nothing has been changed but the count of rejected
// steps.
bool SmoothMotion::take_implicit_step(const SlipTimes& times, const Eigen::VectorXd& rate, double room,
                                      NextStep& next) {
  // An implicit step costs as much as two explicit ones. Where these have become short for the sake of
  // stability, the length that they propose says nothing about the motion.
  constexpr double worthwhile = 2, ahead = 8;
  // Slips of one body vanish together: within so many roundings of the time one of them may have ended
  // already.
  constexpr double shortest = 1 << 14;
  const double longest = std::min(step_bound(std::max(h_, ahead * times.stable), member_.t + room, rate),
                                  std::min(times.halved, room));
  if (!(worthwhile * times.stable < std::min(h_, longest))) return false;
  double h = longest;
  ImplicitSlip slip = implicit_slip(member_.t, member_.y, branches_);
  while (h > shortest * member_.rounding_of_time() && worthwhile * times.stable < h) {
    static_cast<Step&>(next.step) = slip.take(h);
    const double error =
        next.step.status == Status::ok ? error_size(next.step) : std::numeric_limits<double>::infinity();
    const double factor = error > 0 ? std::clamp(0.8 * std::pow(error, -0.2), 0.1, 5.0) : 5.0;
    if (error <= 1 && !arguments_moved_too_far(next.step)) {
      h_ = h >= room * (1 - 1e-10) ? std::max(h_, h * factor) : h * factor;
      next.step.branches = branches_;
      next.step.implicit = true;
      return true;
    }
    ++next.rejected;
    h *= std::min(factor, 0.5);
  }
  next.step = {};
  return false;
}

double SmoothMotion::error_size(const Step& step) const {
  const IntegratorSettings& settings = member_.settings;
  // The work integral serves the audit only and does not control the step size.
  const Eigen::Index count = member_.y.size() - 1;
  double sum = 0;
  for (Eigen::Index i = 0; i < count; ++i) {
    const double size = std::max(std::abs(step.start(i)), std::abs(step.end(i)));
    const double ratio = step.error(i) / (settings.atol + settings.rtol * size);
    sum += ratio * ratio;
  }
  return std::sqrt(sum / static_cast<double>(count));
}

// A first guess: a hundredth of the time the state takes to change by its own size (or by the tolerance's).
double SmoothMotion::initial_step(const Eigen::VectorXd& rate, double end) const {
  const Eigen::VectorXd& y = member_.y;
  double size = 0, speed = 0;
  for (Eigen::Index i = 0; i + 1 < y.size(); ++i) {
    const double scale = member_.settings.atol + member_.settings.rtol * std::abs(y(i));
    size = std::max(size, std::abs(y(i)) / scale);
    speed = std::max(speed, std::abs(rate(i)) / scale);
  }
  const double span = end - member_.t;
  if (!(speed > 0) || !(size > 0)) return 1e-3 * span;
  // A state at rest at zero has no size and no speed but rounding: the ratio then means nothing.
  const double least = std::max(1e-8 * span, 100 * member_.rounding_of_time());
  return std::min(span, std::max(least, 0.01 * size / speed));
}

// Integrands keep the branch they have at the start of the step. Where the start is at a jump or kink, the
// branch is that of a little later, when the function is clearly off zero.
std::vector<double> SmoothMotion::choose_branches(const Eigen::VectorXd& rate) const {
  std::vector<double> branches = branches_;
  const RightSide f = with_branches(branches);
  for (std::size_t k = 0; k < branches.size(); ++k) {
    const Scaled value = member_.scaled_kink(formulas_.kinks[k], member_.state());
    const double zero = member_.settings.contact_tolerance * value.scale;
    State ahead = member_.state();
    for (double theta = 0x1p-28;
         theta <= 1 && std::abs(member_.kink_value(formulas_.kinks[k], ahead)) <= zero; theta *= 4) {
      const Step part = runge_kutta_step(member_.settings.method, f, member_.t, member_.y, rate, theta * h_);
      if (part.status == Status::ok) ahead = member_.state_of(member_.t + theta * h_, part.end);
    }
    branches[k] = member_.kink_value(formulas_.branches[k], ahead);
  }
  return branches;
}

NextStep SmoothMotion::next_step(double next_scheduled_time, double end) {
  const double t = member_.t;
  NextStep next;
  const auto failed = [&](Status status, const char* cause) {
    next.status = status;
    next.cause = cause + (" at t = " + number_text(t));
    return next;
  };
  Eigen::VectorXd rate;
  near_dependence_ = false;
  Status trouble = right_side(t, member_.y, branches_, rate);
  if (trouble != Status::ok) return failed(trouble, "no acceleration");
  const bool fixed = member_.settings.method == IntegratorSettings::Method::rk4;
  if (!(h_ > 0)) h_ = initial_step(rate, end);
  if (!branches_.empty()) {
    branches_ = choose_branches(rate);
    right_side(t, member_.y, branches_, rate);
  }
  const RightSide f = with_branches(branches_);
  const SlipTimes slips = slip_times(member_, rate);
  double h = std::min(step_bound(fixed ? member_.settings.step : h_, next_scheduled_time, rate), slips.rest);
  const double room = next_scheduled_time - t;
  const Approach approach =
      formulas_.rows_may_become_dependent ? passage_.approach(member_, rate, std::min(h, room)) : Approach{};
  if (approach.status != Status::ok)
    return failed(approach.status, "the active constraints are linearly dependent");
  near_dependence_ = approach.near;
  if (!fixed && !near_dependence_ && take_implicit_step(slips, rate, room, next)) return next;
  for (;;) {
    if (near_dependence_) h = plan_step(member_.settings.method, std::min(h, room), approach.time);
    // End the step at the scheduled time; never leave a sliver of a step before it.
    const bool clipped = h >= room * (1 - 1e-10);
    if (clipped) h = room;
    if (!clipped && h > room / 2 && !fixed && !near_dependence_) h = room / 2;
    if (!(h > member_.rounding_of_time())) {
      if (near_dependence_)
        return failed(Status::singular, "the active constraints become linearly dependent");
      return failed(trouble == Status::ok ? Status::step_too_small : trouble, "no step could be taken");
    }
    h_tried_ = h;
    static_cast<Step&>(next.step) = runge_kutta_step(member_.settings.method, f, t, member_.y, rate, h);
    trouble = next.step.status;
    if (trouble != Status::ok) {
      ++next.rejected;
      h /= 4;
      continue;
    }
    if (near_dependence_) next.step.error = tangential(member_, next.step);
    const double error = fixed ? 0 : error_size(next.step);
    if (error <= 1 && (arguments_moved_too_far(next.step) || !ends_on_branch(next.step))) {
      ++next.rejected;
      h /= 2;
      continue;
    }
    if (error <= 1) {
      const double factor = error > 0 ? std::clamp(0.9 * std::pow(error, -0.2), 0.2, 5.0) : 5.0;
      h_ = clipped ? std::max(h_, h * factor) : h * factor;
      next.step.branches = branches_;
      if (near_dependence_) {
        next.step.dependence = approach.time / h;
        next.step.excluded = approach.excluded / h;
      }
      return next;
    }
    ++next.rejected;
    h *= std::isfinite(error) ? std::clamp(0.9 * std::pow(error, -0.2), 0.1, 0.9) : 0.1;
  }
}

PartialStep SmoothMotion::flow(const SmoothStep& step, double theta) const {
  if (theta <= 0) return {Status::ok, step.start};
  if (theta >= 1) return {Status::ok, step.end};
  // The last stages of a partial step that ends close to a dependence would be dominated by rounding.
  if (std::abs(theta - step.dependence) < step.excluded)
    return {Status::ok, step.at(theta, member_.settings.method)};
  if (step.implicit) {
    const Step part = implicit_slip(step.t, step.start, step.branches).take(theta * step.h);
    return {part.status, part.end};
  }
  const Step part = runge_kutta_step(member_.settings.method, with_branches(step.branches), step.t,
                                     step.start, step.rates[0], theta * step.h);
  // A stage of the partial step may be too close to a dependence, unlike those of the step.
  if (part.status == Status::singular) return {Status::ok, step.at(theta, member_.settings.method)};
  return {part.status, part.end};
}

}  // namespace zwang
