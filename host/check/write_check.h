// Writes the report of a check as a table or as JSON (docs/results.md, `check`).
#pragma once

#include <string>

#include "host/check/check.h"
#include "host/study/study.h"

namespace zwang {

std::string check_table(const Study& study, const CheckReport& report);
std::string check_json(const Study& study, const CheckReport& report);

}  // namespace zwang
