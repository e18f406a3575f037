// Completion of accumulations: infinitely many shocks in a finite time (mechanics section 5, requirement 5).
#include <algorithm>

#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/laws/least_constraint.h"
#include "src/laws/shock.h"
#include "src/reference/accumulation.h"
#include "src/reference/audit.h"
#include "src/reference/member_state.h"
#include "src/reference/motion.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

namespace {

std::vector<std::size_t> sorted(std::vector<std::size_t> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace

// The time at which the hops of one contact end: the hop that begins now lasts 2|f'|/f'', each later one e
// times the last. Speeds are known more accurately than the times between shocks, so this is better than
// extrapolating times.
double Motion::limit_of_hops(std::size_t contact, const Eigen::VectorXd& accelerations) const {
  const Row row = equations_.row(contact, member_.state());
  const double second = row.a.dot(accelerations) + row.rest, e = formulas_.restitution[contact];
  if (!(row.rate < 0 && second > 0 && e < 1)) return limit_of_sequence();
  return member_.t - 2 * row.rate / (second * (1 - e));
}

// The limit of the sequence of shocks in progress; now if there is none.
double Motion::limit_of_sequence() const {
  return accumulation_.sequence() ? accumulation_.sequence()->limit : member_.t;
}

// A geometric sequence of shocks ends when its remainder is negligible, or when its conditions have come so
// close together that they can no longer be distinguished.
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
    const Accelerations now = constrained_acceleration(equations_, member_.state(), member_.active);
    if (now.status == Status::ok) limit = limit_of_hops(together[0], now.a);
  }
  complete_accumulation(together, limit);
  std::vector<char> closing = touching_now();
  for (const std::size_t i : together) closing[i] = 1;
  if (going()) update_active_set(closing, no_condition);
}

// The velocity after infinitely many shocks is the projection on the intersection of the conditions
// (requirement 5).
void Motion::complete_accumulation(const std::vector<std::size_t>& contacts, double limit) {
  const State before = member_.state();
  // Closed contacts take part in the limit; those closed by the latest shocks belong to the sequence.
  std::vector<std::size_t> resting, accumulating = contacts;
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    if (member_.conditions[i].standing == Standing::closed && equations_.system().constraints[i].holonomic)
      resting.push_back(i);
  for (const std::size_t i : accumulation_.latest())
    if (std::find(resting.begin(), resting.end(), i) != resting.end()) accumulating.push_back(i);
  accumulating = sorted(std::move(accumulating));
  std::vector<std::size_t> all = accumulating;
  all.insert(all.end(), resting.begin(), resting.end());
  const Shock result = accumulation_limit(sorted(std::move(all)));
  if (result.status != Status::ok) {
    fail(result.status, "an accumulation of shocks at t = " + std::to_string(member_.t) + " has no limit");
    return;
  }
  const double energy_before = equations_.energy(before);
  member_.set_velocities(result.v);
  member_.sizes.v = member_.sizes.v.cwiseMax(result.pushed);
  lose_density();
  recorder_.add_energy_lost(energy_before - equations_.energy(member_.state()));
  Audit& audit = recorder_.trajectory().audit;
  raise_worst(audit.kkt, result.kkt);
  // The limit lies a little ahead; the event is listed when the motion gets there.
  recorder_.flush_accumulation();
  Event event{.t = std::max(member_.t, limit), .kind = EventKind::accumulation, .constraints = accumulating};
  event.velocities_jump = true;
  event.energy_lost = result.energy_lost;
  event.velocity_before = before.v;
  event.velocity_after = result.v;
  accumulation_.forget();
  recorder_.set_pending_accumulation(std::move(event));
}

// Velocity limits reached by the sequence are part of its limit. Without them they would open by the small
// remainder of the hops and be reached again at once: a short phase with other forces that depends on
// accumulation_gap.
Shock Motion::accumulation_limit(const std::vector<std::size_t>& contacts) const {
  ShockParticipants all = participants(std::vector<char>(member_.conditions.size(), 0));
  all.contacts = contacts;
  ShockParticipants with_limits = all;
  const auto closed = [&](std::size_t i) { return member_.conditions[i].standing == Standing::closed; };
  std::erase_if(with_limits.velocities, closed);
  std::copy_if(all.velocities.begin(), all.velocities.end(), std::back_inserter(with_limits.equations),
               closed);
  const State before = member_.state();
  const Shock result = completed_shock(equations_, before, member_.sizes, with_limits, settings_.rest_speed);
  if (result.status != Status::infeasible) return result;
  return completed_shock(equations_, before, member_.sizes, all, settings_.rest_speed);
}

}  // namespace zwang
