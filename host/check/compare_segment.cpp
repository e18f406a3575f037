// A stretch compared: events in their order, numbers at the output times, the end.
#include <algorithm>
#include <cmath>

#include "host/check/events.h"
#include "host/check/findings.h"
#include "host/check/reference_pair.h"
#include "host/check/segment.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"

namespace zwang {

namespace {

// The rule of every comparison: ten times as far as the reference's own accounts are apart, plus thirty times what the
// integrator may be off in a step. Ten, because the backend's errors are not the nudge's; thirty, because a stretch has
// many steps.
constexpr double account_share = 10, tolerance_share = 30;

bool same_story(const std::vector<Instant>& a, const std::vector<Instant>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Instant& x, const Instant& y) { return same(x, y); });
}

bool one_by_one(const Instant& a, const Instant& b) {
  return std::equal(
      a.events.begin(), a.events.end(), b.events.begin(), b.events.end(), [](const Event& x, const Event& y) {
        return x.kind == y.kind && x.constraints == y.constraints && x.impulses.size() == y.impulses.size();
      });
}

const Sample* sample_at(const Plan& plan, const Trajectory& trajectory, double t) {
  const auto it = std::lower_bound(plan.outputs.begin(), plan.outputs.end(), t);
  const auto k = static_cast<std::size_t>(it - plan.outputs.begin());
  if (it == plan.outputs.end() || *it != t || k >= trajectory.samples.size()) return nullptr;
  return &trajectory.samples[k];
}

}  // namespace

StretchCheck::Told StretchCheck::tell(const Stretch& stretch, const Accounts& accounts, double until) const {
  const Anchor& from = stretch.from;
  std::vector<Event> mine, tight = accounts.tight.events, nudged = accounts.nudged.events;
  for (const Event& event : motion_.events)
    if ((!from.output || event.t > from.state.t) && (stretch.last || event.t <= until)) mine.push_back(event);

  // Events at the very end may have happened or not; those at a breakdown may be listed or not.
  double past = std::numeric_limits<double>::infinity();
  if (stretch.last && end_beset_) past = motion_.end.t - end_clearance_;
  if (stretch.expected != Status::ok && stretch.expected != Status::stopped)
    past = motion_.end.t - end_clearance_;
  for (std::vector<Event>* list : {&mine, &tight, &nudged})
    std::erase_if(*list, [&](const Event& event) { return event.t >= past; });

  if (from.output) {
    // The backend has no event near the anchor: what the reference finds there is an echo of one before it. And an
    // accumulation that comes first, of what is closed already, was completed before the anchor and only listed later.
    const double near = from.state.t + clearance_[*from.output];
    for (std::vector<Event>* list : {&tight, &nudged})
      std::erase_if(*list, [&](const Event& event) { return event.t <= near; });
    const bool echo = !mine.empty() && mine.front().kind == EventKind::accumulation &&
                      std::all_of(mine.front().constraints.begin(), mine.front().constraints.end(),
                                  [&](std::size_t i) { return from.closed[i] > 0.5; });
    if (echo) mine.erase(mine.begin());
  }
  Told told;
  told.bursts = drop_bursts({&mine, &tight, &nudged}, times_);
  // How wide an instant is has no sharp edge, but events at its edge are one instant here and two there.
  const EventTolerance times = times_.widened(1 + 0.25 * static_cast<double>(stretch.hearing));
  told.mine = instants(mine, times);
  told.tight = instants(tight, times);
  told.nudged = instants(nudged, times);
  return told;
}

