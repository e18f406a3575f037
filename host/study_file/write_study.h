// study.toml among the results: the study as it was run, with the changes made by --set, --seed and
// --members, and with every default written out. It loads as the same study.
#pragma once

#include <string>

#include "host/study/study.h"

namespace zwang {

// Comments are not kept. Columns of CSV files are read from inputs.csv beside it (host/sample/csv_inputs.h).
std::string study_as_run(const Study& study);

// The study as it was read if nothing was changed; otherwise as TOML with the changes, without comments and
// without defaults written out. Columns given beside the text are read from inputs.csv.
std::string study_text(const Study& study);

}  // namespace zwang
