// Consistency, status, segments and measures of one member.
#include "host/check/member.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/check/backend_motion.h"
#include "host/check/combined_measures.h"
#include "host/check/events.h"
#include "host/check/measures.h"
#include "host/check/record_reductions.h"
#include "host/check/reference_pair.h"
#include "host/check/segment.h"
#include "host/check/work_budget.h"
#include "host/sample/member.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/measures.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

class MemberCheck {
 public:
  MemberCheck(const Study& study, const BackendMotion& motion, unsigned long long member, WorkBudget budget)
      : study_(study),
        motion_(motion),
        member_(member),
        reference_(*study.system, study.integrator, motion.parameters, sizes_of_motion(*study.system, motion),
                   member),
        segments_(study, motion, reference_, member),
        reductions_(*study.system, study.integrator.accumulation_gap),
        budget_(budget) {}

  MemberFindings run(const std::function<void()>& segment_done) {
    check_consistency();
    check_status();
    compare_records();
    // From each output time without nearby events to the next, then to the end.
    const std::vector<Anchor> anchors = segments_.anchors();
    ReferencePair before;
    for (std::size_t k = 0; k < anchors.size(); ++k) {
      const bool last = k + 1 == anchors.size();
      budget_.begin_stretch(anchors.size() - k);
      SegmentVerdict verdict = segments_.check(
          anchors[k], last ? std::nullopt : std::optional(anchors[k + 1]), before, budget_, made_.findings);
      ++made_.segments;
      if (verdict.decided)
        made_.decided_duration += verdict.duration;
      else
        ++made_.undecided_segments;
      if (verdict.undecided) made_.undecided.push_back(std::move(*verdict.undecided));
      reductions_.add(verdict.pair, verdict.duration, verdict.decided);
      reductions_.add_allowance(verdict.bursts);
      before = std::move(verdict.pair);
      segment_done();
    }
    if (!is_limit(motion_.status)) check_measures();
    return std::move(made_);
  }

 private:
  // Internal consistency of the backend's results: event counts match the event list, and every output time
  // before the end has been written.
  void check_consistency() {
    std::vector<long long> listed(event_kinds, 0);
    for (const Event& event : motion_.events) ++listed[static_cast<std::size_t>(event.kind)];
    for (std::size_t kind = 0; kind < listed.size(); ++kind)
      made_.findings.add({member_, motion_.end.t,
                          "number of events of kind " + event_kind_name(static_cast<EventKind>(kind)),
                          static_cast<double>(motion_.event_counts[kind]), static_cast<double>(listed[kind]),
                          0.5});
    for (std::size_t j = 0; j < motion_.reached.size(); ++j) {
      const double t = study_.time.outputs[j];
      if (motion_.reached[j] || !(t < motion_.end.t - segments_.clearance(j))) continue;
      made_.findings.add({member_, t, "output", std::nan(""), t, 0});
    }
    check_measures_of_events();
  }

  // Measures of events follow from the event list up to rounding, independently of the motion.
  void check_measures_of_events() {
    Measures noted(reference_.equations());
    const Sample nowhere{motion_.start,
                         Eigen::VectorXd::Zero(reference_.sizes().multipliers.size()),
                         std::vector<double>(study_.system->constraints.size()),
                         {}};
    const Moment moment{nowhere.state, nowhere.multipliers, nowhere.closed};
    for (const Event& event : motion_.events) noted.note(event, moment);
    const auto integrals = static_cast<Eigen::Index>(study_.system->integrands.size());
    const std::vector<double> values = noted.finish(moment, Eigen::VectorXd::Zero(integrals), 0);
    const QuantityNames names(*study_.system);
    for (std::size_t i = 0; i < motion_.measures.size(); ++i) {
      const std::optional<std::size_t> r = only_reduction(*study_.system->pool, study_.system->measures[i]);
      if (!r) continue;
      const ReductionFormula& formula = study_.system->reductions[*r];
      if (formula.pattern == EventPattern::none || formula.reduction == Reduction::at) continue;
      // Sums are rounded once per event.
      const double once = study_.integrator.single ? std::numeric_limits<float>::epsilon() / 2 : 1e-10;
      const double times = study_.integrator.single ? static_cast<double>(motion_.events.size()) + 1 : 1;
      const double rounding = once * times * std::abs(values[*r]) + std::numeric_limits<double>::min();
      made_.findings.add({member_, motion_.end.t, names.measures[i] + " (from its events)",
                          motion_.measures[i], values[*r], rounding});
    }
  }