bool StretchCheck::compare_events(const Stretch& stretch, const Accounts& accounts, Bursts& bursts,
                                  Findings& findings) const {
  Told told = tell(stretch, accounts, stretch.until);
  bursts = told.bursts;
  if (!same_story(told.tight, told.nudged)) return false;
  const std::size_t count = std::max(told.mine.size(), told.tight.size());
  if (told.mine.size() != told.tight.size() && !stretch.last) {
    // An event may fall on either side of the next anchor: look a little further before calling it missing.
    const double further = stretch.until + 0.01 * (stretch.until - stretch.from.state.t);
    told = tell(stretch, this->accounts(stretch, {{}, further}, accounts), further);
    for (std::vector<Instant>* list : {&told.mine, &told.tight, &told.nudged})
      if (list->size() > count) list->resize(count);
    if (!same_story(told.tight, told.nudged)) return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool have = i < told.mine.size(), expected = i < told.tight.size();
    if (!have && !expected) break;  // beyond the end of both
    if (have && expected && same(told.mine[i], told.tight[i])) {
      compare_instant(told.mine[i], told.tight[i], told.nudged[i], told.bursts.reach,
                      accounts.tight.audit.energy_size, findings);
      // Which conditions an accumulation names may differ; counts of it are excused.
      for (const auto& [one, other] :
           {std::pair(&told.mine[i], &told.tight[i]), std::pair(&told.tight[i], &told.mine[i])})
        for (const std::size_t c : one->accumulated)
          if (std::find(other->accumulated.begin(), other->accumulated.end(), c) == other->accumulated.end())
            bursts.left_out[{EventKind::accumulation, c}].count += 1;
      continue;
    }
    // The earlier one has no counterpart; what follows is only shifted by it.
    const bool surplus = have && (!expected || told.mine[i].first < told.tight[i].first);
    const Instant& lone = surplus ? told.mine[i] : told.tight[i];
    const double none = std::nan("");
    findings.judge({member_, lone.first, lone.text(*study_.system), surplus ? lone.first : none,
                    surplus ? none : lone.first, 0});
    break;
  }
  return true;
}

void StretchCheck::compare_instant(const Instant& mine, const Instant& tight, const Instant& nudged,
                                   double reach, double energy, Findings& findings) const {
  const double widths = (mine.last - mine.first) + (tight.last - tight.first);
  findings.judge({member_, tight.first, mine.text(*study_.system), mine.first, tight.first,
                  account_share * spread(tight.first, nudged.first) +
                      tolerance_share * times_.unit(tight.first) + widths +
                      (tight.accumulated.empty() ? 0 : reach)});
  if (!one_by_one(mine, tight) || !one_by_one(tight, nudged)) return;
  for (std::size_t k = 0; k < mine.events.size(); ++k) {
    const Event &x = mine.events[k], &a = tight.events[k], &b = nudged.events[k];
    if (!x.velocities_jump || !a.velocities_jump || x.kind == EventKind::accumulation) continue;
    for (std::size_t i = 0; i < x.impulses.size(); ++i) {
      const double size = impulse_sizes_(static_cast<Eigen::Index>(x.constraints[i]));
      findings.judge(
          {member_, a.t, names_.impulses[x.constraints[i]], x.impulses[i], a.impulses[i],
           account_share * spread(a.impulses[i], b.impulses[i]) + tolerance_share * tolerance_.unit(size)});
    }
    findings.judge(
        {member_, a.t, "energy lost", x.energy_lost, a.energy_lost,
         account_share * spread(a.energy_lost, b.energy_lost) + tolerance_share * tolerance_.unit(energy)});
  }
}

// Beside an event there are places that are clear of it. Within a few tolerances the accounts may be on different sides.
bool StretchCheck::between_sides(const Look& look, double t, const Accounts& accounts) const {
  if (look.sides.empty()) return false;
  const double width = times_.one_instant(t);
  for (const Trajectory* account : {&accounts.tight, &accounts.nudged})
    for (const Event& event : account->events)
      if (std::abs(event.t - t) <= width) return true;
  return false;
}

// Several events between the two sides: the backend may stand between any two of them.
bool StretchCheck::crowded(const Look& look, const Accounts& accounts) {
  if (!look.far) return false;
  for (const Trajectory* account : {&accounts.tight, &accounts.nudged}) {
    const Event* first = nullptr;
    for (const Event& event : account->events) {
      if (event.t < look.sides.front().second || event.t > look.sides.back().second) continue;
      if (first && event.t > first->t) return true;
      first = &event;
    }
  }
  return false;
}

