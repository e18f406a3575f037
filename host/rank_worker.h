// A rank that integrates what it is given, until it is told to stop.
#pragma once

#include <functional>

#include "host/backend.h"
#include "host/rank_link.h"
#include "host/run_record.h"

namespace zwang {

struct WorkerSettings {
  RunOptions run = {};  // threads, batch, memory
  Shard shard = {};
  std::function<void()> check = [] {};  // asked often; what it throws is told to rank 0 and ends the work
};

// Pieces come, results go. Trouble is told to rank 0. Returns after rank 0 has said stop, with a goodbye.
void work_for_rank_zero(RankLink& link, const Study& study, Backend& backend, const WorkerSettings& settings);

// Tells rank 0 the exception now handled and waits to be told to stop.
void tell_rank_zero(RankLink& link);

// Rank 0: tells all others to stop and waits until all have left; where one does not answer for a while, ends them all.
void dismiss_ranks(RankLink& link, int code);

}  // namespace zwang
