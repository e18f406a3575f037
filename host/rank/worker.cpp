#include "host/rank/worker.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "host/files/member_records.h"
#include "host/platform/stopwatch.h"
#include "host/rank/messages.h"
#include "host/run/run.h"
#include "host/study/study.h"

namespace zwang {

namespace {

constexpr auto poll_interval = std::chrono::microseconds(300);
constexpr double reply_timeout_s = 10;  // with ranks that do not answer

class Worker {
 public:
  Worker(RankLink& link, const Study& study, Backend& backend, const WorkerSettings& settings)
      : link_(link), study_(study), settings_(settings), run_(study, backend, options()) {
    if (study.output.members) layout_.emplace(study, run_.sampler().drawn());
    link_.send(0, RankWord::ready,
               readiness_bytes({.host = link.host(),
                                .threads = backend.threads(),
                                .identity = run_identity(study, run_.origin(), settings.run.statistics_memory,
                                                         settings.shard)}));
  }

  void work() {
    while (!stopped_) {
      look();
      if (pieces_.empty()) {
        std::this_thread::sleep_for(poll_interval);
        continue;
      }
      const Piece piece = read_piece(pieces_.front());
      pieces_.pop_front();
      integrate(piece);
    }
  }

 private:
  RunOptions options() {
    RunOptions made = settings_.run;
    made.first = 0;
    made.end = 0;
    made.progress = {};
    made.members = [this](long long, const Batch& batch, const BatchResults& results) {
      if (layout_) layout_->pack(batch, results, members_);
    };
    return made;
  }

  void look() {
    settings_.check();
    while (std::optional<RankMessage> message = link_.receive()) {
      stopped_ |= message->word == RankWord::stop;
      if (message->word == RankWord::piece) pieces_.push_back(std::move(message->bytes));
    }
  }

  // A stop is obeyed between batches.
  void integrate(const Piece& piece) {
    members_.clear();
    run_.begin(piece.first, piece.end);
    while (!run_.done()) {
      run_.advance();
      look();
      if (stopped_) return;
    }
    link_.send(0, RankWord::result,
               result_bytes(run_.part(), {members_.data(), members_.size()}, run_.statistics()));
  }

  RankLink& link_;
  const Study& study_;
  WorkerSettings settings_;
  std::optional<MemberRecordLayout> layout_;
  std::vector<char> members_;  // of the piece under way, packed
  EnsembleRun run_;
  std::deque<std::string> pieces_;
  bool stopped_ = false;
};

// The first of these words from rank 0; everything else is too late.
RankWord wait_for_word(RankLink& link, std::initializer_list<RankWord> words) {
  for (;;) {
    const std::optional<RankMessage> message = link.receive();
    if (message && std::find(words.begin(), words.end(), message->word) != words.end()) return message->word;
    if (!message) std::this_thread::sleep_for(poll_interval);
  }
}

}  // namespace

void work_for_rank_zero(RankLink& link, const Study& study, Backend& backend,
                        const WorkerSettings& settings) {
  try {
    Worker(link, study, backend, settings).work();
    link.send(0, RankWord::goodbye, "");
  } catch (...) {
    tell_rank_zero(link);
  }
}

void call_ranks(RankLink& link) {
  for (int rank = 1; rank < link.size(); ++rank) link.send(rank, RankWord::begin, "");
}

bool wait_for_call(RankLink& link) {
  if (wait_for_word(link, {RankWord::begin, RankWord::stop}) == RankWord::begin) return true;
  link.send(0, RankWord::goodbye, "");
  return false;
}

void tell_rank_zero(RankLink& link) {
  link.send(0, RankWord::trouble, trouble_bytes());
  wait_for_word(link, {RankWord::stop});
  link.send(0, RankWord::goodbye, "");
}

bool dismiss_ranks(RankLink& link) {
  for (int rank = 1; rank < link.size(); ++rank) link.send(rank, RankWord::stop, "");
  const Stopwatch waiting;
  for (int here = 1; here < link.size();) {
    const std::optional<RankMessage> message = link.receive();
    here += message && message->word == RankWord::goodbye ? 1 : 0;
    if (!message) std::this_thread::sleep_for(poll_interval);
    if (waiting.seconds() > reply_timeout_s) return false;
  }
  link.leave();
  return true;
}

}  // namespace zwang
