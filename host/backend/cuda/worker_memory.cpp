// Device memory of a worker: how many members are under way, how many steps wait to be recorded, and where
// everything is.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "host/backend/cuda/device_arena.h"
#include "host/backend/cuda/device_program.h"
#include "host/backend/cuda/library.h"
#include "host/backend/cuda/worker.h"
#include "host/backend/kernel_buffers.h"
#include "kernels/base/layout.h"

namespace zwang {

namespace {

constexpr std::size_t warp_threads = 32;
// Where enough members have to wait before a run of the slow path begins: when this share of the lanes that the device can run at once is full.
constexpr unsigned gathered_share = 16;

}  // namespace

// Number of members in device memory at a time: enough that lanes find work while other members are on the
// slow path, at most the number of members, and for large members at most what fits into 4 GiB.
unsigned CudaWorker::slots_for(long long members) const {
  constexpr long long rounds = 32, room = 4LL << 30;
  const long long lanes = static_cast<long long>(program_->step.blocks) * program_->step.threads;
  const long long fit = room / static_cast<long long>(std::max(program_->slot_bytes, 1ULL));
  return static_cast<unsigned>(std::clamp<long long>(members, 1, std::clamp(fit, lanes, rounds * lanes)));
}

// Entries that a warp of the stepping kernel has for steps to be recorded: as many as its lanes take in a turn,
// within two gibibytes for all warps. When they are used up the turn ends.
std::size_t CudaWorker::listed_steps_of_warp(unsigned slots) const {
  constexpr std::size_t room = 2UL << 30, least = 512, most_of_slot = 128;
  const std::size_t warps = blocks_for(program_->step, slots) *
                            static_cast<std::size_t>(program_->step.threads / warp_threads),
                    fit = room / (warps * std::max(program_->listed_step_bytes, 8ULL)),
                    wanted = most_of_slot * ((slots + warps - 1) / warps) + least;
  return std::max(least, std::min(fit, wanted) / warp_threads * warp_threads);
}

// A list of steps to be recorded, with a region for each warp of the kernel that fills it.
DeviceStepList CudaWorker::step_list(DeviceArena& arena, const CudaKernel& filled_by, unsigned slots,
                                     std::size_t entries) const {
  DeviceStepList made{};
  const std::size_t warps =
      blocks_for(filled_by, slots) * static_cast<std::size_t>(filled_by.threads / warp_threads);
  made.regions = static_cast<unsigned>(warps);
  made.capacity = static_cast<unsigned>(entries);
  made.numbers = reinterpret_cast<void*>(arena.take(warps * entries * program_->listed_step_bytes));
  for (unsigned** words : {&made.slots, &made.tags, &made.extremes})
    *words = reinterpret_cast<unsigned*>(arena.take(sizeof(unsigned) * warps * entries));
  made.counts = reinterpret_cast<unsigned*>(arena.take(sizeof(unsigned) * 2 * warps));
  return made;
}

// Assigns addresses to all arrays and sets the pointers of `batch`.
CudaWorker::Layout CudaWorker::lay_out(DeviceArena& arena, unsigned slots, KernelBuffers& buffers,
                                       KernelBatch& batch) const {
  Layout made;
  made.settings = arena.take(sizeof(KernelSettings));
  made.batch = arena.take(sizeof(KernelBatch));
  made.counters = arena.take(sizeof(DeviceCounters));
  made.lists.counters = reinterpret_cast<DeviceCounters*>(made.counters);
  made.lists.slots = slots;
  made.lists.at_event = reinterpret_cast<unsigned*>(arena.take(sizeof(unsigned) * slots));
  made.lists.runs = slow_runs(program_->slow_run_rule);
  for (unsigned copy = 0; copy <= made.lists.runs; ++copy)
    made.lists.waiting[copy] = reinterpret_cast<unsigned*>(arena.take(sizeof(unsigned) * slow_works * slots));
  for (unsigned*& moving : made.lists.moving)
    moving = reinterpret_cast<unsigned*>(arena.take(sizeof(unsigned) * slots));
  for (unsigned run = 0; run < made.lists.runs; ++run)
    made.lists.resumed[run] = reinterpret_cast<unsigned*>(arena.take(sizeof(unsigned) * slots));
  made.lists.enough_waiting =
      static_cast<unsigned>(program_->slow_path.blocks * program_->slow_path.threads) / gathered_share;
  if (program_->record.function) {
    made.lists.steps = step_list(arena, program_->step, slots, listed_steps_of_warp(slots));
    const std::size_t warps =
        blocks_for(program_->event, slots) * static_cast<std::size_t>(program_->event.threads / warp_threads);
    made.lists.events =
        step_list(arena, program_->event, slots,
                  warp_threads * ((slots + warps * warp_threads - 1) / (warps * warp_threads)));
  }
  made.slots = arena.take(program_->slot_bytes * slots);
  buffers.each_array(batch, [&](const KernelBuffers::Array& array, const auto& point) {
    made.arrays.push_back(arena.take(array.bytes));
    point(reinterpret_cast<void*>(made.arrays.back()));
  });
  return made;
}

bool CudaWorker::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return true;
  if (memory_) driver_.release(memory_);
  memory_ = 0;
  capacity_ = 0;
  const cuda::Result result = driver_.allocate(&memory_, bytes);
  if (result == cuda::out_of_memory) return false;
  driver_.require(result, fmt::format("allocating {1} bytes on {0}", name_, bytes));
  capacity_ = bytes;
  return true;
}

}  // namespace zwang
