// Where stretches begin and end, and how the reference is run over them.
#include "host/check/segment.h"

#include <algorithm>
#include <cmath>

#include "host/check/findings.h"
#include "host/sample/member.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"

namespace zwang {

namespace {

bool by_mechanics(Status status) {
  return status == Status::infeasible || status == Status::singular || status == Status::not_finite ||
         status == Status::inconsistent_start;
}

}  // namespace

StretchCheck::StretchCheck(const Study& study, const BackendMotion& motion, const Witness& witness,
                           unsigned long long member)
    : study_(study),
      motion_(motion),
      witness_(witness),
      member_(member),
      tolerance_(study.integrator),
      times_(study.integrator),
      names_(*study.system),
      impulse_sizes_(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(study.system->constraints.size()))) {
  // A thousand tolerances, so that events whose times are badly conditioned are seen to be near; but not so much that
  // coarse tolerances leave no output time clear.
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
  end_beset_ = motion.status == Status::ok && beset(motion.end.t, end_clearance_);
  for (const Event& event : motion.events)
    for (std::size_t i = 0; i < event.impulses.size(); ++i) {
      double& size = impulse_sizes_(static_cast<Eigen::Index>(event.constraints[i]));
      size = std::max(size, std::abs(event.impulses[i]));
    }
}

bool StretchCheck::beset(double t, double clearance) const {
  return std::any_of(motion_.events.begin(), motion_.events.end(),
                     [&](const Event& event) { return std::abs(event.t - t) <= clearance; });
}

std::vector<Anchor> StretchCheck::anchors() const {
  std::vector<Anchor> made = {{motion_.start, {}, std::nullopt}};
  for (std::size_t j = 0; j < motion_.samples.size(); ++j) {
    const double t = study_.time.outputs[j];
    if (!motion_.reached[j] || !(t < motion_.end.t - std::max(clearance_[j], end_clearance_))) continue;
    if (!beset(t, clearance_[j])) made.push_back({motion_.samples[j].state, motion_.samples[j].closed, j});
  }
  return made;
}

StretchCheck::Look StretchCheck::look_at(double t, double clearance,
                                         std::optional<std::size_t> output) const {
  Look look{t, output};
  if (!beset(t, clearance)) return look;
  // Not within what counts as the event's own instant: there is no telling on which side of it one stands.
  const double close = std::min(30 * tolerance_.unit(t), clearance / 4), outside = 2 * times_.one_instant(t);
  const double beside = std::max(close, outside);
  look.far = outside > close;
  look.sides = {{t - beside, t - 2 * beside}, {t + beside, t + 2 * beside}};
  return look;
}

StretchCheck::Stretch StretchCheck::stretch(const Anchor& from, const std::optional<Anchor>& to) const {
  Stretch made{.from = from, .last = !to};
  // A member that ran out of steps is compared as far as it came; others end for a reason the reference finds too.
  const bool own_end =
      motion_.status == Status::ok || motion_.status == Status::stopped || by_mechanics(motion_.status);
  made.until = to ? to->state.t : own_end ? study_.time.end : motion_.end.t;
  if (made.last && own_end) made.expected = motion_.status;

  const std::size_t first = from.output ? *from.output + 1 : 0;
  const std::size_t past = to ? *to->output + 1 : motion_.samples.size();
  for (std::size_t j = first; j < past; ++j)
    if (motion_.reached[j]) made.looks.push_back(look_at(study_.time.outputs[j], clearance_[j], j));
  if (made.last && made.expected == Status::ok)
    made.looks.push_back(look_at(motion_.end.t, end_clearance_, std::nullopt));
  return made;
}

// `beyond`: far enough to see the far side of an event at the end.
Plan StretchCheck::plan_for(const Stretch& stretch, bool beyond) const {
  Plan plan{{}, stretch.until};
  if (beyond && !stretch.looks.empty())
    for (const auto& [near, far] : stretch.looks.back().sides) plan.end = std::max(plan.end, far);
  const bool start = !stretch.from.output;
  const auto add = [&](double t) {
    if ((start ? t >= 0 : t > stretch.from.state.t) && t <= plan.end) plan.outputs.push_back(t);
  };
  for (const Look& look : stretch.looks) {
    add(look.t);
    for (const auto& [near, far] : look.sides) {
      add(near);
      add(far);
    }
  }
  std::sort(plan.outputs.begin(), plan.outputs.end());
  plan.outputs.erase(std::unique(plan.outputs.begin(), plan.outputs.end()), plan.outputs.end());
  return plan;
}

Accounts StretchCheck::accounts(const Stretch& stretch, const Plan& plan, const Accounts& before) const {
  const Anchor& from = stretch.from;
  return from.output ? witness_.from_middle(from.state, from.closed, plan,
                                            {*from.output + 1, stretch.hearing}, before)
                     : witness_.from_start(from.state, plan, {0, stretch.hearing});
}

StretchVerdict StretchCheck::check(const Anchor& from, const std::optional<Anchor>& to,
                                   const Accounts& before, Findings& findings) const {
  // One nudge tries one direction of many. Whoever disagrees is heard again with others, before it counts, unless that
  // happens all the time. That a story hangs by a hair excuses another story, but no wrong numbers in the same one.
  constexpr std::size_t too_often = 20;
  const std::size_t hearings = findings.disagreements() < too_often ? 8 : 1;
  Stretch now = stretch(from, to);
  Findings least;
  StretchVerdict verdict;
  for (now.hearing = 0; now.hearing < hearings; ++now.hearing) {
    Findings found;
    StretchVerdict heard = hear(now, before, found);
    const bool better = found.disagreements() < least.disagreements() && (heard.decided || !verdict.agreed);
    if (now.hearing > 0 && !better) continue;
    least = std::move(found);
    verdict = std::move(heard);
    if (least.disagreements() == 0) break;
  }
  findings.merge(least);
  return verdict;
}

StretchVerdict StretchCheck::hear(const Stretch& now, const Accounts& before, Findings& findings) const {
  const Plan plan = plan_for(now, false);
  StretchVerdict verdict;
  verdict.accounts = accounts(now, plan, before);
  const Accounts& told = verdict.accounts;
  verdict.duration = told.tight.last.state.t - now.from.state.t;

  // Accounts that part are no ground for judging anybody.
  verdict.decided = told.tight.status == told.nudged.status;
  if (!verdict.decided) return verdict;
  findings.judge({.member = member_,
                  .t = told.tight.last.state.t,
                  .quantity = "status",
                  .backend_word = status_name(now.expected),
                  .reference_word = status_name(told.tight.status)});
  verdict.agreed = told.tight.status == now.expected;
  if (!verdict.agreed) return verdict;

  verdict.decided = compare_events(now, told, verdict.bursts, findings);
  verdict.agreed = findings.disagreements() == 0;
  if (!verdict.decided) return verdict;
  if (now.last && end_beset_) {
    const Plan beyond = plan_for(now, true);
    compare_looks(now, beyond, accounts(now, beyond, before), findings);
  } else {
    compare_looks(now, plan, told, findings);
  }
  if (now.last && now.expected == Status::stopped) compare_stop(told, findings);
  return verdict;
}

}  // namespace zwang
