// Completion of accumulations: infinitely many shocks in a finite time (mechanics section 5, requirement 5).
#include <algorithm>
#include <cmath>

#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/base/index.h"
#include "src/laws/friction_shock.h"
#include "src/laws/least_constraint.h"
#include "src/laws/shock.h"
#include "src/reference/accumulation.h"
#include "src/reference/audit.h"
#include "src/reference/member_state.h"
#include "src/reference/motion.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Multipliers that differ by no more than this share are equal.
constexpr double force_rounding = 1e-9;

bool listed(const std::vector<std::size_t>& list, std::size_t i) {
  return std::find(list.begin(), list.end(), i) != list.end();
}

std::vector<std::size_t> sorted(std::vector<std::size_t> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::vector<std::size_t> joined(std::vector<std::size_t> list, const std::vector<std::size_t>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return sorted(std::move(list));
}

}  // namespace

// The hop of one contact that begins now lasts 2|f'|/f'', each later one e times the last. Speeds are known
// more accurately than the times between shocks, so this is better than extrapolating times.
Motion::Hop Motion::hop_of(std::size_t contact, const Eigen::VectorXd& accelerations) const {
  const Row row = equations_.row(contact, member_.state());
  const double second = row.a.dot(accelerations) + row.rest, e = formulas_.restitution[contact];
  if (!(row.rate < 0 && second > 0)) return {member_.t, limit_of_sequence()};
  const double duration = -2 * row.rate / second;
  const double limit = e < 1 ? member_.t - 2 * row.rate / (second * (1 - e)) : limit_of_sequence();
  return {member_.t + duration, limit};
}

// The limit of the sequence of shocks in progress; now if there is none.
double Motion::limit_of_sequence() const {
  return accumulation_.sequence() ? accumulation_.sequence()->limit : member_.t;
}

// Whether all these conditions are at f = 0 with f' = 0.
bool Motion::are_at_rest(const std::vector<std::size_t>& conditions) const {
  const State now = member_.state();
  const std::vector<char> touching = touching_now();
  return std::all_of(conditions.begin(), conditions.end(), [&](std::size_t i) {
    return touching[i] && std::abs(equations_.rate(i, now)) <= member_.zero_of(i, now).rate;
  });
}

// A geometric sequence of shocks ends when its remainder is negligible, or when its conditions, struck one
// after another until now, have come so close together that they can no longer be distinguished. Conditions
// that are struck together in every shock, such as those of two equal balls, have not come any closer. A shock whose rounds
// have brought all of them to rest is itself the end: no hop is left out.
void Motion::finish_accumulation(const std::vector<char>& arriving,
                                 const std::optional<AccumulationWatch::Sequence>& earlier) {
  const auto& sequence = accumulation_.sequence();
  const bool merged = earlier && earlier->cycle.size() > 1 &&
                      std::all_of(earlier->conditions.begin(), earlier->conditions.end(),
                                  [&](std::size_t i) { return arriving[i] != 0; });
  if (!merged && !(sequence && sequence->nearly_over())) return;
  const std::vector<std::size_t> together = merged ? earlier->conditions : sequence->conditions;
  if (bounds_forces() && are_at_rest(together)) {
    accumulation_.forget();
    return;
  }
  double limit = merged ? earlier->limit : sequence->limit;
  if (together.size() == 1) {
    const Accelerations now = constrained_acceleration(equations_, member_.state(), member_.active);
    if (now.status == Status::ok) limit = hop_of(together[0], now.a).limit;
  }
  complete_accumulation(together, limit, merged ? earlier->cycle : sequence->cycle);
  std::vector<char> closing = touching_now();
  for (const std::size_t i : together) closing[i] = 1;
  if (going()) update_active_set(closing, no_condition);
}

