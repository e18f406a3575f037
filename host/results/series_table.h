// Tables of measures and observables without a sweep, for the end of a run.
#pragma once

#include <cstddef>
#include <string>

#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

constexpr std::size_t table_width = 80;  // characters of a line

// Measures, probabilities, Sobol' indices and the members of each [[given]].
std::string measures_text(const Study& study, const RunResult& result);

// Observables at the last output time.
std::string observables_text(const Study& study, const RunResult& result);

}  // namespace zwang
