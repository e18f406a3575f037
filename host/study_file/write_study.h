// study.toml among the results: the study as it was run, with the changes made by --set, --seed and
// --members, and with every default written out. It loads as the same study.
#pragma once

#include <string>

#include "host/study/study.h"

namespace zwang {

// Comments are not kept. Columns of CSV files are read from inputs.csv beside it (host/sample/csv_inputs.h).
std::string study_as_run(const Study& study);

}  // namespace zwang
