// Runs a check over sampled members and forms the verdict.
#include "host/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "host/backend/batch.h"
#include "host/check/backend_motion.h"
#include "host/check/member.h"
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

}  // namespace

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
  const bool nothing_decided = segments > 0 ? undecided_segments == segments : reverse;
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
  if (reverse) return fmt::format("all {} round trips are too sensitive to be compared", segments);
  if (failed.size() == members.size())
    return fmt::format("every member failed before there was any motion to compare: {}", ends_text(failed));
  return fmt::format("the two reference runs differ in their events in all {} segments", segments);
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
  std::atomic<std::size_t> done = 0;
  in_parallel(batch.count, options.threads, [&](std::size_t k) {
    const unsigned long long member = report.members[k];
    if (batch.prepared[k] == Status::ok)
      found[k] = check_member(study, motion_of(study, batch, results, k), member);
    else
      found[k].findings.add({.member = member,
                             .quantity = "status",
                             .backend_word = status_name(results.status[k]),
                             .reference_word = status_name(batch.prepared[k])});
    options.progress(++done, batch.count);
  });
  for (std::size_t k = 0; k < batch.count; ++k) {
    report.findings.merge(found[k].findings);
    report.segments += found[k].segments;
    report.undecided_segments += found[k].undecided_segments;
    report.measures += found[k].measures;
    report.undecided_measures += found[k].undecided_measures;
    if (failed(results.status[k]))
      report.failed.push_back({report.members[k], results.status[k], results.end_time[k]});
  }
  return report;
}

}  // namespace zwang
