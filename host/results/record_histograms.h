// Histograms of the values of records, pooled over all rows of the members that entered.
#pragma once

#include "host/results/labels.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

// Counts what the study asks for under [statistics] histogram."record.value".
void pool_records(const Study& study, const ReadMembers& read, RunResult& result);

}  // namespace zwang
