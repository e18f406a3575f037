// The worker loop, and the messages that start and stop it.
#include "host/rank/worker.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "host/backend/member_bytes.h"
#include "host/files/member_records.h"
#include "host/files/run_identity.h"
#include "host/platform/buffer_pool.h"
#include "host/platform/stopwatch.h"
#include "host/rank/messages.h"
#include "host/run/run.h"
#include "host/study/study.h"

namespace zwang {

namespace {

constexpr auto poll_interval = std::chrono::microseconds(300);
constexpr double timeout_s = 10;  // for ranks that do not respond

class Worker {
 public:
  Worker(RankLink& link, const Study& study, Backend& backend, const WorkerSettings& settings)
      : link_(link), study_(study), settings_(settings), run_(study, backend, options()) {
    link_.send(0, MessageKind::ready,
               readiness_bytes({.host = link.host(),
                                .threads = backend.threads(),
                                .identity = run_identity(study, run_.origin(), settings.run.statistics_memory,
                                                         settings.shard)}));
  }

  void work() {
    while (!stopped_) {
      poll();
      if (ranges_.empty()) {
        std::this_thread::sleep_for(poll_interval);
        continue;
      }
      const MemberRange range = read_member_range(ranges_.front());
      ranges_.pop_front();
      integrate(range);
    }
  }

 private:
  RunOptions options() {
    RunOptions made = settings_.run;
    made.first = 0;
    made.end = 0;
    made.progress = {};
    if (keeps_members(study_))
      made.members = [this](long long, const std::shared_ptr<const HostBuffer>& records) {
        const std::span<const char> bytes = records->bytes();
        members_.insert(members_.end(), bytes.begin(), bytes.end());
      };
    return made;
  }

  void poll() {
    settings_.check();
    while (std::optional<RankMessage> message = link_.receive()) {
      stopped_ |= message->kind == MessageKind::stop;
      if (message->kind == MessageKind::range) ranges_.push_back(std::move(message->bytes));
    }
  }

  // A stop takes effect between batches.
  void integrate(const MemberRange& range) {
    members_.clear();
    run_.begin(range.first, range.end);
    while (!run_.done()) {
      run_.advance();
      poll();
      if (stopped_) return;
    }
    link_.send(0, MessageKind::result,
               result_bytes(run_.part(), {members_.data(), members_.size()}, run_.statistics()));
  }

  RankLink& link_;
  const Study& study_;
  WorkerSettings settings_;
  std::vector<char> members_;  // of the current range, packed
  EnsembleRun run_;
  std::deque<std::string> ranges_;
  bool stopped_ = false;
};

// Blocks until one of these messages arrives; all others are discarded as outdated.
MessageKind wait_for_message(RankLink& link, std::initializer_list<MessageKind> kinds) {
  for (;;) {
    const std::optional<RankMessage> message = link.receive();
    if (message && std::find(kinds.begin(), kinds.end(), message->kind) != kinds.end()) return message->kind;
    if (!message) std::this_thread::sleep_for(poll_interval);
  }
}

}  // namespace

void work_for_rank_zero(RankLink& link, const Study& study, Backend& backend,
                        const WorkerSettings& settings) {
  try {
    Worker(link, study, backend, settings).work();
    link.send(0, MessageKind::stopped, "");
  } catch (...) {
    report_error_to_rank_zero(link);
  }
}

void start_ranks(RankLink& link) {
  for (int rank = 1; rank < link.size(); ++rank) link.send(rank, MessageKind::begin, "");
}

bool wait_for_start(RankLink& link) {
  if (wait_for_message(link, {MessageKind::begin, MessageKind::stop}) == MessageKind::begin) return true;
  link.send(0, MessageKind::stopped, "");
  return false;
}

void report_error_to_rank_zero(RankLink& link) {
  link.send(0, MessageKind::error, error_bytes());
  wait_for_message(link, {MessageKind::stop});
  link.send(0, MessageKind::stopped, "");
}

bool stop_ranks(RankLink& link) {
  for (int rank = 1; rank < link.size(); ++rank) link.send(rank, MessageKind::stop, "");
  const Stopwatch waiting;
  for (int here = 1; here < link.size();) {
    const std::optional<RankMessage> message = link.receive();
    here += message && message->kind == MessageKind::stopped ? 1 : 0;
    if (!message) std::this_thread::sleep_for(poll_interval);
    if (waiting.seconds() > timeout_s) return false;
  }
  link.leave();
  return true;
}

}  // namespace zwang
