#include "host/rank/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "host/backend/backend.h"
#include "host/backend/batch_size.h"
#include "host/files/member_records.h"
#include "host/files/run_record.h"
#include "host/platform/machine_error.h"
#include "host/rank/messages.h"
#include "host/run/run.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

namespace {

constexpr auto between_looks = std::chrono::microseconds(300);
// One under way and one to go on with: nobody waits while a checkpoint is written.
constexpr std::size_t pieces_in_hand = 2;

long long next_block(long long member) {
  return (member + block_members - 1) / block_members * block_members;
}

// Ranks work side by side: an equal share of what each spent is about how long it took all of them.
void share(RunPerformance& performance, int ranks) {
  for (double* seconds : {&performance.wall_s, &performance.compile_s, &performance.sample_s,
                          &performance.integrate_s, &performance.statistics_s, &performance.write_s})
    *seconds /= ranks;
}

}  // namespace

RankCrew::RankCrew(RankLink& link, const Study& study, Backend* backend, WorkerSettings settings)
    : link_(link),
      study_(study),
      backend_(backend),
      settings_(std::move(settings)),
      workers_(static_cast<std::size_t>(link.size())),
      own_link_(0, link.size(), from_own_, to_own_) {}

RankCrew::~RankCrew() { finish(); }

void RankCrew::finish() {
  to_own_.put({0, RankWord::stop, ""});
  if (own_.joinable()) own_.join();
}

void RankCrew::begin(EnsembleRun& run) {
  // A run on one rank is interrupted anywhere; parts are joined between blocks.
  while (!run.done() && run.part().position % block_members != 0)
    run.advance(std::min(next_block(run.part().position), run.part().end));
  identity_ = run_identity(study_, run.origin(), settings_.run.statistics_memory, settings_.shard);
  const RunPart part = run.part();
  dealer_.emplace(
      part.position, part.end, [&run](long long first) { return run.last_end(first); },
      BatchSize(study_, backend_ != nullptr ? backend_->threads() : 1, settings_.run.batch));
  if (backend_ == nullptr || run.done()) return;
  WorkerSettings own = settings_;
  own.check = [] {};
  own_ = std::jthread([this, own] { work_for_rank_zero(own_link_, study_, *backend_, own); });
}

void RankCrew::advance(EnsembleRun& run, MemberRecordsFile* members) {
  settings_.check();
  bool moved = false;
  while (std::optional<RankMessage> message = receive()) {
    moved = true;
    take(run, std::move(*message));
  }
  deal();
  moved |= join(run, members);
  if (!moved) std::this_thread::sleep_for(between_looks);
}

unsigned RankCrew::threads() const {
  unsigned sum = 0;
  for (const Worker& worker : workers_) sum += worker.threads;
  return sum;
}

// --- Talking -------------------------------------------------------------------------------------------------------

std::optional<RankMessage> RankCrew::receive() {
  if (std::optional<RankMessage> own = from_own_.take()) return own;
  return link_.receive();
}

void RankCrew::send(int worker, RankWord word, std::string bytes) {
  if (worker == 0)
    to_own_.put({0, word, std::move(bytes)});
  else
    link_.send(worker, word, std::move(bytes));
}

std::string RankCrew::name(int worker) const {
  const std::string& host = workers_[static_cast<std::size_t>(worker)].host;
  return fmt::format("rank {}{}", worker, host.empty() ? "" : " on " + host);
}

void RankCrew::welcome(int worker, const Readiness& ready) {
  Worker& own = workers_[static_cast<std::size_t>(worker)];
  own.host = ready.host;
  if (const auto other = difference(ready.identity, identity_))
    throw MachineError(
        {.message = name(worker) + " would run something else: its " + other->name + " differs",
         .found = other->found,
         .expected = other->expected + ", as on rank 0",
         .hint = "ranks of one run need the same study and the same kind of device"});
  own.ready = true;
  own.threads = ready.threads;
}

void RankCrew::take(EnsembleRun& run, RankMessage message) {
  switch (message.word) {
    case RankWord::ready:
      return welcome(message.from, read_readiness(message.bytes));
    case RankWord::trouble:
      return throw_trouble(message.bytes, name(message.from));
    case RankWord::result: {
      PieceResult result = read_result(std::move(message.bytes), run.plan());
      const RunPart& part = result.part;
      --workers_[static_cast<std::size_t>(message.from)].pieces;
      if (!dealer_->take_answer(message.from, {part.first, part.end}, part.performance.wall_s)) return;
      share(result.part.performance, link_.size());
      waiting_.emplace(part.first, std::move(result));
      return;
    }
    case RankWord::begin:
    case RankWord::piece:
    case RankWord::stop:
    case RankWord::goodbye:
      return;
  }
}

// --- Dealing and joining -------------------------------------------------------------------------------------------

// Round by round, so that the last pieces do not all lie in one hand.
void RankCrew::deal() {
  for (std::size_t in_hand = 0; in_hand < pieces_in_hand; ++in_hand)
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      const int worker = static_cast<int>(k);
      if (!workers_[k].ready || workers_[k].pieces != in_hand) continue;
      const std::optional<Piece> piece = dealer_->next(worker, clock_.seconds());
      if (!piece) continue;
      ++workers_[k].pieces;
      send(worker, RankWord::piece, piece_bytes(*piece));
    }
}

// The members' records go first: where the disk is full, the run stands where it stood.
bool RankCrew::join(EnsembleRun& run, MemberRecordsFile* members) {
  bool joined = false;
  while (!run.done() && !waiting_.empty() && waiting_.begin()->first == run.part().position) {
    const auto next = waiting_.extract(waiting_.begin());
    if (members != nullptr) members->append(next.mapped().members);
    dealer_->joined(next.mapped().part.end);
    joined = true;
    run.join(next.mapped().part, next.mapped().statistics);
  }
  return joined;
}

}  // namespace zwang
