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

// The direction of a slip is that of its sum with this share of what friction changes in the step, along the direction
// at the start: rounding of a slip that has just begun does not turn it.
constexpr double shift_share = 1e-6;
// The law of friction adds this multiple of the mode's direction to the slip, so that the mode alone decides.
constexpr double prescribed = 1e30;
constexpr double small_angle = 1e-5;
constexpr int rows_of_table = 6;

double across(const Eigen::Vector2d& e, const Eigen::Vector2d& x) { return e(0) * x(1) - e(1) * x(0); }

}  // namespace

SlipTimes slip_times(const MemberState& member, const Eigen::VectorXd& rate) {
  constexpr double never = std::numeric_limits<double>::infinity();
  SlipTimes times{never, never, never, false};
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
    if (braking > 0) times.stable = std::min(times.stable, 2 * std::sqrt(squared) / braking);
    // A slip within its rounding has no direction yet, or none any more: the side that its mode has decides.
    if (squared <= 100 * rounding * rounding && along > -1e-3 * braking)
      times.begins = true;
    else if (change < 0)
      times.halved = std::min(times.halved, -0.5 * squared / change);
    if (squared <= 4 * rounding * rounding) continue;
    const double vanishes = change < 0 ? -0.9 * squared / change : never;
    const double stable = braking > 0 ? 2 * std::sqrt(squared) / braking : never;
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
              .size = 0,
              .rounding = member_.modes(index(friction.first_mode + 2)),
              .shift = 0,
              .braking = 0,
              .across = {},
              .turning = {}};
    const Eigen::Vector2d s = member_.slip_of(f, now);
    slip.size = s.norm();
    // A slip within its rounding has the direction in which it begins.
    if (slip.size > slip.rounding && s.dot(slip.direction) > 0) slip.direction = s / slip.size;
    slip.across = slip.direction(0) * member_.equations.row(friction.rows[1], now).a -
                  slip.direction(1) * member_.equations.row(friction.rows[0], now).a;
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
    slip.braking = std::abs(slip.across.dot(slip.turning));
  }
  return Status::ok;
}

// The direction of a slip at a state; beyond the end of the slip it is the side that it had.
ImplicitSlip::SlipState ImplicitSlip::state_of(const Slip& slip, double t, const Eigen::VectorXd& y) const {
  const State now = member_.state_of(t, y);
  const Friction& friction = member_.system().frictions[slip.friction];
  Eigen::Vector2d shifted = slip.shift * slip.direction, rest;
  for (Eigen::Index c = 0; c < 2; ++c) {
    const Row row = member_.equations.row(friction.rows[static_cast<std::size_t>(c)], now);
    shifted(c) += row.rate;
    rest(c) = row.rest;
  }
  const double length = shifted.norm(), side = shifted.dot(slip.direction) < 0 ? -1 : 1;
  const Eigen::Vector2d direction = length > 0 ? Eigen::Vector2d(side / length * shifted) : slip.direction;
  return {direction, across(slip.direction, rest)};
}

// (|s| - h D G) phi = h (D a + c), v+ = v + h (a + G phi); everything else by Euler's method.
Status ImplicitSlip::euler_steps(double h, int parts, Eigen::VectorXd& y) {
  const Eigen::Index n = member_.n(), count = index(slips_.size());
  const double length = h / parts;
  Eigen::MatrixXd matrix(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Slip& slip = slips_[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j < count; ++j)
      matrix(i, j) = -length * slip.across.dot(slips_[static_cast<std::size_t>(j)].turning);
    matrix(i, i) += slip.size + slip.shift;
  }
  const Eigen::FullPivLU<Eigen::MatrixXd> solver(matrix);
  y = start_;
  for (int part = 0; part < parts; ++part) {
    const double now = t_ + length * part;
    Eigen::VectorXd right(count), rate;
    for (Eigen::Index i = 0; i < count; ++i) {
      const Slip& slip = slips_[static_cast<std::size_t>(i)];
      const SlipState state = state_of(slip, now, y);
      set_direction(slip, state.direction);
      right(i) = state.drift;
    }
    if (const Status status = rates_(now, y, modes_, rate); status != Status::ok) return status;
    for (Eigen::Index i = 0; i < count; ++i)
      right(i) += slips_[static_cast<std::size_t>(i)].across.dot(rate.segment(n, n));
    const Eigen::VectorXd angles = solver.solve(length * right);
    for (Eigen::Index i = 0; i < count; ++i)
      rate.segment(n, n) += angles(i) * slips_[static_cast<std::size_t>(i)].turning;
    y += length * rate;
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
