// Division of a motion into segments, and the runs of the reference over them.
#include "host/check/segment.h"

#include <algorithm>
#include <cmath>

#include "host/check/findings.h"
#include "host/check/work_budget.h"
#include "host/sample/member.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"

namespace zwang {

namespace {

bool by_mechanics(Status status) {
  return status == Status::infeasible || status == Status::singular || status == Status::not_finite ||
         status == Status::inconsistent_start || status == Status::painleve || status == Status::ambiguous;
}

// Which conditions are closed at an output time; -1: broken since an earlier event, which an open condition does not
// show.
std::vector<double> closed_at(const BackendMotion& motion, std::size_t output) {
  std::vector<double> closed = motion.samples[output].closed;
  for (const Event& event : motion.events)
    if (event.kind == EventKind::breaks && event.t <= motion.samples[output].state.t)
      for (const std::size_t i : event.constraints) closed[i] = -1;
  return closed;
}

}  // namespace

SegmentCheck::SegmentCheck(const Study& study, const BackendMotion& motion, const ReferenceRunner& reference,
                           unsigned long long member)
    : study_(study),
      motion_(motion),
      reference_(reference),
      member_(member),
      tolerance_(study.integrator),
      times_(study.integrator),
      names_(*study.system),
      impulse_sizes_(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(study.system->constraints.size()))) {
  // A thousand tolerances, so that events with ill-conditioned times count as near; bounded, so that coarse
  // tolerances still leave output times without a nearby event.
  const std::vector<double>& t = study.time.outputs;
  double gap = study.time.end;
  for (std::size_t j = 0; j < t.size(); ++j) {
    double room = study.time.end;
    if (j > 0) room = std::min(room, t[j] - t[j - 1]);
    if (j + 1 < t.size()) room = std::min(room, t[j + 1] - t[j]);
    clearance_.push_back(std::min(1000 * tolerance_.unit(t[j]), 1e-3 * room));
    gap = std::min(gap, room);
  }
  end_clearance_ = std::min(1000 * tolerance_.unit(motion.end.t), 1e-3 * gap);
  end_near_event_ = motion.status == Status::ok && near_event(motion.end.t, end_clearance_);
  for (const Event& event : motion.events)
    for (std::size_t i = 0; i < event.impulses.size(); ++i) {
      double& size = impulse_sizes_(static_cast<Eigen::Index>(event.struck()[i]));
      size = std::max(size, std::abs(event.impulses[i]));
    }
}

bool SegmentCheck::near_event(double t, double clearance) const {
  return std::any_of(motion_.events.begin(), motion_.events.end(),
                     [&](const Event& event) { return std::abs(event.t - t) <= clearance; });
}

std::vector<Anchor> SegmentCheck::anchors() const {
  std::vector<Anchor> made = {{motion_.start, {}, std::nullopt}};
  for (std::size_t j = 0; j < motion_.samples.size(); ++j) {
    const double t = study_.time.outputs[j];
    if (!motion_.reached[j] || !(t < motion_.end.t - std::max(clearance_[j], end_clearance_))) continue;
    if (!near_event(t, clearance_[j])) made.push_back({motion_.samples[j].state, closed_at(motion_, j), j});
  }
  return made;
}

SegmentCheck::ComparisonPoint SegmentCheck::comparison_point(double t, double clearance,
                                                             std::optional<std::size_t> output) const {
  ComparisonPoint point{t, output};
  if (!near_event(t, clearance)) return point;
  // Outside the event's own instant: within it the side of the event is undetermined.
  const double close = std::min(30 * tolerance_.unit(t), clearance / 4), outside = 2 * times_.one_instant(t);
  const double beside = std::max(close, outside);
  point.far = outside > close;
  point.sides = {{t - beside, t - 2 * beside}, {t + beside, t + 2 * beside}};
  return point;
}

SegmentCheck::Segment SegmentCheck::make_segment(const Anchor& from, const std::optional<Anchor>& to) const {
  Segment made{.from = from, .last = !to};
  // A member that reached a limit is compared up to its end; other ends have a cause the reference finds too.
  const bool own_end =
      motion_.status == Status::ok || motion_.status == Status::stopped || by_mechanics(motion_.status);
  made.until = to ? to->state.t : own_end ? study_.time.end : motion_.end.t;
  if (made.last && own_end) made.expected = motion_.status;

  const std::size_t first = from.output ? *from.output + 1 : 0;
  const std::size_t past = to ? *to->output + 1 : motion_.samples.size();
  for (std::size_t j = first; j < past; ++j)
    if (motion_.reached[j]) made.points.push_back(comparison_point(study_.time.outputs[j], clearance_[j], j));
  if (made.last && made.expected == Status::ok)
    made.points.push_back(comparison_point(motion_.end.t, end_clearance_, std::nullopt));
  return made;
}