void StretchCheck::compare_looks(const Stretch& stretch, const Plan& plan, const Accounts& accounts,
                                 Findings& findings) const {
  for (const Look& look : stretch.looks) {
    if (crowded(look, accounts)) continue;
    std::vector<std::pair<double, double>> places = {{look.t, look.t}};
    places.insert(places.end(), look.sides.begin(), look.sides.end());
    // On one of the sides of an event everything must agree.
    std::optional<Findings> best;
    for (const auto& [near, far] : places) {
      const Sample *tight = sample_at(plan, accounts.tight, near),
                   *nudged = sample_at(plan, accounts.nudged, near),
                   *further = sample_at(plan, accounts.tight, far);
      if (!tight || !nudged || !further) continue;
      // Where the accounts begin they stand as the backend stands: nothing has happened yet.
      if (near > stretch.from.state.t && between_sides(look, near, accounts)) continue;
      Findings here = look.output ? samples(motion_.samples[*look.output], *tight, *nudged, *further)
                                  : states(motion_.end, tight->state, nudged->state, further->state);
      if (!best || here.worst_severity() < best->worst_severity()) best = std::move(here);
    }
    if (best) findings.merge(*best);
  }
}

// Where a stop condition ended the member. The times differ a little, and the states move in between.
void StretchCheck::compare_stop(const Accounts& accounts, Findings& findings) const {
  const State &tight = accounts.tight.last.state, &nudged = accounts.nudged.last.state;
  State further = tight;
  further.q += (motion_.end.t - tight.t) * tight.v;
  findings.merge(states(motion_.end, tight, nudged, further));
}

Findings StretchCheck::states(const State& mine, const State& tight, const State& nudged,
                              const State& further) const {
  Findings found;
  const auto compare = [&](const std::vector<std::string>& names, const Eigen::VectorXd& sizes,
                           Eigen::VectorXd State::*part) {
    const Eigen::VectorXd &x = mine.*part, &a = tight.*part, &b = nudged.*part, &c = further.*part;
    for (Eigen::Index i = 0; i < x.size(); ++i)
      found.judge({member_, mine.t, names[static_cast<std::size_t>(i)], x(i), a(i),
                   account_share * spread(a(i), b(i)) + tolerance_share * tolerance_.unit(sizes(i)) +
                       2 * spread(c(i), a(i))});
  };
  compare(names_.positions, witness_.sizes().q, &State::q);
  compare(names_.velocities, witness_.sizes().v, &State::v);
  compare(names_.auxiliaries, witness_.sizes().z, &State::z);
  return found;
}

// Hops too low to be followed are completed at once, and listed where they end: in between the flag is ahead of the list.
// Positions and velocities must agree all the same.
bool StretchCheck::completed_already(std::size_t condition, double t) const {
  for (const Event& event : motion_.events) {
    const std::vector<std::size_t>& who = event.constraints;
    if (event.t < t || std::find(who.begin(), who.end(), condition) == who.end()) continue;
    return event.kind == EventKind::accumulation;
  }
  return false;
}

// States by the flow; multipliers and observables by the flow or, where a state within tolerance gives another value
// (they may be steep), by what the reference computes at the backend's own state.
Findings StretchCheck::samples(const Sample& mine, const Sample& tight, const Sample& nudged,
                               const Sample& further) const {
  Findings found = states(mine.state, tight.state, nudged.state, further.state);
  std::optional<Sample> own;
  const auto judge = [&](const std::string& name, double size, const auto& value) {
    const double x = value(mine), a = value(tight);
    const double unit = tolerance_share * tolerance_.unit(size);
    CheckCase one{member_, mine.state.t,
                  name,    x,
                  a,       account_share * spread(a, value(nudged)) + unit + 2 * spread(value(further), a)};
    if (one.severity() > 1) {
      if (!own) own = witness_.at(mine.state, mine.closed);
      const CheckCase there{member_, mine.state.t, name, x, value(*own), unit};
      if (there.severity() < one.severity()) one = there;
    }
    found.judge(one);
  };
  for (std::size_t i = 0; i < names_.multipliers.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    judge(names_.multipliers[i], witness_.sizes().multipliers(k),
          [k](const Sample& sample) { return sample.multipliers(k); });
    // A flag is right or wrong, unless the accounts disagree about it.
    const double early = mine.closed[i] > 0.5 && completed_already(i, mine.state.t) ? 1 : 0;
    found.judge({member_, mine.state.t, names_.closed[i], mine.closed[i], tight.closed[i],
                 account_share * spread(tight.closed[i], nudged.closed[i]) + early + 0.5});
  }
  for (std::size_t i = 0; i < names_.observables.size(); ++i)
    judge(names_.observables[i], witness_.sizes().observables(static_cast<Eigen::Index>(i)),
          [i](const Sample& sample) { return sample.observables[i]; });
  return found;
}

}  // namespace zwang
