#include "host/statistics/until.h"
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

bool until_met(const UntilRule& rule, const Statistics& statistics) {
  if (statistics.first_member() != 0 || !is_decision(statistics.members())) return false;
  const MeanEstimate estimate = statistics.measure_so_far(rule.measure);
  // NaN (fewer than two values) compares false.
  return estimate.mean != 0 && estimate.standard_error <= rule.relative_stderr * std::abs(estimate.mean);
}

}  // namespace zwang
