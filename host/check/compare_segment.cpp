// Comparison of one segment: events in order, numbers at the output times, the end.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "host/check/events.h"
#include "host/check/findings.h"
#include "host/check/reference_pair.h"
#include "host/check/segment.h"
#include "host/check/work_budget.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Tolerance of every comparison: ten times the distance of the two reference runs plus thirty times the
// integrator's error per step. Ten, because the backend's errors differ from the perturbation; thirty,
// because a segment has many steps.
constexpr double spread_share = 10, tolerance_share = 30;

bool same_events(const std::vector<Instant>& a, const std::vector<Instant>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Instant& x, const Instant& y) { return same(x, y); });
}

bool same_order(const Instant& a, const Instant& b) {
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

SegmentCheck::EventLists SegmentCheck::event_lists(const Segment& segment, const ReferencePair& pair,
                                                   double until) const {
  const Anchor& from = segment.from;
  std::vector<Event> backend, tight = pair.tight.events, perturbed = pair.perturbed.events;
  for (const Event& event : motion_.events)
    if ((!from.output || event.t > from.state.t) && (segment.last || event.t <= until))
      backend.push_back(event);

  // Events at the very end, and events at a failure, may or may not be listed.
  double past = std::numeric_limits<double>::infinity();
  if (segment.last && end_near_event_) past = motion_.end.t - end_clearance_;
  if (segment.expected != Status::ok && segment.expected != Status::stopped)
    past = motion_.end.t - end_clearance_;
  for (std::vector<Event>* list : {&backend, &tight, &perturbed})
    std::erase_if(*list, [&](const Event& event) { return event.t >= past; });

  if (from.output) {
    // The backend has no event near the anchor: an event the reference finds there repeats an earlier one. A
    // leading accumulation of conditions that are closed already was completed before the anchor and only
    // listed later.
    const double near = from.state.t + clearance_[*from.output];
    for (std::vector<Event>* list : {&tight, &perturbed})
      std::erase_if(*list, [&](const Event& event) { return event.t <= near; });
    const bool echo = !backend.empty() && backend.front().kind == EventKind::accumulation &&
                      std::all_of(backend.front().constraints.begin(), backend.front().constraints.end(),
                                  [&](std::size_t i) { return from.closed[i] > 0.5; });
    if (echo) backend.erase(backend.begin());
  }
  EventLists lists;
  // Changes of mode are compared, unless the lists then differ: an accumulation that is completed a hop earlier lacks those
  // of the hop.
  lists.bursts = drop_bursts({&backend, &tight, &perturbed}, times_, segment.attempt > 0);
  // The width of an instant is arbitrary: events at its edge form one instant in one list and two in another.
  const EventTolerance times = times_.widened(1 + 0.25 * static_cast<double>(segment.attempt));
  lists.backend = instants(backend, times);
  lists.tight = instants(tight, times);
  lists.perturbed = instants(perturbed, times);
  return lists;
}

// The conditions whose impulses at an instant only one of two lists has, if these are zero within the tolerance with which
// impulses are compared, and the lists agree otherwise: rounding decides whether a rod of a frame is struck by 4e-8 of
// the impulse at a corner. None: the lists differ in more.
std::optional<std::vector<std::size_t>> SegmentCheck::small_impulses_apart(const Instant& a,
                                                                           const Instant& b) const {
  std::vector<std::pair<EventKind, std::size_t>> apart;
  std::set_symmetric_difference(a.what.begin(), a.what.end(), b.what.begin(), b.what.end(),
                                std::back_inserter(apart));
  Instant without = a;
  without.what = b.what;
  if (!same(without, b)) return std::nullopt;
  std::vector<std::size_t> made;
  for (const auto& [kind, condition] : apart) {
    if (kind != EventKind::shock) return std::nullopt;
    const double size = impulse_sizes_(static_cast<Eigen::Index>(condition));
    for (const Instant* list : {&a, &b})
      for (const Event& event : list->events)
        for (std::size_t i = 0; i < event.impulses.size(); ++i)
          if (event.kind == kind && event.struck()[i] == condition &&
              std::abs(event.impulses[i]) > tolerance_share * tolerance_.unit(size))
            return std::nullopt;
    made.push_back(condition);
  }
  return made;
}

std::optional<UndecidedCause> SegmentCheck::compare_events(const Segment& segment, const ReferencePair& pair,
                                                           WorkBudget& budget, Bursts& bursts,
                                                           Findings& findings) const {
  EventLists lists = event_lists(segment, pair, segment.until);
  bursts = lists.bursts;
  if (!same_events(lists.tight, lists.perturbed)) return UndecidedCause::events;
  const std::size_t count = std::max(lists.backend.size(), lists.tight.size());
  if (lists.backend.size() != lists.tight.size() && !segment.last) {
    // An event may fall on either side of the next anchor: extend the runs a little before calling it
    // missing.
    const double further = segment.until + 0.01 * (segment.until - segment.from.state.t);
    const ReferencePair extended = run_reference(segment, {{}, further}, pair, budget);
    if (extended.given_up()) return UndecidedCause::budget;
    lists = event_lists(segment, extended, further);
    for (std::vector<Instant>* list : {&lists.backend, &lists.tight, &lists.perturbed})
      if (list->size() > count) list->resize(count);
    if (!same_events(lists.tight, lists.perturbed)) return UndecidedCause::events;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool have = i < lists.backend.size(), expected = i < lists.tight.size();
    if (!have && !expected) break;  // past the end of both lists
    const auto small = have && expected ? small_impulses_apart(lists.backend[i], lists.tight[i])
                                        : std::optional<std::vector<std::size_t>>{};
    if (small) {
      for (const std::size_t c : *small) bursts.left_out[{EventKind::shock, c}].count += 1;
      compare_instant(lists.backend[i], lists.tight[i], lists.perturbed[i], lists.bursts.reach,
                      pair.tight.audit.energy_size, findings);
      // The conditions listed by an accumulation may differ; their counts may differ accordingly.
      for (const auto& [one, other] :
           {std::pair(&lists.backend[i], &lists.tight[i]), std::pair(&lists.tight[i], &lists.backend[i])})
        for (const std::size_t c : one->accumulated)
          if (std::find(other->accumulated.begin(), other->accumulated.end(), c) == other->accumulated.end())
            bursts.left_out[{EventKind::accumulation, c}].count += 1;
      continue;
    }
    // The earlier event has no counterpart; later ones are only shifted by it.
    const bool surplus = have && (!expected || lists.backend[i].first < lists.tight[i].first);
    const Instant& lone = surplus ? lists.backend[i] : lists.tight[i];
    const double none = std::nan("");
    findings.add({member_, lone.first, lone.text(*study_.system), surplus ? lone.first : none,
                  surplus ? none : lone.first, 0});
    break;
  }
  return std::nullopt;
}

void SegmentCheck::compare_instant(const Instant& backend, const Instant& tight, const Instant& perturbed,
                                   double reach, double energy, Findings& findings) const {
  const double widths = (backend.last - backend.first) + (tight.last - tight.first);
  findings.add({member_, tight.first, backend.text(*study_.system), backend.first, tight.first,
                spread_share * spread(tight.first, perturbed.first) +
                    tolerance_share * times_.unit(tight.first) + widths +
                    (tight.accumulated.empty() ? 0 : reach)});
  if (!same_order(backend, tight) || !same_order(tight, perturbed)) return;
  for (std::size_t k = 0; k < backend.events.size(); ++k) {
    const Event &x = backend.events[k], &a = tight.events[k], &b = perturbed.events[k];
    if (!x.velocities_jump || !a.velocities_jump || x.kind == EventKind::accumulation) continue;
    for (std::size_t i = 0; i < x.impulses.size(); ++i) {
      const double size = impulse_sizes_(static_cast<Eigen::Index>(x.constraints[i]));
      findings.add(
          {member_, a.t, names_.impulses[x.constraints[i]], x.impulses[i], a.impulses[i],
           spread_share * spread(a.impulses[i], b.impulses[i]) + tolerance_share * tolerance_.unit(size)});
    }
    findings.add(
        {member_, a.t, "energy lost", x.energy_lost, a.energy_lost,
         spread_share * spread(a.energy_lost, b.energy_lost) + tolerance_share * tolerance_.unit(energy)});
  }
}

// Whether a reference run has an event within a few tolerances of the time: then the runs may lie on
// different sides of it.
bool SegmentCheck::near_reference_event(const ComparisonPoint& point, double t,
                                        const ReferencePair& pair) const {
  if (point.sides.empty()) return false;
  const double width = times_.one_instant(t);
  for (const Trajectory* run : {&pair.tight, &pair.perturbed})
    for (const Event& event : run->events)
      if (std::abs(event.t - t) <= width) return true;
  return false;
}

// Whether several events lie between the two sides: the backend's state may lie between any two of them.
bool SegmentCheck::several_events_between(const ComparisonPoint& point, const ReferencePair& pair) {
  if (!point.far) return false;
  for (const Trajectory* run : {&pair.tight, &pair.perturbed}) {
    const Event* first = nullptr;
    for (const Event& event : run->events) {
      if (event.t < point.sides.front().second || event.t > point.sides.back().second) continue;
      if (first && event.t > first->t) return true;
      first = &event;
    }
  }
  return false;
}

// Whether the two reference runs are so far apart at some output time that their distance excuses a state of
// another motion. Sizes are those of all coordinates: one that stays near zero says nothing. Beside an event
// the runs may be on different sides of it.
bool SegmentCheck::runs_part(const Segment& segment, const Plan& plan, const ReferencePair& pair) const {
  const auto far = [&](const Eigen::VectorXd& a, const Eigen::VectorXd& b, const Eigen::VectorXd& sizes) {
    if (a.size() == 0) return false;
    const double size = sizes.maxCoeff();
    return (a - b).cwiseAbs().maxCoeff() > sensitivity_limit * size + tolerance_share * tolerance_.unit(size);
  };
  return std::any_of(segment.points.begin(), segment.points.end(), [&](const ComparisonPoint& point) {
    const Sample *tight = sample_at(plan, pair.tight, point.t),
                 *perturbed = sample_at(plan, pair.perturbed, point.t);
    if (!point.sides.empty() || !tight || !perturbed) return false;
    const State &a = tight->state, &b = perturbed->state;
    return far(a.q, b.q, reference_.sizes().q) || far(a.v, b.v, reference_.sizes().v);
  });
}

void SegmentCheck::compare_points(const Segment& segment, const Plan& plan, const ReferencePair& pair,
                                  const Bursts& bursts, Findings& findings) const {
  for (const ComparisonPoint& point : segment.points) {
    if (several_events_between(point, pair)) continue;
    std::vector<std::pair<double, double>> places = {{point.t, point.t}};
    places.insert(places.end(), point.sides.begin(), point.sides.end());
    // On one of the sides of an event all values must agree.
    std::optional<Findings> best;
    for (const auto& [near, far] : places) {
      const Sample *tight = sample_at(plan, pair.tight, near),
                   *perturbed = sample_at(plan, pair.perturbed, near),
                   *further = sample_at(plan, pair.tight, far);
      if (!tight || !perturbed || !further) continue;
      // At the beginning of the segment all runs share the backend's state.
      if (near > segment.from.state.t && near_reference_event(point, near, pair)) continue;
      Findings here = point.output
                          ? samples(motion_.samples[*point.output], *tight, *perturbed, *further, bursts)
                          : states(motion_.end, tight->state, perturbed->state, further->state, bursts);
      if (!best || here.worst_severity() < best->worst_severity()) best = std::move(here);
    }
    if (best) findings.merge(*best);
  }
}

// State at a stop condition. The stop times differ slightly, and the states change in between.
void SegmentCheck::compare_stop(const ReferencePair& pair, const Bursts& bursts, Findings& findings) const {
  const State &tight = pair.tight.last.state, &perturbed = pair.perturbed.last.state;
  State further = tight;
  further.q += (motion_.end.t - tight.t) * tight.v;
  findings.merge(states(motion_.end, tight, perturbed, further, bursts));
}

// What friction dissipates in the shocks of a burst that are left out of the comparison: their tangential impulses, which
// are known to a share, times the slip. By auxiliary state.
Eigen::VectorXd SegmentCheck::unaccounted_heat(const State& state, const Bursts& bursts) const {
  const System& system = *study_.system;
  Eigen::VectorXd made = Eigen::VectorXd::Zero(state.z.size());
  for (const Friction& friction : system.frictions) {
    const std::optional<std::size_t>& heat = system.constraints[friction.contact].dissipated;
    const auto left_out = bursts.left_out.find({EventKind::shock, friction.rows[0]});
    if (!heat || left_out == bursts.left_out.end()) continue;
    double squares = 0;
    for (const std::size_t row : friction.rows) {
      const double slip = reference_.equations().rate(row, state);
      squares += slip * slip;
    }
    made(static_cast<Eigen::Index>(*heat)) = unaccounted * left_out->second.impulse * std::sqrt(squares);
  }
  return made;
}

Findings SegmentCheck::states(const State& backend, const State& tight, const State& perturbed,
                              const State& further, const Bursts& bursts) const {
  Findings found;
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(backend.q.size());
  const auto compare = [&](const std::vector<std::string>& names, const Eigen::VectorXd& sizes,
                           Eigen::VectorXd State::*part, const Eigen::VectorXd& left_out) {
    const Eigen::VectorXd &x = backend.*part, &a = tight.*part, &b = perturbed.*part, &c = further.*part;
    for (Eigen::Index i = 0; i < x.size(); ++i)
      found.add({member_, backend.t, names[static_cast<std::size_t>(i)], x(i), a(i),
                 spread_share * spread(a(i), b(i)) + tolerance_share * tolerance_.unit(sizes(i)) +
                     2 * spread(c(i), a(i)) + left_out(i)});
  };
  compare(names_.positions, reference_.sizes().q, &State::q, none);
  compare(names_.velocities, reference_.sizes().v, &State::v, none);
  compare(names_.auxiliaries, reference_.sizes().z, &State::z, unaccounted_heat(backend, bursts));
  return found;
}

// Hops too low to be followed are completed at once but listed where they end; until then the flag is ahead
// of the event list. Positions and velocities must agree nevertheless.
bool SegmentCheck::completed_already(std::size_t condition, double t) const {
  for (const Event& event : motion_.events) {
    const std::vector<std::size_t>& listed = event.constraints;
    if (event.t < t || std::find(listed.begin(), listed.end(), condition) == listed.end()) continue;
    return event.kind == EventKind::accumulation;
  }
  return false;
}

// States are compared with the reference's motion. Multipliers and observables are compared with the
// reference's motion or, if they differ (they may be steep functions of the state), with the reference's
// values at the backend's own state.
Findings SegmentCheck::samples(const Sample& backend, const Sample& tight, const Sample& perturbed,
                               const Sample& further, const Bursts& bursts) const {
  Findings found = states(backend.state, tight.state, perturbed.state, further.state, bursts);
  std::optional<Sample> own;
  const auto add = [&](const std::string& name, double size, const auto& value) {
    const double x = value(backend), a = value(tight);
    const double unit = tolerance_share * tolerance_.unit(size);
    CheckCase one{member_, backend.state.t,
                  name,    x,
                  a,       spread_share * spread(a, value(perturbed)) + unit + 2 * spread(value(further), a)};
    if (one.severity() > 1) {
      if (!own) own = reference_.at(backend.state, backend.closed);
      const CheckCase at_own_state{member_, backend.state.t, name, x, value(*own), unit};
      if (at_own_state.severity() < one.severity()) one = at_own_state;
    }
    found.add(one);
  };
  for (std::size_t i = 0; i < names_.multipliers.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    add(names_.multipliers[i], reference_.sizes().multipliers(k),
        [k](const Sample& sample) { return sample.multipliers(k); });
    // A flag must be equal unless the reference runs differ in it.
    const double early = backend.closed[i] > 0.5 && completed_already(i, backend.state.t) ? 1 : 0;
    found.add({member_, backend.state.t, names_.closed[i], backend.closed[i], tight.closed[i],
               spread_share * spread(tight.closed[i], perturbed.closed[i]) + early + 0.5});
  }
  for (std::size_t i = 0; i < names_.observables.size(); ++i)
    add(names_.observables[i], reference_.sizes().observables(static_cast<Eigen::Index>(i)),
        [i](const Sample& sample) { return sample.observables[i]; });
  return found;
}

}  // namespace zwang
