#include "host/check/member.h"

#include <algorithm>
#include <cmath>

#include "host/check/events.h"
#include "host/check/measures.h"
#include "host/check/segment.h"
#include "host/sample/member.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/measures.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Numbers = Eigen::Map<const Eigen::VectorXd>;

// Status that says how much work was done rather than what the mechanics is: a restarted run cannot tell.
bool is_limit(Status status) {
  return status == Status::step_limit || status == Status::event_limit || status == Status::step_too_small ||
         status == Status::event_lost;
}

void enlarge(Eigen::VectorXd& size, const Eigen::VectorXd& x) {
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (std::isfinite(x(i))) size(i) = std::max(size(i), std::abs(x(i)));
}

class MemberCheck {
 public:
  MemberCheck(const Study& study, const BackendMotion& motion, unsigned long long member)
      : study_(study),
        motion_(motion),
        member_(member),
        witness_(*study.system, study.integrator, motion.parameters, sizes_of_motion(*study.system, motion),
                 member),
        stretches_(study, motion, witness_, member),
        measures_(*study.system, study.integrator.accumulation_gap) {}

  MemberFindings run() {
    check_books();
    check_status();
    // From one clear output time to the next, then to the end.
    const std::vector<Anchor> anchors = stretches_.anchors();
    Accounts before;
    for (std::size_t k = 0; k < anchors.size(); ++k) {
      const bool last = k + 1 == anchors.size();
      StretchVerdict verdict = stretches_.check(
          anchors[k], last ? std::nullopt : std::optional(anchors[k + 1]), before, made_.findings);
      ++made_.stretches;
      if (!verdict.decided) ++made_.undecided_stretches;
      measures_.add(verdict.accounts, verdict.duration, verdict.decided);
      measures_.excuse(verdict.bursts);
      before = std::move(verdict.accounts);
    }
    if (!is_limit(motion_.status)) check_measures();
    return std::move(made_);
  }

 private:
  // The backend's own books: what it counted is what it lists, and every output before its end is there.
  void check_books() {
    std::vector<long long> listed(event_kinds, 0);
    for (const Event& event : motion_.events) ++listed[static_cast<std::size_t>(event.kind)];
    for (std::size_t kind = 0; kind < listed.size(); ++kind)
      made_.findings.judge({member_, motion_.end.t,
                            "number of events of kind " + event_kind_name(static_cast<EventKind>(kind)),
                            static_cast<double>(motion_.event_counts[kind]),
                            static_cast<double>(listed[kind]), 0.5});
    for (std::size_t j = 0; j < motion_.reached.size(); ++j) {
      const double t = study_.time.outputs[j];
      if (motion_.reached[j] || !(t < motion_.end.t - stretches_.clearance(j))) continue;
      made_.findings.judge({member_, t, "output", std::nan(""), t, 0});
    }
    check_measures_of_events();
  }

  // Measures of events follow from the list of events, to rounding, whatever the motion.
  void check_measures_of_events() {
    Measures noted(witness_.equations());
    const Sample nowhere{motion_.start,
                         Eigen::VectorXd::Zero(witness_.sizes().multipliers.size()),
                         std::vector<double>(study_.system->constraints.size()),
                         {}};
    const Moment moment{nowhere.state, nowhere.multipliers, nowhere.closed};
    for (const Event& event : motion_.events) noted.note(event, moment);
    const auto integrals = static_cast<Eigen::Index>(study_.system->integrands.size());
    const std::vector<double> values = noted.finish(moment, Eigen::VectorXd::Zero(integrals), 0);
    const QuantityNames names(*study_.system);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Measure& measure = study_.system->measures[i];
      if (measure.pattern == EventPattern::none || measure.reduction == Reduction::at) continue;
      // Sums are rounded once an event.
      const double once = study_.integrator.single ? std::numeric_limits<float>::epsilon() / 2 : 1e-10;
      const double times = study_.integrator.single ? static_cast<double>(motion_.events.size()) + 1 : 1;
      const double rounding = once * times * std::abs(values[i]) + std::numeric_limits<double>::min();
      made_.findings.judge({member_, motion_.end.t, names.measures[i] + " (from its events)",
                            motion_.measures[i], values[i], rounding});
    }
  }

  // Limits count the work of the whole run, so the whole run it must be.
  void check_status() {
    if (!is_limit(motion_.status)) return;  // the last stretch says
    const Trajectory whole = witness_.whole(motion_.start, study_plan(study_));
    made_.findings.judge({.member = member_,
                          .t = motion_.end.t,
                          .quantity = "status",
                          .backend_word = status_name(motion_.status),
                          .reference_word = status_name(whole.status)});
  }

  // How large the measures' expressions are along the motion, with every condition as it was, open, or closed.
  std::vector<double> measure_sizes() const {
    const Measures measures(witness_.equations());
    std::vector<double> sizes(motion_.measures.size(), 0);
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
    measures_.set_sizes(measure_sizes());
    const Tolerance tolerance(study_.integrator);
    const QuantityNames names(*study_.system);
    for (std::size_t i = 0; i < motion_.measures.size(); ++i) {
      const StitchedMeasures::Verdict verdict = measures_.verdict(i);
      const double value = motion_.measures[i];
      const double size = std::max(std::abs(verdict.reference), std::abs(value));
      const CheckCase one{
          member_,
          motion_.end.t,
          names.measures[i],
          value,
          verdict.reference,
          10 * verdict.spread + 30 * tolerance.unit(std::isfinite(size) ? size : 0) + verdict.excused};
      ++made_.measures;
      // At an end that is an event time, before and after the event are equally right.
      const bool decided = verdict.decided && !(stretches_.end_is_beset() && one.severity() > 1);
      if (decided)
        made_.findings.judge(one);
      else
        ++made_.undecided_measures;
    }
  }

  const Study& study_;
  const BackendMotion& motion_;
  unsigned long long member_;
  Witness witness_;
  StretchCheck stretches_;
  StitchedMeasures measures_;
  MemberFindings made_;
};

}  // namespace

