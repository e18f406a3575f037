#include "host/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "host/batch.h"
#include "host/check_member.h"

namespace zwang {

namespace {

// More undecided than this is worth a word.
constexpr double undecided_share = 0.1;

bool failed(Status status) { return status != Status::ok && status != Status::stopped; }

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
      text = segments == 0 ? "undecided: no member could be sent back"
                           : fmt::format("undecided: none of the {} {} tells anything", segments, unit);
      break;
  }
  const auto share =
      static_cast<double>(undecided_segments) / static_cast<double>(std::max<std::size_t>(segments, 1));
  if (verdict() != CheckVerdict::undecided && share > undecided_share)
    text += fmt::format("; {:.0f} % of the {} are undecided", 100 * share, unit);
  return text;
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
