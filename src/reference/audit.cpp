#include "src/reference/audit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "kernels/base/audit_bound.h"
#include "kernels/base/status.h"
#include "src/base/settings.h"
#include "src/expression/scaled.h"

namespace zwang {

namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();
// The squared sine below which a row counts as dependent, as Precision<double>::dependent of the kernels.
constexpr double dependent_row = 1e-14;

// The share of `allowed` that `found` uses. A number that is NaN uses the largest share.
double share_of(double found, double allowed) {
  if (found <= 0) return 0;
  const double share = found / std::max(allowed, std::numeric_limits<double>::min());
  return share < AuditBound::largest_share ? share : AuditBound::largest_share;
}

// The change of T + V if every component of the state is off by its tolerance, and of the work. Components for which it
// is not defined (the edge of a domain) do not count.
double energy_of_tolerance(const MemberState& member, const State& state) {
  const double here = member.equations.energy(state);
  State moved = state;
  double sum = 0;
  for (Eigen::VectorXd* part : {&moved.q, &moved.v, &moved.z})
    for (double& component : *part) {
      const double kept = component;
      component += member.settings.atol + member.settings.rtol * std::abs(kept);
      const double change = std::abs(member.equations.energy(moved) - here);
      if (std::isfinite(change)) sum += change;
      component = kept;
    }
  if (!member.system().does_work()) return sum;
  const Eigen::VectorXd force = member.equations.dynamics(state).applied;
  for (Eigen::Index i = 0; i < force.size(); ++i) {
    const double work =
        std::abs(force(i)) * (member.settings.atol + member.settings.rtol * std::abs(state.q(i)));
    if (std::isfinite(work)) sum += work;
  }
  return sum;
}

// How far the energy law may be off.
double allowed_drift(const MemberState& member, const State& start, const Trajectory& trajectory) {
  const double rtol = member.settings.rtol, atol = member.settings.atol, size = trajectory.audit.energy_size;
  const double masses = member.equations.mass(member.state()).cwiseAbs().sum();
  const double one_step = energy_of_tolerance(member, start) + energy_of_tolerance(member, member.state()) +
                          (2 * rtol + 16 * rounding) * size + atol * std::sqrt(2 * size * masses);
  const auto events = static_cast<long long>(trajectory.events.size());
  return AuditBound::energy * static_cast<double>(trajectory.steps + events + AuditBound::spare_steps) *
         one_step;
}

// A condition at one state, and how far it and its rate may be off.
struct Judged {
  double value = 0, rate = 0, allowed_value = 0, allowed_rate = 0;
};
Judged judged_condition(const MemberState& member, std::size_t i, const State& state, const Sizes& sizes) {
  const std::vector<Scaled> row = member.equations.scaled_row(i, state, sizes);
  double reach = 0;
  for (std::size_t c = 3; c < row.size(); ++c) reach += std::abs(row[c].value);
  const double share = member.settings.rtol + member.settings.contact_tolerance;
  const double absolutely = member.settings.atol * reach;
  return {row[0].value, row[1].value, AuditBound::conditions * (share * row[0].scale + absolutely),
          AuditBound::conditions * (share * row[1].scale + absolutely)};
}

// The share of what is allowed that a condition in force uses.
double condition_share(const MemberState& member, std::size_t i, const Judged& judged) {
  const bool positions = member.system().constraints[i].holonomic;
  if (member.conditions[i].standing == Standing::open)
    return positions ? share_of(judged.value, judged.allowed_value)
                     : share_of(judged.rate, judged.allowed_rate);
  const double rate = share_of(std::abs(judged.rate), judged.allowed_rate);
  return positions ? std::max(rate, share_of(std::abs(judged.value), judged.allowed_value)) : rate;
}

// The magnitudes of coordinates and velocities over the whole motion, as far as they are known: where it
// starts and ends, and of velocities those that the largest energy allows.
Sizes sizes_over_motion(const MemberState& member, const State& start, double energy_size) {
  const State end = member.state();
  const Sizes first = sizes_of(start), last = sizes_of(end);
  const Eigen::MatrixXd mass = member.equations.mass(end);
  Sizes sizes{first.q.cwiseMax(last.q), first.v.cwiseMax(last.v)};
  for (Eigen::Index i = 0; i < sizes.v.size(); ++i)
    if (mass(i, i) > 0) sizes.v(i) = std::max(sizes.v(i), std::sqrt(2 * energy_size / mass(i, i)));
  raise_to_noise(sizes, mass);
  return sizes;
}

// Conditions at the member's end, each by its own scale. What projection left on the way is known only as the
// largest over all of them: it is compared with the largest allowance among the conditions, at the end or,
// where terms have become small since, at the start.
void judge_conditions(const MemberState& member, const State& start, Audit& audit) {
  const Sizes sizes = sizes_over_motion(member, start, audit.energy_size);
  double most_value = 0, most_rate = 0;
  const auto raise_most = [&](const Judged& judged) {
    if (std::isfinite(judged.allowed_value)) most_value = std::max(most_value, judged.allowed_value);
    if (std::isfinite(judged.allowed_rate)) most_rate = std::max(most_rate, judged.allowed_rate);
  };
  for (std::size_t i = 0; i < member.conditions.size(); ++i) {
    const Judged judged = judged_condition(member, i, member.state(), sizes);
    raise_most(judged);
    if (member.in_force(i)) raise_worst(audit.condition_share, condition_share(member, i, judged));
  }
  if (!(audit.position_violation <= most_value && audit.velocity_violation <= most_rate))
    for (std::size_t i = 0; i < member.conditions.size(); ++i)
      raise_most(judged_condition(member, i, start, sizes));
  raise_worst(audit.condition_share, share_of(audit.position_violation, most_value));
  raise_worst(audit.condition_share, share_of(audit.velocity_violation, most_rate));
}

void judge_shocks(Audit& audit) {
  const double allowed = AuditBound::shocks * rounding / std::sqrt(dependent_row);
  raise_worst(audit.shock_share, share_of(audit.kkt, allowed));
  raise_worst(audit.shock_share, share_of(audit.carnot, allowed));
  raise_worst(audit.shock_share, share_of(audit.energy_created, allowed * audit.energy_size));
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

}  // namespace

void raise_worst(double& worst, double value) {
  if (!(value <= worst) && !std::isnan(worst)) worst = value;
}

void audit_open_conditions(const MemberState& member, Audit& audit) {
  const State now = member.state();
  for (std::size_t i = 0; i < member.conditions.size(); ++i)
    if (member.conditions[i].standing == Standing::open && !(member.equations.value(i, now) <= 0))
      raise_worst(audit.condition_share,
                  condition_share(member, i, judged_condition(member, i, now, member.sizes)));
}

void judge_audit(const MemberState& member, const State& start, Trajectory& trajectory) {
  if (trajectory.status != Status::ok && trajectory.status != Status::stopped) return;
  Audit& audit = trajectory.audit;
  const bool adaptive = member.settings.method != IntegratorSettings::Method::rk4;
  if (adaptive || !std::isfinite(audit.energy_drift))
    raise_worst(audit.energy_share, share_of(audit.energy_drift, allowed_drift(member, start, trajectory)));
  judge_conditions(member, start, audit);
  judge_shocks(audit);
  if (audit.energy_share <= 1 && audit.condition_share <= 1 && audit.shock_share <= 1) return;
  trajectory.status = Status::inaccurate;
  trajectory.cause = cause_of_inaccuracy(audit);
}

std::string cause_of_inaccuracy(const Audit& audit) {
  const auto named = [](double share) {
    return share < AuditBound::largest_share ? number(share) + " times" : std::string("far");
  };
  std::string cause;
  const auto add = [&](const std::string& text) { cause += (cause.empty() ? "" : "; ") + text; };
  if (audit.energy_share > 1)
    add("the energy law is off by " + number(audit.energy_drift) + " where the tolerances explain " +
        number(audit.energy_drift / audit.energy_share));
  if (audit.condition_share > 1)
    add("a constraint is violated by " + named(audit.condition_share) + " what the tolerances explain");
  if (audit.shock_share > 1)
    add("a shock violates its laws by " + named(audit.shock_share) + " what rounding explains");
  return cause;
}

}  // namespace zwang
