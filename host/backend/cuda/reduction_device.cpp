#include "host/backend/cuda/reduction_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "host/platform/stage_times.h"
#include "host/program/kernel_text.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

namespace {

constexpr int threads_per_block = group_lanes;
constexpr std::size_t least_landing = std::size_t{8} << 20;

}  // namespace

ProgramText reduction_program() {
  ProgramText program;
  for (const KernelFile& file : kernel_files())
    if (file.name.starts_with("kernels/reduce/") || file.name.starts_with("kernels/sampling/") ||
        file.name.starts_with("kernels/base/"))
      program.sources[std::string(file.name)] = file.text;
  program.sources["reduce.cu"] =
      "#include \"kernels/reduce/entry_reduce_cuda.h\"\nZWANG_REDUCTIONS(ZWANG_CUDA_REDUCTION)\n"
      "ZWANG_GROUP_REDUCTIONS(ZWANG_CUDA_GROUP_REDUCTION)\n"
      "ZWANG_RESIDENT_REDUCTIONS(ZWANG_CUDA_RESIDENT_REDUCTION)\nZWANG_DRAWS(ZWANG_CUDA_DRAW)\n"
      "ZWANG_RECORDS(ZWANG_CUDA_RECORD)\n";
  program.units = {"reduce.cu"};
  program.flags = {"--std=c++17", "--device-as-default-execution-space", "--disable-warnings",
                   "--fmad=false"};
  return program;
}

CudaReductionDevice::CudaReductionDevice(cuda::Context context, cuda::Stream stream, int processors,
                                         const std::string& cubin)
    : driver_(cuda::Driver::get()), context_(context), stream_(stream), processors_(processors) {
  driver_.require(driver_.module_load(&module_, cubin.data()), "loading the reductions");
}

CudaReductionDevice::~CudaReductionDevice() {
  driver_.context_use(context_);
  if (memory_) driver_.release(memory_);
  if (module_) driver_.module_unload(module_);
  for (Landing& landing : landings_) {
    // A copy may be under way if an exception has ended the run.
    if (landing.to) driver_.event_synchronise(landing.arrived);
    if (landing.arrived) driver_.event_destroy(landing.arrived);
    if (landing.memory) driver_.host_release(landing.memory);
  }
}

void CudaReductionDevice::make_current() {
  driver_.require(driver_.context_use(context_), "selecting a device");
}

std::optional<ReductionDevice::Address> CudaReductionDevice::allocate(std::size_t bytes) {
  cuda::Pointer memory = 0;
  const cuda::Result result = driver_.allocate(&memory, std::max<std::size_t>(bytes, 1));
  if (result == cuda::out_of_memory) return std::nullopt;
  driver_.require(result, fmt::format("allocating {} bytes for values", bytes));
  return memory;
}

void CudaReductionDevice::release(Address at) { driver_.release(at); }

std::optional<ReductionDevice::Address> CudaReductionDevice::reserve(std::size_t bytes) {
  if (bytes > capacity_) {
    if (memory_) driver_.release(memory_);
    memory_ = 0;
    capacity_ = 0;
    const StageTimer timer("integrate: reduce: allocate");
    const cuda::Result result = driver_.allocate(&memory_, bytes);
    if (result == cuda::out_of_memory) return std::nullopt;
    driver_.require(result, fmt::format("allocating {} bytes for statistics", bytes));
    capacity_ = bytes;
  }
  return memory_;
}

// Synchronises, because the host's copy may be freed as soon as this returns.
void CudaReductionDevice::copy_in(Address to, const void* from, std::size_t bytes) {
  const StageTimer timer("integrate: reduce: copy in");
  driver_.require(driver_.copy_in(to, from, bytes, stream_), "copying to the GPU");
  synchronise();
}

void CudaReductionDevice::copy_out(void* to, Address from, std::size_t bytes) {
  const StageTimer timer("integrate: reduce: copy out");
  driver_.require(driver_.copy_out(to, from, bytes, stream_), "copying statistics from the GPU");
  synchronise();
}

void CudaReductionDevice::make_room(Landing& landing, std::size_t bytes) {
  if (!landing.arrived)
    driver_.require(driver_.event_create(&landing.arrived, cuda::event_without_time), "creating an event");
  if (bytes <= landing.capacity) return;
  if (landing.memory) driver_.host_release(landing.memory);
  landing.memory = nullptr;
  landing.capacity = 0;
  // Locking pages takes as long as many copies: the memory grows rarely.
  const std::size_t capacity = std::bit_ceil(std::max(bytes, least_landing));
  driver_.require(driver_.host_allocate(&landing.memory, capacity, 0),
                  fmt::format("allocating {} bytes of page-locked memory", capacity));
  landing.capacity = capacity;
}

void CudaReductionDevice::finish(Landing& landing) {
  if (!landing.to) return;
  driver_.require(driver_.event_synchronise(landing.arrived), "copying from the GPU");
  std::memcpy(std::exchange(landing.to, nullptr), landing.memory, landing.bytes);
}

// The host copies the piece before on to its place while this one arrives.
void CudaReductionDevice::copy_out_later(void* to, Address from, std::size_t bytes) {
  Landing& landing = landings_[next_landing_];
  next_landing_ = 1 - next_landing_;
  make_room(landing, bytes);
  driver_.require(driver_.copy_out(landing.memory, from, bytes, stream_), "copying from the GPU");
  driver_.require(driver_.event_record(landing.arrived, stream_), "copying from the GPU");
  landing.to = to;
  landing.bytes = bytes;
  finish(landings_[next_landing_]);
}

void CudaReductionDevice::finish_copies() {
  for (Landing& landing : landings_) finish(landing);
}

void CudaReductionDevice::clear(Address at, std::size_t bytes) {
  driver_.require(driver_.set_bytes(at, 0, bytes, stream_), "clearing counts");
}

void CudaReductionDevice::run(const char* reduction, const void* job, std::size_t job_bytes,
                              long long count) {
  if (count == 0) return;
  cuda::Function& function = functions_[reduction];
  if (!function)
    driver_.require(driver_.module_function(&function, module_, (std::string("zwang_") + reduction).c_str()),
                    "loading a reduction");
  std::vector<std::byte> job_copy(job_bytes);
  std::memcpy(job_copy.data(), job, job_bytes);
  void* arguments[] = {job_copy.data(), &count};
  const long long blocks = std::min<long long>((count + threads_per_block - 1) / threads_per_block,
                                               static_cast<long long>(processors_) * 32);
  driver_.require(driver_.launch(function, static_cast<unsigned>(blocks), 1, 1, threads_per_block, 1, 1, 0,
                                 stream_, arguments, nullptr),
                  "starting a reduction");
  if (!StageTimes::get().on()) return;
  const StageTimer timer(reduction);
  synchronise();
}

void CudaReductionDevice::synchronise() const {
  driver_.require(driver_.stream_synchronise(stream_), "computing statistics on the GPU");
}

}  // namespace zwang
