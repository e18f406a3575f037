#include "host/statistics/until.h"
#include "host/estimators/proportion.h"
#include "host/statistics/pick_freeze.h"
#include "host/statistics/replicates.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace zwang {

long long next_decision(long long done, long long members) {
  long long decision = first_decision;
  while (decision <= done && decision < members) decision *= 2;
  return std::min(decision, members);
}

bool is_decision(long long done) {
  return done >= first_decision && std::has_single_bit(static_cast<unsigned long long>(done));
}

// NaN (fewer than two values) compares false.
bool is_small_enough(const UntilRule& rule, double mean, double standard_error, double halfwidth) {
  using Error = UntilRule::Error;
  if (rule.error == Error::absolute_halfwidth) return halfwidth <= rule.limit;
  const double error = rule.error == Error::relative_stderr ? standard_error : halfwidth;
  return mean != 0 && error <= rule.limit * std::abs(mean);
}

namespace {

// For measures that are not constant.
bool index_is_known(const UntilRule& rule, const std::vector<PickFreezeResult>& results) {
  constexpr double reach = 1.96;
  bool any = false;
  for (std::size_t m = 0; m < results.size(); ++m) {
    if (rule.index->measure && *rule.index->measure != m) continue;
    const SobolIndex& one = results[m].inputs[rule.index->input];
    const double value = rule.index->total ? one.total : one.first;
    const double error = rule.index->total ? one.total_stderr : one.first_stderr;
    if (std::isnan(value)) continue;
    any = true;
    if (!is_small_enough(rule, value, error, reach * error)) return false;
  }
  return any;
}

}  // namespace

bool until_met(const UntilRule& rule, const Statistics& statistics) {
  if (statistics.first_member() != 0 || !is_decision(statistics.members())) return false;
  if (rule.index) return index_is_known(rule, statistics.pick_freeze_so_far());
  const MeanEstimate estimate = statistics.measure_so_far(rule.measure);
  double halfwidth = (estimate.high() - estimate.low()) / 2;
  if (const std::optional<Proportion> share = statistics.probability_so_far(rule.measure)) {
    if (!share->decides()) return false;
    halfwidth = share->halfwidth();
  }
  return is_small_enough(rule, estimate.mean, estimate.standard_error, halfwidth);
}

}  // namespace zwang
