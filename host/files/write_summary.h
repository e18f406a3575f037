// Writes summary.json: the results of a run on one page, for people and programs (keys: docs/results.md).
#pragma once

#include <string>

#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

std::string summary_json(const Study& study, const RunResult& result);

}  // namespace zwang
