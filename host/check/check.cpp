#include "host/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "host/backend/batch.h"
#include "host/check/member.h"
#include "host/platform/parallel.h"
#include "host/study/study.h"
#include "kernels/base/status.h"

namespace zwang {

namespace {

// More undecided than this is worth a word.
constexpr double undecided_share = 0.1;

bool failed(Status status) { return status != Status::ok && status != Status::stopped; }

// "singular at t = 0 (5), not_finite at t = 0.2": of many, the first three.
std::string ends_text(const std::vector<CheckReport::Ended>& ended) {
  std::vector<std::pair<std::string, std::size_t>> ways;
  for (const CheckReport::Ended& one : ended) {
    const std::string way = fmt::format("{} at t = {:.6g}", status_name(one.status), one.t);
    const auto known = std::find_if(ways.begin(), ways.end(), [&](const auto& w) { return w.first == way; });
    if (known == ways.end())
      ways.emplace_back(way, 1);
    else
      ++known->second;
  }
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(ways.size(), 3); ++k) {
    text += (k > 0 ? ", " : "") + ways[k].first;
    if (ways.size() > 1) text += fmt::format(" ({})", ways[k].second);
  }
  return ways.size() > 3 ? text + " ..." : text;
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
  // What nobody could decide is no pass.
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
      text = reverse ? fmt::format("disagree: {} of {} numbers are missed on the way back",
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
  if (segments == 0) return "no member could be sent back";
  if (reverse) return fmt::format("none of the {} round trips tells anything", segments);
  if (failed.size() == members.size())
    return fmt::format("every member failed before there was a motion to compare: {}", ends_text(failed));
  return fmt::format("the reference's own two runs tell different events in all {} segments", segments);
}

CheckReport check(const Study& study, Backend& backend, const CheckOptions& options) {
  CheckReport report;
  report.backend = backend.name();
  report.device = backend.device();
  report.members = sampled_members(study.ensemble.members, options.sample);
  const Batch batch = prepare_batch(study, report.members, options.threads);
  const BatchResults results = backend.run(batch, {.observables = true, .states = true, .events = true});

  // Members are independent; their findings are put together in their order.
  std::vector<MemberFindings> found(batch.count);
  std::atomic<std::size_t> done = 0;
  in_parallel(batch.count, options.threads, [&](std::size_t k) {
    const unsigned long long member = report.members[k];
    if (batch.prepared[k] == Status::ok)
      found[k] = check_member(study, motion_of(study, batch, results, k), member);
    else
      found[k].findings.judge({.member = member,
                               .quantity = "status",
                               .backend_word = status_name(results.status[k]),
                               .reference_word = status_name(batch.prepared[k])});
    options.progress(++done, batch.count);
  });
  for (std::size_t k = 0; k < batch.count; ++k) {
    report.findings.merge(found[k].findings);
    report.segments += found[k].stretches;
    report.undecided_segments += found[k].undecided_stretches;
    report.measures += found[k].measures;
    report.undecided_measures += found[k].undecided_measures;
    if (failed(results.status[k]))
      report.failed.push_back({report.members[k], results.status[k], results.end_time[k]});
  }
  return report;
}

}  // namespace zwang
