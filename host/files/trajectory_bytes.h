// Trajectories as bytes: what a shard keeps of the members whose motion was asked for.
#pragma once

#include "host/backend/backend.h"
#include "host/statistics/bytes.h"
#include "host/study/study.h"

namespace zwang {

// status, end_time, observables, states and events.
void save_trajectories(ByteWriter& bytes, const BatchResults& results);
BatchResults load_trajectories(ByteReader& bytes, std::size_t count);

// Whether these can be trajectories of the study: as many numbers as it has, and no event of what it does not have.
bool are_of_study(const BatchResults& results, const Study& study);

// Appends member k of `from`, whose numbers are of the same study.
void append_trajectory(BatchResults& to, const BatchResults& from, std::size_t k);

}  // namespace zwang
