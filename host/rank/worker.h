// A rank that integrates what it is given, until it is told to stop.
#pragma once

#include <functional>

#include "host/backend/backend.h"
#include "host/files/run_record.h"
#include "host/rank/link.h"
#include "host/run/run.h"
#include "host/study/study.h"

namespace zwang {

struct WorkerSettings {
  RunOptions run = {};  // threads, batch, memory
  Shard shard = {};
  std::function<void()> check = [] {};  // asked often; what it throws is told to rank 0 and ends the work
};

// Pieces come, results go. Trouble is told to rank 0. Returns after rank 0 has said stop, with a goodbye.
void work_for_rank_zero(RankLink& link, const Study& study, Backend& backend, const WorkerSettings& settings);

// Rank 0 tells the others that there is something to do, once it knows; they wait for it before they compile anything.
void call_ranks(RankLink& link);
// False where there is nothing to do after all: rank 0 has said stop, and a goodbye was sent.
bool wait_for_call(RankLink& link);

// Tells rank 0 the exception now handled and waits to be told to stop.
void tell_rank_zero(RankLink& link);

// Rank 0: tells all others to stop and waits until they have left. False where one has not answered for ten seconds: then
// nobody can leave in order, and RankLink::abort() must end them.
bool dismiss_ranks(RankLink& link);

}  // namespace zwang
