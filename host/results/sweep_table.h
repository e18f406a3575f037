// The part of the table at the end of a run that shows measures by the points of the sweeps.
#pragma once

#include <string>

#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

// One table for each measure, or for observables at the last output time where there are no measures. Points
// beyond the 30th are left out, but for the ends and those with the smallest and largest mean.
std::string sweep_tables(const Study& study, const RunResult& result);

// The members of each [[given]] by point. Empty if there are none.
std::string sweep_givens(const Study& study, const RunResult& result);

// Sobol' indices by point, one table for each measure of [sensitivity]. Empty without it.
std::string sweep_sensitivity(const Study& study, const RunResult& result);

}  // namespace zwang