// Hops too low or too short to be followed. As part of a sequence of several conditions they end with it, unless another
// one hops on: that is struck again before the limit, and the contact has come to rest by then. Otherwise each contact
// hops by itself until its own limit.
void Motion::complete_hops(const std::vector<std::size_t>& hops, const Eigen::VectorXd& accelerations) {
  // Systems without friction or bounds do not ask.
  const auto others_rest = [&](const std::vector<std::size_t>& cycle) {
    return !bounds_forces() || std::all_of(cycle.begin(), cycle.end(), [&](std::size_t i) {
      return listed(hops, i) || member_.conditions[i].standing == Standing::closed;
    });
  };
  if (hops.size() == 1 && others_rest(accumulation_.since(hops[0]))) {
    const double landing = hop_of(hops[0], accelerations).landing;
    if (const auto next = accumulation_.continued_by(hops[0], landing, member_.t, member_.active)) {
      complete_accumulation(hops, next->limit, next->phases);
      return;
    }
  }
  const auto& sequence = accumulation_.sequence();
  const auto in_sequence = [&](std::size_t i) { return listed(sequence->conditions, i); };
  if (sequence && sequence->conditions.size() > 1 && sequence->limit > member_.t &&
      std::all_of(hops.begin(), hops.end(), in_sequence) && others_rest(sequence->conditions)) {
    complete_accumulation(hops, sequence->limit, sequence->cycle);
    return;
  }
  std::vector<std::pair<double, std::size_t>> ends;
  for (const std::size_t i : hops) ends.emplace_back(hop_of(i, accelerations).limit, i);
  std::sort(ends.begin(), ends.end());
  const double limit = ends.back().first, duration = limit - member_.t;
  std::vector<RestPhase> phases;
  std::vector<std::size_t> held = member_.active;
  double begin = member_.t;
  for (const auto& [end, contact] : ends) {
    if (end > begin) phases.push_back({(end - begin) / duration, held});
    begin = std::max(begin, end);
    held.push_back(contact);
  }
  complete_accumulation(hops, limit, std::move(phases));
}

// The velocity after infinitely many shocks is the projection on the intersection of the conditions
// (requirement 5).
void Motion::complete_accumulation(const std::vector<std::size_t>& contacts, double limit,
                                   std::vector<RestPhase> phases) {
  const State before = member_.state();
  // Closed contacts take part in the limit; those closed by the latest shocks belong to the sequence.
  std::vector<std::size_t> resting, accumulating = contacts;
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    if (member_.conditions[i].standing == Standing::closed && equations_.system().constraints[i].holonomic)
      resting.push_back(i);
  for (const std::size_t i : accumulation_.latest())
    if (listed(resting, i)) accumulating.push_back(i);
  accumulating = sorted(std::move(accumulating));
  const Shock result = accumulation_limit(joined(accumulating, resting), before);
  if (result.status != Status::ok) {
    fail(result.status, "an accumulation of shocks at t = " + number_text(member_.t) + " has no limit");
    return;
  }
  const double energy_before = equations_.energy(before);
  member_.set_velocities(result.v);
  member_.sizes.v = member_.sizes.v.cwiseMax(result.pushed);
  lose_density();
  recorder_.add_energy_lost(energy_before - equations_.energy(member_.state()));
  Audit& audit = recorder_.trajectory().audit;
  raise_worst(audit.kkt, result.kkt);
  // What was completed at this instant already is closed during the rest of this one.
  describe_remainder();
  if (recorder_.pending_accumulation() && completed_at_ == member_.t)
    for (RestPhase& phase : phases)
      phase.held = joined(phase.held, recorder_.pending_accumulation()->constraints);
  completed_at_ = member_.t;
  // The limit lies a little ahead; the event is listed when the motion gets there.
  recorder_.flush_accumulation();
  Event event{.t = std::max(member_.t, limit), .kind = EventKind::accumulation, .constraints = accumulating};
  event.velocities_jump = true;
  event.energy_lost = result.energy_lost;
  event.velocity_before = before.v;
  event.velocity_after = result.v;
  accumulation_.forget();
  note_hopping(event);
  remainder_ = {event.t - member_.t, std::move(phases), result.impulses};
  for (std::size_t i = 0; i < result.struck.size(); ++i)
    if (!result.struck[i]) remainder_->multipliers(index(i)) = 0;
  recorder_.set_pending_accumulation(std::move(event));
  recorder_.forget_averaged_extremes();
  recorder_.keep_extremes();
}

