// Why a member failed, found by the reference.
#pragma once

#include <functional>
#include <string>

#include "host/statistics/run_tally.h"
#include "host/study/study.h"
#include "src/base/error.h"

namespace zwang {

// For example "no acceleration at t = 0: the force on x: log(x - 2) = nan, x - 2 = -1". Empty if the
// reference does not fail within a few thousand steps: the search must not take longer than the run.
std::string failure_cause(const Study& study, long long member);

// The outcome of a run that was stopped because its first members all failed.
std::string stopped_early_text(const RunTally& tally);

// All members of a run failed: the cause. `outcome` says what became of the run, `hint` how to look at one of
// the members, by its number.
Problem all_failed_problem(const Study& study, const RunTally& tally, const std::string& outcome,
                           const std::function<std::string(long long member)>& hint);

}  // namespace zwang
