// Messages from the workers, assignment of ranges and joining of results.
#include "host/rank/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "host/backend/backend.h"
#include "host/backend/batch_size.h"
#include "host/estimators/moments.h"
#include "host/files/member_records.h"
#include "host/files/run_identity.h"
#include "host/platform/machine_error.h"
#include "host/rank/messages.h"
#include "host/run/run.h"
#include "host/run/run_result.h"
#include "host/statistics/plan.h"
#include "host/study/study.h"

namespace zwang {

namespace {

constexpr auto coordinator_poll_interval = std::chrono::microseconds(300);
// One in progress and one queued, so that no worker idles while a checkpoint is written.
constexpr std::size_t ranges_per_worker = 2;

// Ranks work in parallel: the summed times divided by the number of ranks approximate the elapsed times.
void divide_times(RunPerformance& performance, int ranks) {
  for (double* seconds : {&performance.wall_s, &performance.compile_s, &performance.sample_s,
                          &performance.integrate_s, &performance.statistics_s, &performance.write_s})
    *seconds /= ranks;
}

}  // namespace

RankCoordinator::RankCoordinator(RankLink& link, const Study& study, Backend* backend,
                                 WorkerSettings settings)
    : link_(link),
      study_(study),
      backend_(backend),
      settings_(std::move(settings)),
      workers_(static_cast<std::size_t>(link.size())),
      own_link_(0, link.size(), from_own_, to_own_) {}

RankCoordinator::~RankCoordinator() { finish(); }

void RankCoordinator::finish() {
  to_own_.put({0, MessageKind::stop, ""});
  if (own_.joinable()) own_.join();
}

void RankCoordinator::begin(EnsembleRun& run) {
  // A run on one rank may have been interrupted inside a block; ranges are joined at block boundaries only.
  const MemberBlocks blocks = run.blocks();
  while (!run.done() && !blocks.is_boundary(run.part().position))
    run.advance(std::min(blocks.boundary_from(run.part().position), run.part().end));
  identity_ = run_identity(study_, run.origin(), settings_.run.statistics_memory, settings_.shard);
  const RunPart part = run.part();
  work_.emplace(
      part.position, part.end, [&run](long long first) { return run.last_end(first); },
      BatchSize(study_, backend_ != nullptr ? backend_->threads() : 1, settings_.run.batch),
      [blocks](long long member) { return blocks.boundary_from(member); });
  if (backend_ == nullptr || run.done()) return;
  WorkerSettings own = settings_;
  own.check = [] {};
  own_ = std::jthread([this, own] { work_for_rank_zero(own_link_, study_, *backend_, own); });
}

void RankCoordinator::advance(EnsembleRun& run, MemberRecordsFile* members) {
  settings_.check();
  bool moved = false;
  while (std::optional<RankMessage> message = receive()) {
    moved = true;
    handle(run, std::move(*message));
  }
  assign_work();
  moved |= join(run, members);
  if (!moved) std::this_thread::sleep_for(coordinator_poll_interval);
}

unsigned RankCoordinator::threads() const {
  unsigned sum = 0;
  for (const Worker& worker : workers_) sum += worker.threads;
  return sum;
}

// --- Talking -----------------------------------------------------------------------------------------------

std::optional<RankMessage> RankCoordinator::receive() {
  if (std::optional<RankMessage> own = from_own_.take()) return own;
  return link_.receive();
}

void RankCoordinator::send(int worker, MessageKind kind, std::string bytes) {
  if (worker == 0)
    to_own_.put({0, kind, std::move(bytes)});
  else
    link_.send(worker, kind, std::move(bytes));
}

std::string RankCoordinator::name(int worker) const {
  const std::string& host = workers_[static_cast<std::size_t>(worker)].host;
  return fmt::format("rank {}{}", worker, host.empty() ? "" : " on " + host);
}

void RankCoordinator::accept_worker(int worker, const Readiness& ready) {
  Worker& own = workers_[static_cast<std::size_t>(worker)];
  own.host = ready.host;
  if (const auto other = difference(ready.identity, identity_))
    throw MachineError(
        {.message = name(worker) + " would run something else: its " + other->name + " differs from rank 0's",
         .found = other->found,
         .expected = other->expected,
         .hint = "all ranks of a run need the same study, program and kind of device"});
  own.ready = true;
  own.threads = ready.threads;
}

void RankCoordinator::handle(EnsembleRun& run, RankMessage message) {
  switch (message.kind) {
    case MessageKind::ready:
      return accept_worker(message.from, read_readiness(message.bytes));
    case MessageKind::error:
      return rethrow_error(message.bytes, name(message.from));
    case MessageKind::result: {
      RangeResult result = read_result(std::move(message.bytes), run.plan());
      const RunPart& part = result.part;
      --workers_[static_cast<std::size_t>(message.from)].ranges;
      if (!work_->accept_result(message.from, {part.first, part.end}, part.performance.wall_s)) return;
      divide_times(result.part.performance, link_.size());
      waiting_.emplace(part.first, std::move(result));
      return;
    }
    case MessageKind::begin:
    case MessageKind::range:
    case MessageKind::stop:
    case MessageKind::stopped:
      return;
  }
}

// --- Dealing and joining -----------------------------------------------------------------------------------

// Round by round, so that the last ranges are spread over the workers.
void RankCoordinator::assign_work() {
  for (std::size_t assigned = 0; assigned < ranges_per_worker; ++assigned)
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      const int worker = static_cast<int>(k);
      if (!workers_[k].ready || workers_[k].ranges != assigned) continue;
      const std::optional<MemberRange> range = work_->next(worker, clock_.seconds());
      if (!range) continue;
      ++workers_[k].ranges;
      send(worker, MessageKind::range, member_range_bytes(*range));
    }
}

// The members' records are appended first: if the disk is full, the run keeps its state.
bool RankCoordinator::join(EnsembleRun& run, MemberRecordsFile* members) {
  bool joined = false;
  while (!run.done() && !waiting_.empty() && waiting_.begin()->first == run.part().position) {
    const auto next = waiting_.extract(waiting_.begin());
    if (members != nullptr) members->append(next.mapped().members);
    joined = true;
    run.join(next.mapped().part, next.mapped().statistics);
    // With a sweep `until` may leave out members that have been assigned already.
    work_->joined(run.part().position);
    waiting_.erase(waiting_.begin(), waiting_.lower_bound(run.part().position));
  }
  return joined;
}

}  // namespace zwang