// The shocks that a completed accumulation stands for: the sum of their impulses, and what the time until the
// limit adds to integrals.
//
// Let tau be that time. The motion of the record is projected at once, M (v* - v) = -A^T l, and keeps all
// conditions closed until the limit; their multipliers transfer tau lambda. In the motion it stands for,
// shocks of impulses J alternate with phases in which other sets hold, whose multipliers transfer tau mu, the
// mean over the phases. Both reach the same velocities, and the other forces transfer the same up to tau^2,
// hence
//   J = l + tau (lambda - mu),
// for dependent rows with multipliers of least norm. One contact of mass m that leaves at speed u under
// gravity: l = -m u, lambda = m g, mu = 0 and tau = 2 u/(g (1 - e)) give m u (1 + e)/(1 - e), the geometric
// series. Integrals of functions that depend on the closed set, and the energies that friction dissipates, are
// corrected by the same means. The work is not: it belongs to the recorded motion, which the energy audit is about.
void Motion::describe_remainder() {
  if (!remainder_) return;
  Remainder rest = std::move(*remainder_);
  remainder_.reset();
  ahead_.reset();
  const std::optional<PhaseDifference> found = compare_phases(rest.phases, rest.time);
  if (!found) return;
  add_to_integrals(found->rates, 1);
  leave_hops_without_friction(*found, rest.multipliers);
  list_impulses_of_hops(rest.multipliers, found->transferred, -dissipated_between_shocks(found->rates));
  if (bounds_forces()) recorder_.set_averaged(found->transferred);
  if (bounds_forces() && recorder_.pending_accumulation())
    ahead_ = RemainderAhead{member_.t, member_.t + rest.time, std::move(rest), *found,
                            recorder_.pending_accumulation()->constraints};
}

// [friction-14] [limit-4] Contacts that break bear their impulses without friction: until the limit they rub in the phases
// only, and the projection gives back nothing of what the closed phase rubs. So the velocities at the limit are those before
// the projection, with what the phases change more than the closed phase does, projected with the impulses of the hops.
void Motion::leave_hops_without_friction(const PhaseDifference& found, Eigen::VectorXd& multipliers) {
  const System& system = equations_.system();
  bool any = false;
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const std::size_t contact = system.frictions[f].contact;
    any = any || (system.constraints[contact].limit && member_.slips(f) &&
                  found.transferred(static_cast<Eigen::Index>(contact)) != 0);
  }
  // Where another accumulation has been completed since, the velocities are those of its limit.
  State now = member_.state();
  if (!any || !recorder_.pending_accumulation() || recorder_.pending_accumulation()->velocity_after != now.v)
    return;
  Event event = *recorder_.pending_accumulation();
  std::vector<std::size_t> contacts = event.constraints;
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    if (member_.conditions[i].standing == Standing::closed && system.constraints[i].holonomic)
      contacts.push_back(i);
  const double energy = equations_.energy(now);
  now.v = event.velocity_before + found.rates.segment(member_.n(), member_.n());
  const Shock result = accumulation_limit(sorted(std::move(contacts)), now);
  if (result.status != Status::ok) return;
  member_.set_velocities(result.v);
  const double lost = energy - equations_.energy(member_.state());
  recorder_.add_energy_lost(lost);
  event.energy_lost += lost;
  event.velocity_after = result.v;
  recorder_.set_pending_accumulation(std::move(event));
  multipliers = result.impulses - found.transferred;
  for (std::size_t i = 0; i < result.struck.size(); ++i)
    if (!result.struck[i]) multipliers(index(i)) = -found.transferred(index(i));
}