  // Limits count the work of the whole run, so the whole run must be repeated.
  void check_status() {
    // By the backend's own audit its motion is wrong somewhere: a finding, wherever the segments locate it.
    if (motion_.status == Status::inaccurate)
      made_.findings.add({.member = member_,
                          .t = motion_.end.t,
                          .quantity = "status",
                          .backend_word = status_name(Status::inaccurate),
                          .reference_word = status_name(Status::ok)});
    if (!is_limit(motion_.status)) return;  // compared in the last segment
    budget_.begin_stretch(2);               // as much is left for the segments
    const Trajectory whole_run = reference_.whole_run(motion_.start, study_plan(study_), budget_);
    if (whole_run.given_up) {
      made_.undecided.push_back({member_, 0, motion_.end.t, UndecidedCause::budget,
                                 fmt::format("whether the member ends as {}: {}", status_name(motion_.status),
                                             used_up_text(whole_run))});
      return;
    }
    made_.findings.add({.member = member_,
                        .t = motion_.end.t,
                        .quantity = "status",
                        .backend_word = status_name(motion_.status),
                        .reference_word = status_name(whole_run.status)});
  }

  // Reductions over records need the whole motion at once; as much work is left for the segments.
  void compare_records() {
    if (!has_record_reductions(*study_.system)) return;
    budget_.begin_stretch(2);
    const ReferencePair whole = reference_.from_start(motion_.start, study_plan(study_), {}, budget_);
    reductions_.set_records(record_verdicts(*study_.system, reference_.equations(), whole, motion_.status,
                                            Tolerance(study_.integrator)));
  }

  // Sizes of the reduced expressions along the motion, evaluated with the conditions as they were, all
  // open, and all closed.
  std::vector<double> reduced_sizes() const {
    const Measures measures(reference_.equations());
    std::vector<double> sizes(study_.system->reductions.size(), 0);
    for (std::size_t j = 0; j < motion_.samples.size(); ++j) {
      if (!motion_.reached[j]) continue;
      const Sample& sample = motion_.samples[j];
      for (const std::vector<double>& closed : {sample.closed, std::vector<double>(sample.closed.size(), 0.0),
                                                std::vector<double>(sample.closed.size(), 1.0)}) {
        const std::vector<double> values = measures.values({sample.state, sample.multipliers, closed});
        for (std::size_t i = 0; i < sizes.size(); ++i)
          if (std::isfinite(values[i])) sizes[i] = std::max(sizes[i], std::abs(values[i]));
      }
    }
    return sizes;
  }

  void check_measures() {
    reductions_.set_sizes(reduced_sizes());
    const Tolerance tolerance(study_.integrator);
    const QuantityNames names(*study_.system);
    const CombinedMeasures combined(*study_.system, reference_.equations(), reductions_, tolerance);
    for (std::size_t i = 0; i < motion_.measures.size(); ++i) {
      const double value = motion_.measures[i];
      const CombinedMeasures::Verdict verdict = combined.verdict(i, value);
      const CheckCase one{member_, motion_.end.t,     names.measures[i],
                          value,   verdict.reference, verdict.tolerance};
      ++made_.measures;
      // If the end coincides with an event, the values before and after the event are equally valid.
      const bool decided = verdict.decided && !(segments_.end_is_near_event() && one.severity() > 1);
      if (decided)
        made_.findings.add(one);
      else
        ++made_.undecided_measures;
    }
  }

  const Study& study_;
  const BackendMotion& motion_;
  unsigned long long member_;
  ReferenceRunner reference_;
  SegmentCheck segments_;
  StitchedReductions reductions_;
  WorkBudget budget_;
  MemberFindings made_;
};

}  // namespace

MemberFindings check_member(const Study& study, const BackendMotion& motion, unsigned long long member,
                            WorkBudget budget, const std::function<void()>& segment_done) {
  return MemberCheck(study, motion, member, budget).run(segment_done);
}

}  // namespace zwang
