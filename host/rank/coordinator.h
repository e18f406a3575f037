// Coordinator of a run over several ranks, on rank 0: assigns member ranges to the ranks and joins their
// results in order.
#pragma once

#include <thread>

#include "host/backend/backend.h"
#include "host/files/member_records.h"
#include "host/files/run_identity.h"
#include "host/platform/stopwatch.h"
#include "host/rank/link.h"
#include "host/rank/messages.h"
#include "host/rank/work_distribution.h"
#include "host/rank/worker.h"
#include "host/run/run.h"
#include "host/study/study.h"

namespace zwang {

class RankCoordinator {
 public:
  // Study, backend and link must outlive it. If rank 0 has a backend, it integrates too, on its own thread.
  // `check` of the settings is called often.
  RankCoordinator(RankLink& link, const Study& study, Backend* backend, WorkerSettings settings);
  RankCoordinator(const RankCoordinator&) = delete;
  RankCoordinator& operator=(const RankCoordinator&) = delete;
  ~RankCoordinator();

  // Called once, before the first range; the run may have been restored from a checkpoint.
  void begin(EnsembleRun& run);
  // Joins the results received so far, or sleeps briefly if there are none. Rethrows an error reported by a
  // rank; throws MachineError if a rank is about to run something else.
  void advance(EnsembleRun& run, MemberRecordsFile* members);

  // Ends the own thread, so that the backend is free again. The other ranks are stopped by stop_ranks().
  void finish();

  unsigned threads() const;  // of all ranks that reported ready
  int ranks() const { return link_.size(); }

 private:
  struct Worker {
    bool ready = false;
    std::string host;
    unsigned threads = 0;
    std::size_t ranges = 0;  // assigned and unfinished
  };
  std::optional<RankMessage> receive();
  void send(int worker, MessageKind kind, std::string bytes);
  void handle(EnsembleRun& run, RankMessage message);
  void accept_worker(int worker, const Readiness& ready);
  void assign_work();
  bool join(EnsembleRun& run, MemberRecordsFile* members);
  std::string name(int worker) const;

  RankLink& link_;
  const Study& study_;
  Backend* backend_;
  WorkerSettings settings_;
  RunIdentity identity_;
  std::vector<Worker> workers_;  // by rank
  std::optional<WorkDistribution> work_;
  std::map<long long, RangeResult> waiting_;  // received, not yet joined; by first member
  Stopwatch clock_;

  Mailbox from_own_, to_own_;
  LocalLink own_link_;
  std::jthread own_;  // declared last, so it is destroyed first
};

}  // namespace zwang