// What a motion that keeps all conditions closed for the time `duration` from now lacks of the one with these phases.
// Forces in the middle of the time stand for their means.
std::optional<Motion::PhaseDifference> Motion::compare_phases(const std::vector<RestPhase>& phases,
                                                              double duration) const {
  Eigen::VectorXd closed_rate, closed_multipliers, rate, multipliers;
  if (smooth_.rates_with(member_.active, member_.t, member_.y, rate, multipliers) != Status::ok) return {};
  const double middle = member_.t + duration / 2;
  const Eigen::VectorXd there = member_.y + duration / 2 * rate;
  if (smooth_.rates_with(member_.active, middle, there, closed_rate, closed_multipliers) != Status::ok)
    return {};
  PhaseDifference made{Eigen::VectorXd::Zero(closed_rate.size()),
                       Eigen::VectorXd::Zero(closed_multipliers.size())};
  for (const RestPhase& phase : phases) {
    std::vector<std::size_t> held = phase.held;
    std::erase_if(held, [&](std::size_t i) { return !member_.in_force(i); });
    if (smooth_.rates_with(held, middle, there, rate, multipliers) != Status::ok) return {};
    made.rates += duration * phase.share * (rate - closed_rate);
    made.transferred += duration * phase.share * (closed_multipliers - multipliers);
  }
  // A force that differs by rounding alone leaves no impulse.
  for (Eigen::Index i = 0; i < made.transferred.size(); ++i)
    if (std::abs(made.transferred(i)) <= force_rounding * duration * std::abs(closed_multipliers(i)))
      made.transferred(i) = 0;
  return made;
}

// Integrals, and the auxiliary states among which the dissipated energies are; those without forces do not differ.
void Motion::add_to_integrals(const Eigen::VectorXd& rates, double share) {
  const Eigen::Index first = 2 * member_.n(), count = member_.y.size() - 1 - first;
  member_.y.segment(first, count) += share * rates.segment(first, count);
}

// What friction does not dissipate between the shocks left out is lost in them.
double Motion::dissipated_between_shocks(const Eigen::VectorXd& rates) const {
  return rates.segment(2 * member_.n(), member_.state().z.size()).sum();
}

// The impulses l of the projection and those that the closed phase transfers, listed with the pending event.
void Motion::list_impulses_of_hops(const Eigen::VectorXd& multipliers, const Eigen::VectorXd& transferred,
                                   double energy_lost) {
  std::vector<std::size_t> struck;
  std::vector<double> impulses;
  const State now = member_.state();
  Eigen::VectorXd totals = multipliers + transferred;
  // An inequality only pushes.
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    if (member_.conditions[i].standing != Standing::equation)
      totals(index(i)) = std::max(totals(index(i)), 0.0);
  list_friction_of_hops(now, totals);
  for (std::size_t i = 0; i < member_.conditions.size(); ++i) {
    if (totals(index(i)) == 0) continue;
    struck.push_back(i);
    impulses.push_back(totals(index(i)) * equations_.evaluate(formulas_.reaches[i], now));
  }
  recorder_.set_remainder(std::move(struck), std::move(impulses), energy_lost);
}

// Before an event that may change the motion: what belongs to the time until the limit is taken back, and the accumulation
// is listed if it is pending. One that is completed at this very instant is listed as a whole. Otherwise friction that
// was taken off for the hops would never be added again by the closed contacts, and dissipated energies would fall.
void Motion::interrupt_accumulation() {
  if (ahead_ && !(member_.t < ahead_->limit)) ahead_.reset();
  if (ahead_ && !ahead_->interrupted) {
    const double share = (ahead_->limit - member_.t) / (ahead_->limit - ahead_->from);
    PhaseDifference& difference = ahead_->difference;
    add_to_integrals(difference.rates, -share);
    ahead_->divided =
        recorder_.pending_accumulation() && member_.t > ahead_->from + member_.rounding_of_time();
    if (ahead_->divided) {
      difference.transferred *= 1 - share;
      list_impulses_of_hops(ahead_->rest.multipliers, difference.transferred,
                            share * dissipated_between_shocks(difference.rates));
    }
    ahead_->interrupted = true;
  }
  recorder_.flush_accumulation(ahead_ && ahead_->interrupted);
}

