// Rank 0's view of a run that many ranks share: pieces of the ensemble are dealt, what comes back is joined in order.
#pragma once

#include <thread>

#include "host/backend/backend.h"
#include "host/files/member_records.h"
#include "host/files/run_record.h"
#include "host/platform/stopwatch.h"
#include "host/rank/link.h"
#include "host/rank/messages.h"
#include "host/rank/work_distribution.h"
#include "host/rank/worker.h"
#include "host/run/run.h"
#include "host/study/study.h"

namespace zwang {

class RankCrew {
 public:
  // Study, backend and link must outlive it. Rank 0 integrates too, on a thread of its own, where it has a backend;
  // `check` of the settings is asked often.
  RankCrew(RankLink& link, const Study& study, Backend* backend, WorkerSettings settings);
  RankCrew(const RankCrew&) = delete;
  RankCrew& operator=(const RankCrew&) = delete;
  ~RankCrew();

  // Once, before the first piece: the run may have been restored to wherever it stood.
  void begin(EnsembleRun& run);
  // Joins what has come, or waits a moment for it. Throws what a rank's trouble was; MachineError where a rank would
  // integrate something else.
  void advance(EnsembleRun& run, MemberRecordsFile* members);

  // Its own thread ends; the backend is free again. The other ranks are not told: dismiss_ranks().
  void finish();

  unsigned threads() const;  // of all ranks that were ready
  int ranks() const { return link_.size(); }

 private:
  struct Worker {
    bool ready = false;
    std::string host;
    unsigned threads = 0;
    std::size_t pieces = 0;  // in its hands
  };
  std::optional<RankMessage> receive();
  void send(int worker, RankWord word, std::string bytes);
  void take(EnsembleRun& run, RankMessage message);
  void welcome(int worker, const Readiness& ready);
  void deal();
  bool join(EnsembleRun& run, MemberRecordsFile* members);
  std::string name(int worker) const;

  RankLink& link_;
  const Study& study_;
  Backend* backend_;
  WorkerSettings settings_;
  RunIdentity identity_;
  std::vector<Worker> workers_;  // by rank
  std::optional<PieceDealer> dealer_;
  std::map<long long, PieceResult> waiting_;  // for those before them, by first member
  Stopwatch clock_;

  Mailbox from_own_, to_own_;
  LocalLink own_link_;
  std::jthread own_;  // the last: ends first
};

}  // namespace zwang