// `beyond`: extend the run past an event at the end.
Plan SegmentCheck::plan_for(const Segment& segment, bool beyond) const {
  Plan plan{{}, segment.until};
  if (beyond && !segment.points.empty())
    for (const auto& [near, far] : segment.points.back().sides) plan.end = std::max(plan.end, far);
  const bool start = !segment.from.output;
  const auto add = [&](double t) {
    if ((start ? t >= 0 : t > segment.from.state.t) && t <= plan.end) plan.outputs.push_back(t);
  };
  for (const ComparisonPoint& point : segment.points) {
    add(point.t);
    for (const auto& [near, far] : point.sides) {
      add(near);
      add(far);
    }
  }
  std::sort(plan.outputs.begin(), plan.outputs.end());
  plan.outputs.erase(std::unique(plan.outputs.begin(), plan.outputs.end()), plan.outputs.end());
  return plan;
}

ReferencePair SegmentCheck::run_reference(const Segment& segment, const Plan& plan,
                                          const ReferencePair& before, WorkBudget& budget) const {
  const Anchor& from = segment.from;
  return from.output ? reference_.from_middle(from.state, from.closed, plan,
                                              {*from.output + 1, segment.attempt}, before, budget)
                     : reference_.from_start(from.state, plan, {0, segment.attempt}, budget);
}

void SegmentCheck::leave_undecided(const Segment& segment, UndecidedCause cause, const ReferencePair& pair,
                                   SegmentVerdict& verdict) const {
  verdict.decided = false;
  verdict.undecided = {member_, segment.from.state.t, segment.until, cause, undecided_reason(cause, pair)};
}

SegmentVerdict SegmentCheck::check(const Anchor& from, const std::optional<Anchor>& to,
                                   const ReferencePair& before, WorkBudget& budget,
                                   Findings& findings) const {
  // One perturbation tests one of many directions. A disagreement is confirmed by further attempts with other
  // perturbations before it counts, unless disagreements are frequent. If the events depend on the
  // perturbation, different events are accepted, but with the same events the numbers must agree.
  constexpr std::size_t too_often = 20;
  const std::size_t attempts = findings.disagreements() < too_often ? 8 : 1;
  Segment now = make_segment(from, to);
  Findings least;
  SegmentVerdict verdict;
  for (now.attempt = 0; now.attempt < attempts; ++now.attempt) {
    Findings found;
    SegmentVerdict result = compare_once(now, before, budget, found);
    // A later attempt that was given up excuses nothing, and another one would cost as much.
    if (now.attempt > 0 && result.pair.given_up()) break;
    const bool better = found.disagreements() < least.disagreements() && (result.decided || !verdict.agreed);
    if (now.attempt > 0 && !better) continue;
    least = std::move(found);
    verdict = std::move(result);
    if (least.disagreements() == 0) break;
  }
  findings.merge(least);
  return verdict;
}

SegmentVerdict SegmentCheck::compare_once(const Segment& now, const ReferencePair& before, WorkBudget& budget,
                                          Findings& findings) const {
  const Plan plan = plan_for(now, false);
  SegmentVerdict verdict;
  verdict.pair = run_reference(now, plan, before, budget);
  const ReferencePair& pair = verdict.pair;
  verdict.duration = pair.tight.last.state.t - now.from.state.t;

  // If a reference run was given up or the two differ, nothing can be concluded about the backend.
  if (pair.given_up() || pair.tight.status != pair.perturbed.status) {
    leave_undecided(now, pair.given_up() ? UndecidedCause::budget : UndecidedCause::status, pair, verdict);
    return verdict;
  }
  findings.add({.member = member_,
                .t = pair.tight.last.state.t,
                .quantity = "status",
                .backend_word = status_name(now.expected),
                .reference_word = status_name(pair.tight.status)});
  verdict.agreed = pair.tight.status == now.expected;
  if (!verdict.agreed) return verdict;

  if (const auto cause = compare_events(now, pair, budget, verdict.bursts, findings))
    leave_undecided(now, *cause, pair, verdict);
  verdict.agreed = findings.disagreements() == 0;
  if (!verdict.decided) return verdict;
  if (now.last && end_near_event_) {
    const Plan beyond = plan_for(now, true);
    const ReferencePair extended = run_reference(now, beyond, before, budget);
    if (extended.given_up())
      leave_undecided(now, UndecidedCause::budget, extended, verdict);
    else
      compare_points(now, beyond, extended, verdict.bursts, findings);
  } else {
    compare_points(now, plan, pair, verdict.bursts, findings);
  }
  if (now.last && now.expected == Status::stopped) compare_stop(pair, verdict.bursts, findings);
  // Where the two runs part, anything between them would agree.
  if (findings.disagreements() == 0 && verdict.decided && runs_part(now, plan, pair))
    leave_undecided(now, UndecidedCause::chaos, pair, verdict);
  return verdict;
}

}  // namespace zwang
