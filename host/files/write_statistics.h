// statistics.nc: what the ensemble says, over time and in measures. docs/results.md lists what is in it.
#pragma once

#include <filesystem>

#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

// Throws MachineError where the file cannot be written.
void write_statistics(const std::filesystem::path& path, const Study& study, const RunResult& result);

}  // namespace zwang
