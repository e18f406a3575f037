// Batches whose statistics are computed on the device: only the statistics are copied back.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "host/backend/backend.h"
#include "host/backend/cuda/backend_cuda.h"
#include "host/backend/cuda/compiler.h"
#include "host/backend/cuda/device_program.h"
#include "host/backend/cuda/reduction_device.h"
#include "host/backend/cuda/worker.h"
#include "host/backend/device_records.h"
#include "host/backend/device_reduction.h"
#include "host/backend/device_sampling.h"
#include "host/backend/kernel_buffers.h"
#include "host/platform/machine_error.h"
#include "host/platform/stage_times.h"
#include "host/program/host_compiler.h"
#include "host/statistics/deferred_plan.h"
#include "host/statistics/reduction_plan.h"
#include "kernels/base/layout.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

namespace {

constexpr std::size_t block = reduced_block;

std::size_t whole_blocks(std::size_t members) { return std::max(block, members / block * block); }

}  // namespace

// Members [begin, end) of a batch and their statistics.
struct BackendCuda::ReducedChunk {
  std::size_t begin, end;
  std::vector<ReducedMembers> parts;
  double seconds = 0;
};

void BackendCuda::prepare_reductions(const std::map<int, CudaBinaries>& by_architecture) {
  for (const auto& worker : workers_) {
    worker->make_current();
    reduction_devices_.push_back(
        std::make_unique<CudaReductionDevice>(worker->context(), worker->stream(), worker->processors(),
                                              by_architecture.at(worker->architecture()).modules.at(0)));
  }
}

// One chunk per worker of a team if memory allows, in whole blocks: little is copied, and the cost of a
// summary does not depend on the number of members.
std::size_t BackendCuda::reduced_chunk_size(std::size_t members, const ReductionPlan& plan) {
  constexpr std::size_t least = 1 << 17, most = 1 << 22;
  const ReductionBytes bytes = reduction_bytes(plan);
  const std::size_t each = shape_.member_bytes({}, 0) + bytes.per_member;
  {
    // Queried once: later calls would not count the memory that the workers have allocated themselves.
    const std::scoped_lock lock(teams_guard_);
    if (reduced_share_ == 0) {
      reduced_share_ = workers_[0]->free_bytes();
      for (const auto& worker : workers_) reduced_share_ = std::min(reduced_share_, worker->free_bytes());
      reduced_share_ = reduced_share_ / 10 * 8 / workers_per_device;
    }
  }
  const std::size_t room = (reduced_share_ > bytes.fixed ? reduced_share_ - bytes.fixed : 0) / each;
  const std::size_t devices = workers_.size() / workers_per_device;
  std::size_t size = std::clamp(members / devices + 1, least, most);
  if (members_at_once > 0) size = members_at_once;
  return whole_blocks(std::min(size, room));
}

// Workers take the next chunk from a shared counter. A chunk that does not fit into device memory is halved.
void BackendCuda::work_reduced(std::size_t number, std::vector<ReducedChunk>& chunks,
                               std::atomic<std::size_t>& next, const ReducedCall& call) {
  CudaWorker& worker = *workers_[number];
  CudaReductionDevice& reductions = *reduction_devices_[number];
  worker.make_current();
  const Wanted wanted{.observables = shape_.outputs * shape_.observables > 0};
  const ResidentResults resident{.observables = true, .members = true};
  for (std::size_t c = next++; c < chunks.size(); c = next++) {
    ReducedChunk& chunk = chunks[c];
    std::size_t size = whole_blocks(chunk.end - chunk.begin + block - 1);
    for (std::size_t begin = chunk.begin; begin < chunk.end;) {
      const std::size_t end = std::min(chunk.end, begin + size);
      const long long first = call.first + static_cast<long long>(begin);
      KernelBuffers buffers(shape_, outputs_, call.batch, begin, end, wanted, 0, resident);
      std::optional<ReducedMembers> reduced;
      const auto reduce = [&](const KernelBatch& on_device) {
        const ReductionPlan& plan = call.plan.plan(first, [&](std::size_t rows) {
          return fetch_rows(reductions, call.plan.outline(), on_device, 0, rows);
        });
        reduced = reduce_members(reductions, plan, on_device, first);
        if (!reduced || call.records.layout == nullptr) return reduced.has_value();
        const StageTimer timer("integrate: copy records");
        return fetch_member_records(reductions, *call.records.layout, on_device,
                                    call.records.records + begin * call.records.layout->bytes());
      };
      const auto draw = [&](const KernelBatch& on_device) {
        return call.batch.device_sampling == nullptr ||
               draw_on_device(reductions, *call.batch.device_sampling, on_device, first);
      };
      if (!worker.integrate(settings_, buffers, chunk.seconds, reduce, draw)) {
        if (size == block)
          throw MachineError(
              {.message = "the GPU has no memory left for a block of members",
               .found = fmt::format("{} members of {} bytes", block, shape_.member_bytes(wanted, 0)),
               .expected = "free memory on " + worker.name(),
               .hint = "another process may be using it; or request fewer outputs"});
        size = whole_blocks(size / 2);
        continue;
      }
      chunk.parts.push_back(std::move(*reduced));
      begin = end;
    }
  }
}

// Each worker of the team works on a thread of its own, one of them on this thread.
void BackendCuda::work_as_team(std::size_t team, std::vector<ReducedChunk>& chunks, const ReducedCall& call) {
  std::atomic<std::size_t> next = 0;
  std::mutex guard;
  std::exception_ptr trouble;
  const auto work = [&](std::size_t worker) {
    try {
      work_reduced(worker, chunks, next, call);
    } catch (...) {
      next = chunks.size();
      call.plan.abandon(std::current_exception());
      const std::scoped_lock lock(guard);
      trouble = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t devices = std::min(workers_.size() / workers_per_device, chunks.size());
    for (std::size_t i = 1; i < devices; ++i) others.emplace_back(work, team + i * workers_per_device);
    work(team);
  }
  if (trouble) std::rethrow_exception(trouble);
}

std::size_t BackendCuda::batches_at_once() const { return workers_per_device; }

ReducedBatch BackendCuda::run_reduced(const Batch& batch, long long first, DeferredPlan& plan,
                                      const RecordTarget& records) {
  std::vector<ReducedChunk> chunks;
  const std::size_t size = reduced_chunk_size(batch.count, plan.outline());
  for (std::size_t begin = 0; begin < batch.count; begin += size)
    chunks.push_back({begin, std::min(batch.count, begin + size), {}, 0});

  std::unique_lock lock(teams_guard_);
  team_is_free_.wait(lock, [&] { return !free_teams_.empty(); });
  const std::size_t team = free_teams_.back();
  free_teams_.pop_back();
  lock.unlock();
  const auto give_back = [&] {
    lock.lock();
    free_teams_.push_back(team);
    team_is_free_.notify_one();
  };
  try {
    work_as_team(team, chunks, {batch, first, plan, records});
  } catch (...) {
    give_back();
    throw;
  }
  give_back();  // and holds the lock

  ReducedBatch made;
  busy_lanes = workers_[team]->busy_lanes();
  device_seconds = 0;
  for (ReducedChunk& chunk : chunks) {
    device_seconds += chunk.seconds;
    for (ReducedMembers& part : chunk.parts) made.parts.push_back(std::move(part));
  }
  return made;
}

}  // namespace zwang