MemberSizes sizes_of_motion(const System& system, const BackendMotion& motion) {
  const auto zero = [](std::size_t count) {
    return Eigen::VectorXd(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(count)));
  };
  MemberSizes sizes{zero(system.size()), zero(system.size()), zero(system.auxiliaries.size()),
                    zero(system.constraints.size()), zero(system.observables.size())};
  const auto include = [&](const State& state) {
    enlarge(sizes.q, state.q);
    enlarge(sizes.v, state.v);
    enlarge(sizes.z, state.z);
  };
  include(motion.start);
  include(motion.end);
  for (std::size_t j = 0; j < motion.samples.size(); ++j) {
    if (!motion.reached[j]) continue;
    const Sample& sample = motion.samples[j];
    include(sample.state);
    enlarge(sizes.multipliers, sample.multipliers);
    enlarge(sizes.observables, Numbers(sample.observables.data(), sizes.observables.size()));
  }
  return sizes;
}

BackendMotion motion_of(const Study& study, const Batch& batch, const BatchResults& results, std::size_t k) {
  const System& system = *study.system;
  const auto n = static_cast<Eigen::Index>(system.size());
  const auto nz = static_cast<Eigen::Index>(system.auxiliaries.size());
  const auto conditions = static_cast<Eigen::Index>(system.constraints.size());
  const std::size_t outputs = study.time.outputs.size(), observables = system.observables.size();
  const auto width = static_cast<std::size_t>(2 * n + nz);
  const auto state_at = [&](double t, const double* from) {
    return State{t, Numbers(from, n), Numbers(from + n, n), Numbers(from + 2 * n, nz)};
  };
  const auto part = [k](const auto& all, std::size_t size) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(k * size);
    return std::vector(from, from + static_cast<std::ptrdiff_t>(size));
  };

  BackendMotion made;
  made.status = results.status[k];
  made.start = state_at(0, batch.starts.data() + k * width);
  made.end = state_at(results.end_time[k], results.end_state.data() + k * width);
  made.parameters = part(batch.parameters, system.parameters.size());
  made.events = results.events[k];
  made.event_counts = part(results.event_counts, event_kinds);
  made.measures = part(results.measures, system.measures.size());
  for (std::size_t j = 0; j < outputs; ++j) {
    const double* row =
        results.states.data() + (k * outputs + j) * (width + 2 * static_cast<std::size_t>(conditions));
    Sample sample{state_at(study.time.outputs[j], row), Numbers(row + width, conditions), {}, {}};
    const double* closed = row + width + conditions;
    sample.closed.assign(closed, closed + conditions);
    const double* seen = results.observables.data() + (k * outputs + j) * observables;
    sample.observables.assign(seen, seen + observables);
    made.reached.push_back(!sample.state.q.hasNaN() && !sample.state.z.hasNaN());
    made.samples.push_back(std::move(sample));
  }
  return made;
}

MemberFindings check_member(const Study& study, const BackendMotion& motion, unsigned long long member) {
  return MemberCheck(study, motion, member).run();
}

}  // namespace zwang
