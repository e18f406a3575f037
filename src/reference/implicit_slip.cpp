// Extrapolated linearly implicit Euler steps.
#include "src/reference/implicit_slip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "src/base/index.h"
#include "src/laws/least_constraint.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// The direction of a slip is that of its sum with this share of what friction changes in the step, along the
// direction at the start: rounding of a slip that has just begun does not turn it.
constexpr double shift_share = 1e-6;
// The law of friction adds this multiple of the mode's direction to the slip, so that the mode alone decides.
constexpr double prescribed = 1e30;
constexpr double small_angle = 1e-5;
constexpr int rows_of_table = 6;
// A slip that ends within so many stable explicit steps, or is within so many roundings of its end, is left
// to them.
constexpr double few_steps = 16, close_to_end = 1000;

}  // namespace

SlipTimes slip_times(const MemberState& member, const Eigen::VectorXd& rate) {
  constexpr double never = std::numeric_limits<double>::infinity();
  SlipTimes times{never, never, never};
  const System& system = member.system();
  if (system.frictions.empty()) return times;
  const State now = member.state();
  const Eigen::MatrixXd mass = member.equations.mass(now);
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const Friction& friction = system.frictions[f];
    if (friction.rows.size() < 2 || !member.slips(f)) continue;
    double squared = 0, change = 0, along = 0, weight = 0;
    for (std::size_t c = 0; c < 2; ++c) {
      const Row slip = member.equations.row(friction.rows[c], now);
      const double growth = slip.a.dot(rate.segment(member.n(), member.n())) + slip.rest;
      squared += slip.rate * slip.rate;
      change += slip.rate * growth;
      along += now.modes(index(friction.first_mode + c)) * growth;
      weight = std::max(weight, slip.a.dot(mass.ldlt().solve(slip.a.transpose())));
    }
    const Eigen::VectorXd forces = constrained_acceleration(member.equations, now, member.active).multipliers;
    const double braking =
        weight * member.equations.friction(f, now).cone * std::abs(forces(index(friction.contact)));
    const double rounding = now.modes(index(friction.first_mode + 2));
    // The direction of a slip within its rounding is that of its mode.
    const double stable = braking > 0 ? 2 * std::sqrt(squared) / braking : never;
    const bool begins = squared <= 100 * rounding * rounding && along > -1e-3 * braking;
    const double halved = change < 0 && !begins ? -0.5 * squared / change : never;
    times.halved = std::min(times.halved, halved);
    // A slip that ends within a few stable steps is left to them, and so is the very end of any slip.
    if (halved > few_steps * stable) times.stable = std::min(times.stable, stable);
    if (halved < never && squared <= close_to_end * close_to_end * rounding * rounding) times.halved = 0;
    if (squared <= 4 * rounding * rounding) {
      // It has vanished, unless it begins: beyond zero the law turns it by noise at a rate of braking over the slip.
      if (along < -1e-6 * braking) times.rest = 0;
      continue;
    }
    const double vanishes = change < 0 ? -0.9 * squared / change : never;
    const double bound = std::min(vanishes, stable);
    times.rest = std::min(times.rest, change < 0 ? bound : std::max(bound, 64 * member.rounding_of_time()));
  }
  return times;
}

ImplicitSlip::ImplicitSlip(const MemberState& member, RatesForModes rates, double t, Eigen::VectorXd y)
    : member_(member), rates_(std::move(rates)), t_(t), start_(std::move(y)), modes_(member.modes) {
  const State now = member_.state_of(t_, start_);
  for (std::size_t f = 0; f < member_.system().frictions.size(); ++f) {
    const Friction& friction = member_.system().frictions[f];
    if (friction.rows.size() < 2 || !member_.slips(f)) continue;
    Slip slip{.friction = f,
              .direction = member_.modes.segment(index(friction.first_mode), 2),
              .rounding = member_.modes(index(friction.first_mode + 2)),
              .shift = 0,
              .braking = 0,
              .turning = {}};
    // A slip within its rounding has the direction in which it begins.
    const Eigen::Vector2d s = member_.slip_of(f, now);
    if (s.norm() > slip.rounding && s.dot(slip.direction) > 0) slip.direction = s / s.norm();
    set_direction(slip, slip.direction);
    slips_.push_back(std::move(slip));
  }
  status_ = find_turning();
}

void ImplicitSlip::set_direction(const Slip& slip, const Eigen::Vector2d& direction) {
  const Eigen::Index first = index(member_.system().frictions[slip.friction].first_mode);
  modes_.segment(first, 2) = direction;
  modes_(first + 2) = prescribed;
}

// Accelerations with one direction turned by a small angle, against those with none.
Status ImplicitSlip::find_turning() {
  const Eigen::Index n = member_.n();
  Eigen::VectorXd rate, turned;
  if (const Status status = rates_(t_, start_, modes_, rate); status != Status::ok) return status;
  for (Slip& slip : slips_) {
    const Eigen::Vector2d& e = slip.direction;
    set_direction(slip, e + small_angle * Eigen::Vector2d(-e(1), e(0)));
    if (const Status status = rates_(t_, start_, modes_, turned); status != Status::ok) return status;
    set_direction(slip, e);
    slip.turning = (turned - rate).segment(n, n) / small_angle;
    slip.braking = std::abs(state_of(slip, t_, start_).row.dot(slip.turning));
  }
  return Status::ok;
}

