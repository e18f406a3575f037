#include "host/backend/cuda/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
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
  constexpr int high_priority = -1;  // lower numbers run first
  for (cuda::Stream& stream : slow_streams_)
    driver_.require(driver_.priority_stream_create(&stream, 1, high_priority), "creating a stream");
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

// Repeats turns until all lists are empty. A turn is zwang_event, zwang_step and zwang_record on the main stream. Runs of
// zwang_slow_path are under way on streams of their own and may last for many turns: one is launched for each turn and
// stream, and returns at once unless zwang_event of that turn has given it a list (kernels/entry/slow_runs.h). The lists
// come in pairs; the parity of a turn selects those that it reads, and the others are filled for the next turn. The host
// polls the counters according to poll_schedule_.
void CudaWorker::run_turns(const KernelSettings& settings, const KernelBatch& batch, const Layout& layout,
                           unsigned slots) {
  clear(layout.counters, sizeof(DeviceCounters), stream_);
  // A list that no kernel of the study fills stays empty.
  for (const DeviceStepList* list : {&layout.lists.steps, &layout.lists.events})
    if (list->regions > 0)
      clear(reinterpret_cast<cuda::Pointer>(list->counts), 2 * sizeof(unsigned) * list->regions, stream_);
  // Settings and batch are passed by value to zwang_event and zwang_step, by device address to
  // zwang_slow_path.
  KernelSettings settings_value = settings;
  KernelBatch batch_value = batch;
  DeviceLists lists = layout.lists;
  cuda::Pointer settings_address = layout.settings, batch_address = layout.batch,
                slots_address = layout.slots;
  unsigned turn = 0, run = 0;
  int parity = 0;
  void* open_arguments[] = {&lists, &slots};
  void* event_arguments[] = {&settings_value, &batch_value, &slots_address, &lists, &turn};
  void* slow_path_arguments[] = {&settings_address, &batch_address, &slots_address, &lists, &turn, &run};
  void* step_arguments[] = {&settings_value, &batch_value, &slots_address, &lists, &parity};
  launch(program_->open, open_arguments, slots, stream_);
  int taken = 0;
  for (int turns = poll_schedule_.first();; turns = poll_schedule_.next(taken)) {
    for (int i = 0; i < turns; ++i, ++turn) {
      parity = static_cast<int>(turn % 2);
      launch_timed("kernels: event", program_->event, event_arguments, slots, stream_);
      record(events_done_, stream_);
      for (run = 0; run < slow_runs; ++run) {
        make_stream_wait(slow_streams_[run], events_done_);
        launch_timed("kernels: slow path", program_->slow_path, slow_path_arguments, slots,
                     slow_streams_[run]);
      }
      launch_timed("kernels: step", program_->step, step_arguments, slots, stream_);
      if (program_->record.function)
        launch_timed("kernels: record", program_->record, step_arguments, slots, stream_);
    }
    taken += turns;
    driver_.require(driver_.copy_out(&counters_, layout.counters, sizeof counters_, stream_),
                    "copying the counters");
    synchronise("integrating on " + name_);
    const bool quiet = lists_are_empty(turn % 2), ended = quiet && !slow_path_is_under_way();
    poll_schedule_.learn(taken, ended);
    // Where nothing moves, the next turns have work only when a run has ended. At the end, no launch may be left that
    // reads the counters.
    if (quiet) finish_slow_runs();
    if (ended) return;
  }
}

// Whether no member waits for the next turn, which reads the lists of this parity; the others have been read.
bool CudaWorker::lists_are_empty(unsigned parity) const {
  const unsigned* waiting = counters_.waiting[counters_.filled];
  return counters_.at_event[parity] == 0 && counters_.moving[parity] == 0 &&
         std::all_of(waiting, waiting + slow_works, [](unsigned length) { return length == 0; });
}
bool CudaWorker::slow_path_is_under_way() const {
  return std::any_of(std::begin(counters_.runs), std::end(counters_.runs), [](const SlowRun& run) {
    return run.state != static_cast<unsigned>(SlowRunState::idle);
  });
}
void CudaWorker::finish_slow_runs() const {
  for (cuda::Stream stream : slow_streams_)
    driver_.require(driver_.stream_synchronise(stream), "integrating on " + name_);
}

// Half-way between the turns that were too few for the last batches and those that were enough.
int CudaWorker::PollSchedule::first() const {
  return enough_ > 0 ? std::min((too_few_ + enough_ + 1) / 2, most) : 2;
}
int CudaWorker::PollSchedule::next(int taken) const {
  return std::min(enough_ > taken ? enough_ - taken : 2 * taken, most);
}
void CudaWorker::PollSchedule::learn(int taken, bool ended) {
  if (ended) {
    enough_ = taken;
    if (too_few_ >= enough_) too_few_ = 0;
  } else {
    too_few_ = taken;
    if (enough_ <= too_few_) enough_ = 0;
  }
}

// Under `run --timings` kernels run one after the other, so that each has a time of its own.
void CudaWorker::launch_timed(const char* stage, const CudaKernel& kernel, void** arguments, unsigned threads,
                              cuda::Stream stream) const {
  const StageTimer timer(stage);
  launch(kernel, arguments, threads, stream);
  if (StageTimes::get().on()) driver_.require(driver_.stream_synchronise(stream), stage);
}
void CudaWorker::launch(const CudaKernel& kernel, void** arguments, unsigned threads,
                        cuda::Stream stream) const {
  const unsigned block = static_cast<unsigned>(kernel.threads);
  driver_.require(driver_.launch(kernel.function, blocks_for(kernel, threads), 1, 1, block, 1, 1, 0, stream,
                                 arguments, nullptr),
                  "starting a kernel");
}
unsigned CudaWorker::blocks_for(const CudaKernel& kernel, unsigned threads) const {
  const unsigned block = static_cast<unsigned>(kernel.threads), wanted = (threads + block - 1) / block;
  return kernel.loops ? std::min(wanted, static_cast<unsigned>(kernel.blocks)) : wanted;
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