// After it: where the contacts are closed as before, their hops go on until the limit. Their impulses after the event are
// listed as an accumulation of its own.
void Motion::resume_accumulation() {
  if (!ahead_ || !ahead_->interrupted) return;
  recorder_.forget_averaged_extremes();
  recorder_.keep_extremes();
  recorder_.update_extremes_now();
  const auto is_closed = [&](std::size_t i) { return member_.conditions[i].standing == Standing::closed; };
  if (!going() || !std::all_of(ahead_->contacts.begin(), ahead_->contacts.end(), is_closed)) {
    ahead_.reset();
    return;
  }
  std::optional<PhaseDifference> found = compare_phases(ahead_->rest.phases, ahead_->limit - member_.t);
  if (!found) {
    ahead_.reset();
    return;
  }
  add_to_integrals(found->rates, 1);
  ahead_->difference = std::move(*found);
  ahead_->from = member_.t;
  ahead_->interrupted = false;
  if (!ahead_->divided) return;
  ahead_->rest.multipliers.setZero();
  const Eigen::VectorXd v = member_.state().v;
  Event rest{.t = ahead_->limit, .kind = EventKind::accumulation, .constraints = ahead_->contacts};
  rest.velocities_jump = true;
  rest.velocity_before = rest.velocity_after = v;
  recorder_.set_pending_accumulation(std::move(rest));
  recorder_.set_averaged(ahead_->difference.transferred);
  list_impulses_of_hops(ahead_->rest.multipliers, ahead_->difference.transferred,
                        -dissipated_between_shocks(ahead_->difference.rates));
}

// [friction-14] The tangential impulse of the hops, with the first slip row of its contact: mu times the normal one while
// the contact slips, what the rows of a sticking contact transfer otherwise.
void Motion::list_friction_of_hops(const State& now, Eigen::VectorXd& impulses) const {
  const System& system = equations_.system();
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const Friction& friction = system.frictions[f];
    double squares = 0;
    for (const std::size_t row : friction.rows) {
      squares += impulses(index(row)) * impulses(index(row));
      impulses(index(row)) = 0;
    }
    // A contact with a limit bears impulses without friction [limit-4].
    if (system.constraints[friction.contact].limit) continue;
    const double normal = impulses(index(friction.contact));
    impulses(index(friction.rows[0])) =
        member_.slips(f) ? equations_.friction(f, now).cone * normal : std::sqrt(squares);
  }
}

// Velocity limits reached by the sequence are part of its limit. Without them they would open by the small
// remainder of the hops and be reached again at once: a short phase with other forces that depends on
// accumulation_gap.
Shock Motion::accumulation_limit(const std::vector<std::size_t>& contacts, const State& before) const {
  ShockParticipants all = participants(std::vector<char>(member_.conditions.size(), 0));
  all.contacts = contacts;
  // Bounded equations that hold and take part in shocks stay as they are in this one.
  for (const std::size_t i : bounded_in_shock(std::vector<char>(member_.conditions.size(), 0)))
    if (member_.conditions[i].standing == Standing::equation) all.equations.push_back(i);
  std::sort(all.equations.begin(), all.equations.end());
  ShockParticipants with_limits = all;
  const auto closed = [&](std::size_t i) { return member_.conditions[i].standing == Standing::closed; };
  std::erase_if(with_limits.velocities, closed);
  std::copy_if(all.velocities.begin(), all.velocities.end(), std::back_inserter(with_limits.equations),
               closed);
  if (takes_friction(equations_, before, all, {})) {
    const Shock result =
        completed_friction_shock(equations_, before, member_.sizes, with_limits, settings_.rest_speed);
    if (result.status != Status::infeasible) return result;
    return completed_friction_shock(equations_, before, member_.sizes, all, settings_.rest_speed);
  }
  const Shock result = completed_shock(equations_, before, member_.sizes, with_limits, settings_.rest_speed);
  if (result.status != Status::infeasible) return result;
  return completed_shock(equations_, before, member_.sizes, all, settings_.rest_speed);
}

}  // namespace zwang
