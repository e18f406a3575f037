// Worker loop of a rank: integrates the member ranges it receives until it is stopped.
#pragma once

#include <functional>

#include "host/backend/backend.h"
#include "host/files/run_identity.h"
#include "host/rank/link.h"
#include "host/run/run.h"
#include "host/study/study.h"

namespace zwang {

struct WorkerSettings {
  RunOptions run = {};  // threads, batch, memory
  Shard shard = {};
  std::function<void()> check = [] {};  // called often; an exception is sent to rank 0 and ends the work
};

// Receives ranges and sends results; errors are sent to rank 0. Returns after rank 0 has sent stop and
// `stopped` has been sent back.
void work_for_rank_zero(RankLink& link, const Study& study, Backend& backend, const WorkerSettings& settings);

// Rank 0 starts the other ranks once it knows that there is work; until then they compile nothing.
void start_ranks(RankLink& link);
// False if there is no work: rank 0 has sent stop, and `stopped` was sent back.
bool wait_for_start(RankLink& link);

// Sends the exception being handled to rank 0 and blocks until rank 0 sends stop.
void report_error_to_rank_zero(RankLink& link);

// Rank 0: stops all other ranks and blocks until they have finished. False if one has not responded within
// ten seconds: an orderly end is then impossible, and RankLink::abort() must end them.
bool stop_ranks(RankLink& link);

}  // namespace zwang
