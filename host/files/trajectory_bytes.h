// Serialisation of the trajectories that a shard stores for the members listed in [output] trajectories.
#pragma once

#include "host/backend/backend.h"
#include "host/platform/bytes.h"
#include "host/study/study.h"

namespace zwang {

// The members' status, end_time, observables, states and events.
void save_trajectories(ByteWriter& bytes, const BatchResults& results);
BatchResults load_trajectories(ByteReader& bytes, std::size_t count);

// Whether these can be trajectories of the study: the sizes match, and events refer to existing conditions
// only.
bool are_of_study(const BatchResults& results, const Study& study);

// Appends member k of `from`, which must belong to the same study.
void append_trajectory(BatchResults& to, const BatchResults& from, std::size_t k);

}  // namespace zwang
