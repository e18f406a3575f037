// Why a member failed, found by the reference.
#pragma once

#include <string>

#include "host/study/study.h"

namespace zwang {

// For example "no acceleration at t = 0: the force on x: log(x - 2) = nan, x - 2 = -1". Empty if the
// reference does not fail within a few thousand steps: the search must not take longer than the run.
std::string failure_cause(const Study& study, long long member);

}  // namespace zwang
