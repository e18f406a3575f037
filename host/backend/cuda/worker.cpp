#include "host/backend/cuda/worker.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>

#include "host/backend/cuda/device_arena.h"
#include "host/platform/stage_times.h"
#include "host/program/kernel_program.h"
#include "kernels/base/layout.h"

namespace zwang {

namespace {

using cuda::Driver;

int attribute(const Driver& driver, cuda::DeviceAttribute which, cuda::Device device) {
  int value = 0;
  driver.require(driver.device_attribute(&value, static_cast<int>(which), device),
                 "querying a device's properties");
  return value;
}

}  // namespace

CudaWorker::CudaWorker(int number) : driver_(Driver::get()) {
  driver_.require(driver_.device_get(&device_, number), fmt::format("opening device {}", number));
  char text[256] = {};
  driver_.require(driver_.device_name(text, sizeof text - 1, device_), "querying a device's name");
  name_ = text;
  driver_.require(driver_.context_retain(&context_, device_), "creating a context on " + name_);
  make_current();
  driver_.require(driver_.stream_create(&stream_, 1), "creating a stream");
  for (cuda::Event* event : {&begun_, &ended_, &events_done_})
    driver_.require(driver_.event_create(event, 0), "creating an event");
  architecture_ = 10 * attribute(driver_, cuda::DeviceAttribute::major, device_) +
                  attribute(driver_, cuda::DeviceAttribute::minor, device_);
  processors_ = attribute(driver_, cuda::DeviceAttribute::processors, device_);
}

CudaWorker::~CudaWorker() {
  if (!context_) return;
  driver_.context_use(context_);
  if (memory_) driver_.release(memory_);
  program_.reset();
  for (cuda::Event event : {begun_, ended_, events_done_})
    if (event) driver_.event_destroy(event);
  for (cuda::Stream stream : slow_streams_)
    if (stream) driver_.stream_destroy(stream);
  if (stream_) driver_.stream_destroy(stream_);
  driver_.context_release(device_);
}

void CudaWorker::load(const CudaBinaries& binaries) {
  make_current();
  program_ = std::make_shared<const CudaDeviceProgram>(binaries, processors_, stream_);
}

void CudaWorker::make_current() const {
  driver_.require(driver_.context_use(context_), "selecting " + name_);
}

bool CudaWorker::integrate(const KernelSettings& settings, KernelBuffers& buffers, double& seconds,
                           const DeviceStage& after_integration, const DeviceStage& before_integration) {
  KernelBatch batch = buffers.batch();
  const auto slots = slots_for(batch.count);
  // The first layout gives the size, the second one the addresses.
  DeviceArena plan(0);
  lay_out(plan, slots, buffers, batch);
  {
    const StageTimer timer("integrate: allocate");
    if (!reserve(plan.used())) return false;
  }
  DeviceArena arena(memory_);
  const Layout layout = lay_out(arena, slots, buffers, batch);
  std::optional<StageTimer> copying(std::in_place, "integrate: copy inputs, draw");
  buffers.each_array(batch, [&, at = layout.arrays.begin()](const KernelBuffers::Array& array,
                                                            const auto&) mutable {
    // Results are initialised too: outputs that a member never reaches stay missing.
    const cuda::Pointer to = *at++;
    if (array.data)
      driver_.require(driver_.copy_in(to, array.data, array.bytes, stream_), "copying members to the GPU");
    else
      driver_.require(driver_.set_bytes(to, array.fill, array.bytes, stream_), "clearing results");
  });
  driver_.require(driver_.copy_in(layout.settings, &settings, sizeof settings, stream_),
                  "copying the settings");
  driver_.require(driver_.copy_in(layout.batch, &batch, sizeof batch, stream_), "copying the settings");
  if (before_integration && !before_integration(batch)) return false;
  if (StageTimes::get().on()) synchronise("copying members to the GPU");
  copying.reset();
  record(begun_, stream_);
  {
    const StageTimer timer("integrate: kernels");
    run_turns(settings, batch, layout, slots);
  }
  record(ended_, stream_);
  if (after_integration) {
    const StageTimer timer("integrate: reduce");
    if (!after_integration(batch)) return false;
  }
  const StageTimer timer("integrate: copy results");
  buffers.each_array(batch,
                     [&, at = layout.arrays.begin()](const KernelBuffers::Array& array, const auto&) mutable {
                       const cuda::Pointer from = *at++;
                       if (!array.input && array.data)
                         driver_.require(driver_.copy_out(array.data, from, array.bytes, stream_),
                                         "copying results from the GPU");
                     });
  synchronise("integrating on " + name_);
  seconds += elapsed();
  return true;
}

std::size_t CudaWorker::free_bytes() const {
  make_current();
  std::size_t free = 0, total = 0;
  driver_.require(driver_.memory_info(&free, &total), "querying free memory");
  return free + capacity_;
}

CudaOccupation CudaWorker::occupation() const {
  CudaOccupation made;
  driver_.function_attribute(&made.registers, static_cast<int>(cuda::FunctionAttribute::registers),
                             program_->step.function);
  driver_.function_attribute(&made.local_bytes, static_cast<int>(cuda::FunctionAttribute::local_bytes),
                             program_->step.function);
  made.threads_per_processor = program_->step.blocks / processors_ * program_->step.threads;
  made.processors = processors_;
  return made;
}

double CudaWorker::busy_lanes() const {
  return counters_.possible > 0
             ? static_cast<double>(counters_.busy) / static_cast<double>(counters_.possible)
             : 0;
}

double CudaWorker::time(const std::string& cubin, const char* kernel, unsigned blocks, unsigned threads) {
  make_current();
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  driver_.require(driver_.module_load(&module, cubin.data()), "loading a program");
  driver_.require(driver_.module_function(&function, module, kernel), "looking for a kernel");
  if (!reserve(sizeof(double) * blocks * threads)) return 0;
  void* arguments[] = {&memory_};
  for (int round = 0; round < 2; ++round) {  // the first round warms up
    record(begun_, stream_);
    driver_.require(driver_.launch(function, blocks, 1, 1, threads, 1, 1, 0, stream_, arguments, nullptr),
                    "starting a kernel");
    record(ended_, stream_);
    synchronise("running a kernel");
  }
  driver_.module_unload(module);
  return elapsed();
}

void CudaWorker::clear(cuda::Pointer at, std::size_t bytes, cuda::Stream stream) const {
  driver_.require(driver_.set_bytes(at, 0, bytes, stream), "clearing counters");
}
void CudaWorker::record(cuda::Event event, cuda::Stream stream) const {
  driver_.require(driver_.event_record(event, stream), "reading the GPU's clock");
}
// Later work on the stream starts after the event has occurred.
void CudaWorker::make_stream_wait(cuda::Stream stream, cuda::Event event) const {
  driver_.require(driver_.stream_wait_event(stream, event, 0), "synchronising streams");
}
void CudaWorker::synchronise(const std::string& doing) const {
  driver_.require(driver_.stream_synchronise(stream_), doing);
}
double CudaWorker::elapsed() const {
  float milliseconds = 0;
  driver_.require(driver_.event_elapsed(&milliseconds, begun_, ended_), "reading the GPU's clock");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace zwang
