// The parts of summary.json that only studies with sweeps have.
#pragma once

#include <vector>

#include "host/files/summary_answers.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

// Objects of the same keys, one for each point, as one object of arrays by point. Names are not repeated. The values are
// moved out of the points: there may be millions.
SummaryJson json_by_point(const std::vector<SummaryJson*>& points);

// The swept quantities and their values.
SummaryJson sweep_json(const Study& study);

// How many members of each point were integrated, entered the statistics and failed.
SummaryJson members_by_point(const Study& study, const RunResult& result);

}  // namespace zwang
