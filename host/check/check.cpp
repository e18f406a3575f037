// Runs a check over sampled members and forms the verdict.
#include "host/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "host/backend/batch.h"
#include "host/check/backend_motion.h"
#include "host/check/findings.h"
#include "host/check/member.h"
#include "host/check/work_budget.h"
#include "host/platform/parallel.h"
#include "host/study/study.h"
#include "kernels/base/status.h"

namespace zwang {

namespace {

// Above this share of undecided segments the verdict mentions them.
constexpr double undecided_share = 0.1;

bool failed(Status status) { return status != Status::ok && status != Status::stopped; }

// For example "singular at t = 0 (5), not_finite at t = 0.2"; at most three different causes.
std::string ends_text(const std::vector<CheckReport::Ended>& ended) {
  std::vector<std::pair<std::string, std::size_t>> causes;
  for (const CheckReport::Ended& one : ended) {
    const std::string cause = fmt::format("{} at t = {:.6g}", status_name(one.status), one.t);
    const auto known =
        std::find_if(causes.begin(), causes.end(), [&](const auto& w) { return w.first == cause; });
    if (known == causes.end())
      causes.emplace_back(cause, 1);
    else
      ++known->second;
  }
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(causes.size(), 3); ++k) {
    text += (k > 0 ? ", " : "") + causes[k].first;
    if (causes.size() > 1) text += fmt::format(" ({})", causes[k].second);
  }
  return causes.size() > 3 ? text + " ..." : text;
}

// For example "budget 3, events 1".
std::string causes_text(const std::map<std::string, std::size_t>& causes) {
  std::string text;
  for (const auto& [cause, count] : causes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cause, count);
  return text;
}

}  // namespace

std::map<std::string, std::size_t> CheckReport::undecided_by_cause() const {
  std::map<std::string, std::size_t> counts;
  for (const UndecidedStretch& one : undecided) ++counts[undecided_cause_name(one.cause)];
  return counts;
}

std::vector<unsigned long long> sampled_members(long long members, std::size_t sample) {
  const auto all = static_cast<unsigned long long>(members);
  const auto count = std::min<unsigned long long>(all, sample);
  std::vector<unsigned long long> made;
  for (unsigned long long k = 0; k < count; ++k)
    made.push_back(k * (all / count) + k * (all % count) / count);
  return made;
}

CheckVerdict CheckReport::verdict() const {
  if (findings.disagreements() > 0) return CheckVerdict::disagree;
  // If no segment could be decided, the verdict is not a pass.
  // A segment without duration (from the start to an output at t = 0) says nothing about the motion.
  const bool no_motion_decided = undecided_segments > 0 && !reverse && !(decided_duration > 0);
  const bool nothing_decided = segments > 0 ? undecided_segments == segments || no_motion_decided : reverse;
  return nothing_decided ? CheckVerdict::undecided : CheckVerdict::pass;
}

std::string CheckReport::verdict_text() const {
  const char* unit = reverse ? "round trips" : "segments";
  std::string text;
  switch (verdict()) {
    case CheckVerdict::pass:
      text = reverse ? "pass: the motion retraces its path"
                     : fmt::format("pass: {} agrees with the reference", backend);
      break;
    case CheckVerdict::disagree:
      text = reverse ? fmt::format("disagree: {} of {} numbers differ from the start after the round trip",
                                   findings.disagreements(), findings.comparisons())
                     : fmt::format("disagree: {} differs from the reference in {} of {} comparisons", backend,
                                   findings.disagreements(), findings.comparisons());
      break;
    case CheckVerdict::undecided:
      text = "undecided: " + undecided_text();
      break;
  }
  const auto share =
      static_cast<double>(undecided_segments) / static_cast<double>(std::max<std::size_t>(segments, 1));
  if (verdict() != CheckVerdict::undecided && share > undecided_share)
    text += fmt::format("; {:.0f} % of the {} are undecided", 100 * share, unit);
  return text;
}

std::string CheckReport::undecided_text() const {
  if (segments == 0) return "no member could be run back";
  if (reverse)
    return fmt::format("none of the {} round trips could be compared ({})", segments,
                       causes_text(undecided_by_cause()));
  const std::map<std::string, std::size_t> causes = undecided_by_cause();
  if (failed.size() == members.size() && !causes.contains(undecided_cause_name(UndecidedCause::budget)))
    return fmt::format("every member failed before there was any motion to compare: {}", ends_text(failed));
  const char* rest = undecided_segments == segments ? "" : ", and the others have no duration";
  return fmt::format("nothing could be concluded in {} of {} segments ({}){}", undecided_segments, segments,
                     causes_text(causes), rest);
}

CheckReport check(const Study& study, Backend& backend, const CheckOptions& options) {
  CheckReport report;
  report.backend = backend.name();
  report.device = backend.device();
  report.members = sampled_members(study.ensemble.members, options.sample);
  const Batch batch = prepare_batch(study, report.members, options.threads);
  const BatchResults results = backend.run(batch, {.observables = true, .states = true, .events = true});

  // Members are independent; findings are merged in member order, so the report does not depend on the
  // threads.
  std::vector<MemberFindings> found(batch.count);
  std::atomic<std::size_t> done = 0, segments = 0;
  const auto segment_done = [&] { options.progress({done, batch.count, ++segments}); };
  in_parallel(batch.count, options.threads, [&](std::size_t k) {
    const unsigned long long member = report.members[k];
    if (batch.prepared[k] == Status::ok) {
      const BackendMotion motion = motion_of(study, batch, results, k);
      const WorkBudget budget(options.budget, credited_steps(motion), batch.count);
      found[k] = check_member(study, motion, member, budget, segment_done);
    } else {
      found[k].findings.add({.member = member,
                             .quantity = "status",
                             .backend_word = status_name(results.status[k]),
                             .reference_word = status_name(batch.prepared[k])});
    }
    options.progress({++done, batch.count, segments});
  });
  for (std::size_t k = 0; k < batch.count; ++k) {
    report.findings.merge(found[k].findings);
    report.segments += found[k].segments;
    report.undecided_segments += found[k].undecided_segments;
    report.decided_duration += found[k].decided_duration;
    report.measures += found[k].measures;
    report.undecided_measures += found[k].undecided_measures;
    report.undecided.insert(report.undecided.end(), found[k].undecided.begin(), found[k].undecided.end());
    if (failed(results.status[k]))
      report.failed.push_back({report.members[k], results.status[k], results.end_time[k]});
  }
  return report;
}

}  // namespace zwang