ImplicitSlip::SlipState ImplicitSlip::state_of(const Slip& slip, double t, const Eigen::VectorXd& y) const {
  const State now = member_.state_of(t, y);
  const Friction& friction = member_.system().frictions[slip.friction];
  const Row first = member_.equations.row(friction.rows[0], now),
            second = member_.equations.row(friction.rows[1], now);
  const Eigen::Vector2d& e = slip.direction;
  return {e(0) * first.rate + e(1) * second.rate, e(0) * second.rate - e(1) * first.rate,
          e(0) * second.a - e(1) * first.a};
}

// Prescribes the direction that a slip has at a state, and returns the tangent of its angle from that at the
// start. A slip that seems to run backwards, within the errors of an Euler step or beyond its end, keeps its
// side.
double ImplicitSlip::follow_slip(const Slip& slip, double t, const Eigen::VectorXd& y) {
  const SlipState state = state_of(slip, t, y);
  const Eigen::Vector2d &e = slip.direction, s(std::max(state.along, 0.0) + slip.shift, state.across);
  if (!(s(0) > 0)) {
    set_direction(slip, e);
    return 0;
  }
  set_direction(slip, (s(0) * e + s(1) * Eigen::Vector2d(-e(1), e(0))) / s.norm());
  return s(1) / s(0);
}

// phi from (|s| - h D G) phi = s(v + h a) - |s| theta, at the state y after the Euler step; `angles` are
// theta.
Eigen::VectorXd ImplicitSlip::turn_directions(double t, const Eigen::VectorXd& y, double h,
                                              const Eigen::VectorXd& angles) const {
  const Eigen::Index count = angles.size();
  Eigen::MatrixXd matrix(count, count);
  Eigen::VectorXd right(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Slip& slip = slips_[static_cast<std::size_t>(i)];
    const SlipState state = state_of(slip, t, y);
    const double size = std::max(state.along, 0.0) + slip.shift;
    for (Eigen::Index j = 0; j < count; ++j)
      matrix(i, j) = -h * state.row.dot(slips_[static_cast<std::size_t>(j)].turning);
    matrix(i, i) += size;
    right(i) = state.across - size * angles(i);
  }
  return matrix.fullPivLu().solve(right);
}

Status ImplicitSlip::euler_steps(double h, int parts, Eigen::VectorXd& y) {
  const Eigen::Index n = member_.n(), count = index(slips_.size());
  const double length = h / parts;
  y = start_;
  for (int part = 0; part < parts; ++part) {
    const double now = t_ + length * part;
    Eigen::VectorXd angles(count), rate;
    for (Eigen::Index i = 0; i < count; ++i)
      angles(i) = follow_slip(slips_[static_cast<std::size_t>(i)], now, y);
    if (const Status status = rates_(now, y, modes_, rate); status != Status::ok) return status;
    y += length * rate;
    const Eigen::VectorXd turns = turn_directions(t_ + length * (part + 1), y, length, angles);
    for (Eigen::Index i = 0; i < count; ++i)
      y.segment(n, n) += length * turns(i) * slips_[static_cast<std::size_t>(i)].turning;
  }
  return y.allFinite() ? Status::ok : Status::not_finite;
}

Step ImplicitSlip::take(double h) {
  Step step{.status = status_,
            .t = t_,
            .h = h,
            .start = start_,
            .end = {},
            .error = {},
            .rates = {},
            .cubic = true};
  if (status_ != Status::ok) return step;
  for (Slip& slip : slips_) slip.shift = std::max(slip.rounding, shift_share * slip.braking * h);
  std::array<Eigen::VectorXd, rows_of_table> table;
  for (int j = 0; j < rows_of_table; ++j) {
    step.status = euler_steps(h, j + 1, table[static_cast<std::size_t>(j)]);
    if (step.status != Status::ok) return step;
    // A polynomial in the length of the Euler steps, extrapolated to 0 (Neville's scheme).
    for (int l = j; l > 0; --l) {
      const Eigen::VectorXd &fine = table[static_cast<std::size_t>(l)],
                            &coarse = table[static_cast<std::size_t>(l - 1)];
      table[static_cast<std::size_t>(l - 1)] = fine + double(l) / (j + 1 - l) * (fine - coarse);
    }
  }
  // From T(j, k) with n_j = j + 1 parts: the weight of the difference is 1/(n_j/n_(j-k) - 1).
  step.end = table[0];
  step.error = table[0] - table[1];
  step.status = rates_(t_, start_, member_.modes, step.rates[0]);
  if (step.status == Status::ok) step.status = rates_(t_ + h, step.end, member_.modes, step.rates[6]);
  return step;
}

}  // namespace zwang
