#include "host/backend/cuda/backend_cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "host/backend/cuda/compilations.h"
#include "host/backend/cuda/compiler.h"
#include "host/backend/cuda/device_program.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "host/platform/stage_times.h"
#include "host/program/host_compiler.h"
#include "host/study/study.h"

namespace zwang {

namespace {

using cuda::Driver;

std::vector<int> all_devices(const Driver& driver) {
  int count = 0;
  driver.require(driver.device_count(&count), "counting devices");
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void require_device(int number, int count) {
  if (number >= 0 && number < count) return;
  throw MachineError(
      {.message = "there is no such GPU",
       .found = count == 0 ? "no GPU that the driver can use" : fmt::format("device {}", number),
       .expected = count == 0   ? "a GPU"
                   : count == 1 ? "device 0, the only one"
                                : fmt::format("0 to {}", count - 1),
       .hint = "CUDA_VISIBLE_DEVICES decides which devices this process sees"});
}

}  // namespace

// Members [begin, end) of a batch and their results.
struct BackendCuda::Chunk {
  std::size_t begin, end;
  BatchResults results;
  double seconds = 0;
};

BackendCuda::BackendCuda(const Study& study, std::vector<int> devices, std::filesystem::path cache)
    : BackendCuda(study, cuda_program(study), std::move(devices), std::move(cache)) {}

BackendCuda::BackendCuda(const Study& study, const KernelProgram& program, std::vector<int> devices,
                         std::filesystem::path cache)
    : system_(study.system),
      outputs_(study.time.outputs),
      shape_(*study.system, study.time.outputs.size()),
      settings_(kernel_settings(study)),
      method_(program.method),
      motion_operations_(program.motion_operations),
      series_operations_(program.series_operations) {
  start(program, std::move(devices), cache);
}

BackendCuda::~BackendCuda() {
  const StageTimer timer("stop backend");
  if (retiring_.joinable()) retiring_.join();
  reduction_devices_.clear();
  workers_.clear();
}

void BackendCuda::retire() {
  if (retiring_.joinable()) return;
  retiring_ = std::thread([this] {
    const StageTimer timer("stop backend, beside other work");
    reduction_devices_.clear();
    workers_.clear();
  });
}

void BackendCuda::start(const KernelProgram& program, std::vector<int> devices,
                        const std::filesystem::path& folder) {
  const auto begun = std::chrono::steady_clock::now();
  const std::vector<int> available = [] {
    const StageTimer timer("start backend: driver");
    return all_devices(Driver::get());
  }();
  if (devices.empty()) devices = available;
  for (const int number : devices) require_device(number, static_cast<int>(available.size()));
  if (devices.empty()) require_device(0, 0);
  for (std::size_t team = workers_per_device; team-- > 0;) free_teams_.push_back(team);
  {
    const StageTimer timer("start backend: contexts");
    for (const int number : devices)
      for (std::size_t i = 0; i < workers_per_device; ++i)
        workers_.push_back(std::make_unique<CudaWorker>(number));
  }
  device_ = device_names();
  first_device_ = devices.front();
  threads_ = static_cast<unsigned>(workers_.size());
  compile_and_load(program.text, folder);
  compile_seconds = program.emission_seconds +
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// All units of the study and of the reductions are compiled at once, for each kind of device.
void BackendCuda::compile_and_load(const ProgramText& text, const std::filesystem::path& folder) {
  std::map<int, CudaBinaries> programs, reductions;
  {
    const StageTimer timer("start backend: programs");
    std::map<int, CudaCompilations> of_programs, of_reductions;
    for (const auto& worker : workers_) {
      const int architecture = worker->architecture();
      if (of_programs.count(architecture) > 0) continue;
      of_programs.emplace(architecture, CudaCompilations(text, architecture, folder));
      of_reductions.emplace(architecture, CudaCompilations(reduction_program(), architecture, folder));
    }
    for (auto& [architecture, compilations] : of_programs)
      programs[architecture] = take(std::move(compilations));
    for (auto& [architecture, compilations] : of_reductions)
      reductions[architecture] = take(std::move(compilations));
  }
  for (const auto& worker : workers_) {
    const auto loaded = std::find_if(workers_.begin(), workers_.end(), [&](const auto& other) {
      return other == worker || other->context() == worker->context();
    });
    if (*loaded == worker)
      worker->load(programs.at(worker->architecture()));
    else
      worker->share_program_of(**loaded);
  }
  const StageTimer timer("start backend: reductions");
  prepare_reductions(reductions);
}

CudaBinaries BackendCuda::take(CudaCompilations compilations) {
  CudaCompilations::Made made = compilations.wait();
  compiled_ = compiled_ || made.compiled;
  if (!made.note.empty()) note_ = made.note;
  return std::move(made.binaries);
}

// Each model is named once: results, and the files that contain this name, do not depend on the number of
// devices.
std::string BackendCuda::device_names() const {
  std::vector<std::string> kinds;
  for (const auto& worker : workers_)
    if (std::find(kinds.begin(), kinds.end(), worker->name()) == kinds.end()) kinds.push_back(worker->name());
  return fmt::format("{}", fmt::join(kinds, ", "));
}

CudaOccupation BackendCuda::occupation() const { return workers_[0]->occupation(); }

// A few chunks per worker, so that copies and kernels overlap, each within the free memory.
std::size_t BackendCuda::chunk_size(const Batch& batch, const Wanted& wanted) const {
  constexpr std::size_t least = 1 << 17, most = 1 << 22;
  std::size_t free = workers_[0]->free_bytes();
  for (const auto& worker : workers_) free = std::min(free, worker->free_bytes());
  const std::size_t room = free / 10 * 8 / workers_per_device / shape_.member_bytes(wanted, first_event_room);
  std::size_t size = std::clamp(batch.count / (2 * workers_.size()) + 1, least, most);
  if (members_at_once > 0) size = members_at_once;
  return std::max<std::size_t>(1, std::min(size, room));
}

// Workers take the next chunk from a shared counter. A chunk that does not fit into device memory is halved.
void BackendCuda::work(CudaWorker& worker, std::vector<Chunk>& chunks, std::atomic<std::size_t>& next,
                       const Batch& batch, const Wanted& wanted) {
  worker.make_current();
  for (std::size_t c = next++; c < chunks.size(); c = next++) {
    Chunk& chunk = chunks[c];
    std::size_t size = chunk.end - chunk.begin;
    for (std::size_t begin = chunk.begin; begin < chunk.end;) {
      const std::size_t end = std::min(chunk.end, begin + size);
      KernelBuffers buffers(shape_, outputs_, batch, begin, end, wanted, first_event_room);
      if (!worker.integrate(settings_, buffers, chunk.seconds)) {
        if (size == 1)
          throw MachineError(
              {.message = "the GPU has no memory left for a single member",
               .found = fmt::format("{} bytes needed", shape_.member_bytes(wanted, first_event_room)),
               .expected = "free memory on " + worker.name(),
               .hint = "another process may be using it; or request fewer outputs"});
        size = (size + 1) / 2;
        continue;
      }
      for (std::size_t m = begin; wanted.events && m < end; ++m) {
        const long long total = buffers.events_of(m - begin);
        if (total <= first_event_room) {
          chunk.results.events.push_back(buffers.events(m - begin, *system_));
          continue;
        }
        // More events than the log had room for: run this member again with room for all of them.
        KernelBuffers again(shape_, outputs_, batch, m, m + 1, wanted, total);
        double seconds = 0;
        if (!worker.integrate(settings_, again, seconds))
          throw MachineError({.message = "the GPU has no memory left for a member's events",
                              .found = fmt::format("{} events", total),
                              .expected = "free memory on " + worker.name(),
                              .hint = {}});
        chunk.results.events.push_back(again.events(0, *system_));
      }
      append_results(chunk.results, buffers.take_results());
      begin = end;
    }
  }
}

double BackendCuda::measure_peak() {
  // Eight independent chains per thread hide the latency.
  constexpr int chains = 8, rounds = 4096;
  constexpr unsigned threads = 256;
  ProgramText program;
  program.sources["peak.cu"] = fmt::format(R"(extern "C" __global__ void peak(double* to) {{
  double x[{0}];
  for (int i = 0; i < {0}; ++i) x[i] = threadIdx.x + i;
  for (int k = 0; k < {1}; ++k)
    #pragma unroll
    for (int i = 0; i < {0}; ++i) x[i] = x[i] * 0.999999 + 1e-7;
  double sum = 0;
  for (int i = 0; i < {0}; ++i) sum += x[i];
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}})",
                                           chains, rounds);
  program.units = {"peak.cu"};
  CudaWorker& worker = *workers_[0];
  const TemporaryFolder folder;
  CudaCompiler(worker.architecture()).compile(program, folder.path() / "peak");
  const auto blocks = static_cast<unsigned>(worker.processors() * 64);
  const double seconds =
      worker.time(read_whole(folder.path() / "peak").value_or(""), "peak", blocks, threads);
  return seconds > 0 ? 2.0 * chains * rounds * threads * blocks / seconds : 0;
}

BatchResults BackendCuda::run(const Batch& batch, const Wanted& wanted) {
  std::vector<Chunk> chunks;
  const std::size_t size = chunk_size(batch, wanted);
  for (std::size_t begin = 0; begin < batch.count; begin += size)
    chunks.push_back({begin, std::min(batch.count, begin + size), {}, 0});

  std::atomic<std::size_t> next = 0;
  std::mutex guard;
  std::exception_ptr trouble;
  {
    std::vector<std::jthread> team;
    for (std::size_t i = 0; i < std::min(workers_.size(), chunks.size()); ++i)
      team.emplace_back([&, i] {
        try {
          work(*workers_[i], chunks, next, batch, wanted);
        } catch (...) {
          next = chunks.size();
          const std::scoped_lock lock(guard);
          trouble = std::current_exception();
        }
      });
  }
  if (trouble) std::rethrow_exception(trouble);

  BatchResults results;
  busy_lanes = workers_[0]->busy_lanes();
  device_seconds = 0;
  for (Chunk& chunk : chunks) {
    device_seconds += chunk.seconds;
    append_results(results, std::move(chunk.results));
  }
  return results;
}

}  // namespace zwang
