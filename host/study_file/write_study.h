// study.toml among the results: the study as it was run, with what --set, --seed and --members changed, and every
// setting that was left out written with its default. It loads as the same study.
#pragma once

#include <string>

#include "host/study/study.h"

namespace zwang {

// Comments are not kept. Columns of CSV files are read from inputs.csv beside it (host/sample/csv_inputs.h).
std::string study_as_run(const Study& study);

}  // namespace zwang
