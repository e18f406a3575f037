// Writes statistics.nc: statistics of observables over time and of measures (contents: docs/results.md).
#pragma once

#include <filesystem>

#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

// Throws MachineError if the file cannot be written.
void write_statistics(const std::filesystem::path& path, const Study& study, const RunResult& result);

}  // namespace zwang
