// summary.json: a run in one page, for people and programs. docs/results.md lists its keys.
#pragma once

#include <string>

#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

std::string summary_json(const Study& study, const RunResult& result);

}  // namespace zwang
