#include "host/backend/backend_cpu.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "host/backend/batch.h"
#include "host/platform/machine_error.h"
#include "host/platform/parallel.h"
#include "host/program/host_compiler.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"

namespace zwang {

namespace {

// Threads with the stack size the program requires: events of large systems need more than the default.
class ThreadTeam {
 public:
  ThreadTeam(unsigned threads, long long stack_bytes, void* (*work)(void*), void* argument) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    constexpr long long page = 4096;
    pthread_attr_setstacksize(&attributes, static_cast<std::size_t>((stack_bytes + page - 1) / page * page));
    for (unsigned i = 0; i < threads; ++i) {
      pthread_t thread;
      if (pthread_create(&thread, &attributes, work, argument) != 0) break;
      threads_.push_back(thread);
    }
    pthread_attr_destroy(&attributes);
    if (threads_.empty())
      throw MachineError({.message = "no thread could be started",
                          .found = fmt::format("a thread with a stack of {} bytes was refused", stack_bytes),
                          .expected = "memory for at least one thread",
                          .hint = "is there a memory limit (ulimit -v)?"});
  }
  ~ThreadTeam() {
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

 private:
  std::vector<pthread_t> threads_;
};

}  // namespace

BackendCpu::BackendCpu(const Study& study, const HostCompiler& compiler, unsigned threads, LaneChoice lanes,
                       std::filesystem::path cache)
    : BackendCpu(study, cpu_program(study, lanes), compiler, threads, std::move(cache)) {}

BackendCpu::BackendCpu(const Study& study, const KernelProgram& program, const HostCompiler& compiler,
                       unsigned threads, std::filesystem::path cache_folder)
    : system_(study.system),
      outputs_(study.time.outputs),
      shape_(*study.system, study.time.outputs.size()),
      settings_(kernel_settings(study)),
      threads_(thread_count(threads)),
      method_(program.method),
      motion_operations_(program.motion_operations) {
  const auto begun = std::chrono::steady_clock::now();
  ProgramCache cache(std::move(cache_folder));
  const auto library = cache.get(
      compiler.key(program.text),
      [&](const std::filesystem::path& target) { compiler.compile(program.text, target); }, &compiled_);
  program_.emplace(library);
  note_ = cache.note();
  lanes_ = program_->symbol<int()>("zwang_lanes")();
  stack_bytes_ = program_->symbol<long long()>("zwang_stack_bytes")();
  work_ = program_->symbol<void(const KernelSettings*, const KernelBatch*, long long*)>("zwang_work");
  compile_seconds = program.emission_seconds +
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

std::string BackendCpu::device() const {
  return fmt::format("{} lane{}, {}", lanes_, lanes_ == 1 ? "" : "s", method_);
}

void BackendCpu::set_threads(unsigned threads) { threads_ = thread_count(threads); }

void BackendCpu::integrate(const KernelBatch& batch, unsigned threads) const {
  long long counter = 0;
  struct Work {
    const BackendCpu* backend;
    const KernelBatch* batch;
    long long* counter;
  } shared{this, &batch, &counter};
  const auto work = [](void* given) -> void* {
    const auto* shared_work = static_cast<const Work*>(given);
    shared_work->backend->work_(&shared_work->backend->settings_, shared_work->batch, shared_work->counter);
    return nullptr;
  };
  const auto most = static_cast<unsigned>(std::clamp<long long>(batch.count, 1, threads));
  const ThreadTeam team(most, stack_bytes_, work, &shared);
}

BackendCpu::Shares BackendCpu::measure_shares(const Batch& batch) {
  KernelBuffers buffers(shape_, outputs_, batch, 0, batch.count, {}, 0);
  long long ticks[3] = {0, 0, 0};
  buffers.batch().ticks = ticks;
  integrate(buffers.batch(), 1);
  const auto share = [&](int i) {
    return ticks[0] > 0 ? static_cast<double>(ticks[i]) / static_cast<double>(ticks[0]) : 0;
  };
  return {.events = share(1), .starts = share(2)};
}

BatchResults BackendCpu::run(const Batch& batch, const Wanted& wanted) {
  KernelBuffers buffers(shape_, outputs_, batch, 0, batch.count, wanted, first_event_room);
  integrate(buffers.batch(), threads_);
  std::vector<MemberEvents> events;
  for (std::size_t m = 0; wanted.events && m < batch.count; ++m) {
    const long long total = buffers.events_of(m);
    if (total <= first_event_room) {
      events.push_back(buffers.events(m, *system_));
      continue;
    }
    // More events than the log had room for: run this member again with room for all of them.
    KernelBuffers again(shape_, outputs_, batch, m, m + 1, wanted, total);
    integrate(again.batch(), 1);
    events.push_back(again.events(0, *system_));
  }
  BatchResults results = buffers.take_results();
  results.events = std::move(events);
  return results;
}

}  // namespace zwang
