// Writes trajectories.nc: states of the selected members at the output times, and their events.
#pragma once

#include <filesystem>
#include <span>

#include "host/backend/backend.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

// results: of these members in this order, with observables, states and events. Of `origin`, backend, device
// and precision are read.
void write_trajectories(const std::filesystem::path& path, const Study& study, const RunResult& origin,
                        std::span<const long long> members, const BatchResults& results);

}  // namespace zwang
