#include "host/backend/cuda/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "host/program/kernel_program.h"
#include "kernels/base/layout.h"

namespace zwang {

namespace {

using cuda::Driver;

int attribute(const Driver& driver, cuda::DeviceAttribute which, cuda::Device device) {
  int value = 0;
  driver.require(driver.device_attribute(&value, static_cast<int>(which), device),
                 "asking for a device's properties");
  return value;
}

}  // namespace

// Consecutive pieces of one allocation.
class CudaWorker::Arena {
 public:
  explicit Arena(cuda::Pointer begin) : begin_(begin), at_(begin) {}
  cuda::Pointer take(std::size_t bytes) {
    const cuda::Pointer piece = at_;
    at_ += (bytes + 255) / 256 * 256;
    return piece;
  }
  std::size_t used() const { return at_ - begin_; }

 private:
  cuda::Pointer begin_, at_;
};

CudaWorker::CudaWorker(int number) : driver_(Driver::get()) {
  driver_.require(driver_.device_get(&device_, number), fmt::format("opening device {}", number));
  char text[256] = {};
  driver_.require(driver_.device_name(text, sizeof text - 1, device_), "asking for a device's name");
  name_ = text;
  driver_.require(driver_.context_retain(&context_, device_), "making a context on " + name_);
  use();
  driver_.require(driver_.stream_create(&stream_, 1), "making a stream");
  constexpr int hurried = -1;  // lower is sooner
  driver_.require(driver_.urgent_stream_create(&beside_, 1, hurried), "making a stream");
  for (cuda::Event* event : {&begun_, &ended_, &events_done_, &slow_path_done_})
    driver_.require(driver_.event_create(event, 0), "making an event");
  architecture_ = 10 * attribute(driver_, cuda::DeviceAttribute::major, device_) +
                  attribute(driver_, cuda::DeviceAttribute::minor, device_);
  processors_ = attribute(driver_, cuda::DeviceAttribute::processors, device_);
}
CudaWorker::~CudaWorker() {
  if (!context_) return;
  driver_.context_use(context_);
  if (memory_) driver_.release(memory_);
  for (cuda::Module module : modules_) driver_.module_unload(module);
  for (cuda::Event event : {begun_, ended_, events_done_, slow_path_done_})
    if (event) driver_.event_destroy(event);
  for (cuda::Stream stream : {stream_, beside_})
    if (stream) driver_.stream_destroy(stream);
  driver_.context_release(device_);
}

void CudaWorker::load(const std::vector<std::string>& cubins) {
  use();
  for (const std::string& cubin : cubins) {
    cuda::Module module = nullptr;
    driver_.require(driver_.module_load(&module, cubin.data()), "loading the program");
    modules_.push_back(module);
  }
  open_ = kernel(0, "zwang_open");
  step_ = kernel(0, "zwang_step");
  event_kernel_ = kernel(1, "zwang_event");
  slow_path_kernel_ = kernel(2, "zwang_slow_path");
  cuda::Pointer place = 0;
  std::size_t bytes = 0;
  driver_.require(driver_.module_global(&place, &bytes, modules_[0], "zwang_slot_bytes"),
                  "reading the size of a slot");
  driver_.require(driver_.copy_out(&slot_bytes_, place, sizeof slot_bytes_, stream_),
                  "reading the size of a slot");
  wait("reading the size of a slot");
}

// Every call of the driver acts on the context of its thread.
void CudaWorker::use() const { driver_.require(driver_.context_use(context_), "choosing " + name_); }

// Integrates; the kernels' seconds are added. False when the device has no room for so many members.
bool CudaWorker::integrate(const KernelSettings& settings, KernelBuffers& buffers, double& seconds,
                           const Then& then, const Then& before) {
  KernelBatch batch = buffers.batch();
  const auto slots = slots_for(batch.count);
  Arena plan(0);
  lay_out(plan, slots, buffers, batch);
  if (!reserve(plan.used())) return false;
  Arena arena(memory_);
  const Layout layout = lay_out(arena, slots, buffers, batch);
  buffers.each_array(batch, [&, at = layout.arrays.begin()](const KernelBuffers::Array& array,
                                                            const auto&) mutable {
    // Results are sent too: what a member never reaches stays missing.
    const cuda::Pointer to = *at++;
    if (array.data)
      driver_.require(driver_.copy_in(to, array.data, array.bytes, stream_), "copying members to the GPU");
    else
      driver_.require(driver_.set_bytes(to, array.fill, array.bytes, stream_), "clearing results");
  });
  driver_.require(driver_.copy_in(layout.settings, &settings, sizeof settings, stream_),
                  "copying the settings");
  driver_.require(driver_.copy_in(layout.batch, &batch, sizeof batch, stream_), "copying the settings");
  if (before && !before(batch)) return false;
  mark(begun_, stream_);
  take_turns(settings, batch, layout, slots);
  mark(ended_, stream_);
  if (then && !then(batch)) return false;
  buffers.each_array(batch,
                     [&, at = layout.arrays.begin()](const KernelBuffers::Array& array, const auto&) mutable {
                       const cuda::Pointer from = *at++;
                       if (!array.given && array.data)
                         driver_.require(driver_.copy_out(array.data, from, array.bytes, stream_),
                                         "copying results from the GPU");
                     });
  wait("integrating on " + name_);
  seconds += elapsed();
  return true;
}

std::size_t CudaWorker::free_bytes() const {
  use();
  std::size_t free = 0, total = 0;
  driver_.require(driver_.memory_info(&free, &total), "asking for free memory");
  return free + capacity_;
}

CudaOccupation CudaWorker::occupation() const {
  CudaOccupation made;
  driver_.function_attribute(&made.registers, static_cast<int>(cuda::FunctionAttribute::registers),
                             step_.function);
  driver_.function_attribute(&made.local_bytes, static_cast<int>(cuda::FunctionAttribute::local_bytes),
                             step_.function);
  made.threads_per_processor = step_.blocks / processors_ * step_.threads;
  made.processors = processors_;
  return made;
}

// Of the last batch: tries of stepping lanes over the tries there was time for.
double CudaWorker::busy_lanes() const {
  return counters_.possible > 0
             ? static_cast<double>(counters_.busy) / static_cast<double>(counters_.possible)
             : 0;
}

// Runs a kernel with one pointer for an argument; its seconds.
double CudaWorker::time(const std::string& cubin, const char* kernel, unsigned blocks, unsigned threads) {
  use();
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  driver_.require(driver_.module_load(&module, cubin.data()), "loading a program");
  driver_.require(driver_.module_function(&function, module, kernel), "looking for a kernel");
  if (!reserve(sizeof(double) * blocks * threads)) return 0;
  void* arguments[] = {&memory_};
  for (int round = 0; round < 2; ++round) {  // the first warms up
    mark(begun_, stream_);
    driver_.require(driver_.launch(function, blocks, 1, 1, threads, 1, 1, 0, stream_, arguments, nullptr),
                    "starting a kernel");
    mark(ended_, stream_);
    wait("waiting for a kernel");
  }
  driver_.module_unload(module);
  return elapsed();
}

CudaWorker::Kernel CudaWorker::kernel(std::size_t module, const char* name) const {
  Kernel made;
  driver_.require(driver_.module_function(&made.function, modules_.at(module), name), "looking for a kernel");
  driver_.require(driver_.function_attribute(
                      &made.threads, static_cast<int>(cuda::FunctionAttribute::most_threads), made.function),
                  "asking for the threads of a block");
  driver_.require(driver_.occupancy(&made.blocks, made.function, made.threads, 0),
                  "asking for the occupancy");
  made.blocks = std::max(1, made.blocks) * processors_;
  return made;
}

// Enough that lanes find work while others are attended to; no more than there are members, and of large members no more than
// fit into a few GiB.
unsigned CudaWorker::slots_for(long long members) const {
  constexpr long long rounds = 32, room = 4LL << 30;
  const long long lanes = static_cast<long long>(step_.blocks) * step_.threads;
  const long long fit = room / static_cast<long long>(std::max(slot_bytes_, 1ULL));
  return static_cast<unsigned>(std::clamp<long long>(members, 1, std::clamp(fit, lanes, rounds * lanes)));
}

// Where everything lies; the pointers of the batch are set.
CudaWorker::Layout CudaWorker::lay_out(Arena& arena, unsigned slots, KernelBuffers& buffers,
                                       KernelBatch& batch) const {
  Layout made;
  made.settings = arena.take(sizeof(KernelSettings));
  made.batch = arena.take(sizeof(KernelBatch));
  made.counters = arena.take(sizeof(DeviceCounters));
  made.lists.counters = reinterpret_cast<DeviceCounters*>(made.counters);
  made.lists.at_event = reinterpret_cast<unsigned*>(arena.take(sizeof(unsigned) * slots));
  for (int side = 0; side < 2; ++side) {
    made.lists.waiting[side] = reinterpret_cast<unsigned*>(arena.take(sizeof(unsigned) * slots));
    made.lists.moving[side] = reinterpret_cast<unsigned*>(arena.take(sizeof(unsigned) * slots));
  }
  made.slots = arena.take(slot_bytes_ * slots);
  buffers.each_array(batch, [&](const KernelBuffers::Array& array, const auto& point) {
    made.arrays.push_back(arena.take(array.bytes));
    point(reinterpret_cast<void*>(made.arrays.back()));
  });
  return made;
}

// Landing, then stepping and beside it attending, in turn until nothing moves: what is attended to is rare and long, and those
// who move need not wait for it. The host looks now and then.
void CudaWorker::take_turns(const KernelSettings& settings, const KernelBatch& batch, const Layout& layout,
                            unsigned slots) {
  clear(layout.counters, sizeof(DeviceCounters), stream_);
  KernelSettings given = settings;
  KernelBatch there = batch;
  DeviceLists lists = layout.lists;
  cuda::Pointer settings_there = layout.settings, batch_there = layout.batch, slots_there = layout.slots;
  int side = 0;
  void* open[] = {&lists, &slots};
  void* land[] = {&given, &there, &slots_there, &lists, &side};
  void* tend[] = {&settings_there, &batch_there, &slots_there, &lists, &side};
  void* step[] = {&given, &there, &slots_there, &lists, &side};
  const auto list_of = [&](std::size_t offset) {
    return layout.counters + offset + sizeof(unsigned) * static_cast<std::size_t>(side);
  };
  launch(open_, open, slots, stream_);
  mark(slow_path_done_, stream_);
  int taken = 0;
  for (int turns = looks_.first();; turns = looks_.next(taken)) {
    for (int i = 0; i < turns; ++i, side = 1 - side) {
      launch(event_kernel_, land, slots, stream_);
      mark(events_done_, stream_);
      join(beside_, events_done_);
      launch(slow_path_kernel_, tend, slots, beside_);
      clear(list_of(offsetof(DeviceCounters, waiting)), sizeof(unsigned), beside_);
      join(stream_, slow_path_done_);
      launch(step_, step, slots, stream_);
      mark(slow_path_done_, beside_);
    }
    taken += turns;
    join(stream_, slow_path_done_);
    driver_.require(driver_.copy_out(&counters_, layout.counters, sizeof counters_, stream_),
                    "copying the counters");
    wait("integrating on " + name_);
    // `side` says which lists the next turn would read; the others have been read.
    const bool ended = counters_.at_event[side] == 0 && counters_.waiting[0] == 0 &&
                       counters_.waiting[1] == 0 && counters_.moving[side] == 0;
    looks_.learn(taken, ended);
    if (ended) return;
  }
}

// Half-way between what was not enough for the last batches and what was.
int CudaWorker::Looks::first() const {
  return enough_ > 0 ? std::min((too_few_ + enough_ + 1) / 2, most) : 2;
}
int CudaWorker::Looks::next(int taken) const {
  return std::min(enough_ > taken ? enough_ - taken : 2 * taken, most);
}
void CudaWorker::Looks::learn(int taken, bool ended) {
  if (ended) {
    enough_ = taken;
    if (too_few_ >= enough_) too_few_ = 0;
  } else {
    too_few_ = taken;
    if (enough_ <= too_few_) enough_ = 0;
  }
}

void CudaWorker::launch(const Kernel& kernel, void** arguments, unsigned threads, cuda::Stream stream) const {
  const unsigned block = static_cast<unsigned>(kernel.threads), wanted = (threads + block - 1) / block;
  const unsigned blocks = std::min(wanted, static_cast<unsigned>(kernel.blocks));
  driver_.require(driver_.launch(kernel.function, blocks, 1, 1, block, 1, 1, 0, stream, arguments, nullptr),
                  "starting a kernel");
}
void CudaWorker::clear(cuda::Pointer at, std::size_t bytes, cuda::Stream stream) const {
  driver_.require(driver_.set_bytes(at, 0, bytes, stream), "clearing counters");
}
void CudaWorker::mark(cuda::Event event, cuda::Stream stream) const {
  driver_.require(driver_.event_record(event, stream), "reading the GPU's clock");
}
// What comes next on the stream waits for the mark.
void CudaWorker::join(cuda::Stream stream, cuda::Event event) const {
  driver_.require(driver_.stream_join(stream, event, 0), "joining streams");
}
void CudaWorker::wait(const std::string& doing) const {
  driver_.require(driver_.stream_wait(stream_), doing);
}
double CudaWorker::elapsed() const {
  float milliseconds = 0;
  driver_.require(driver_.event_elapsed(&milliseconds, begun_, ended_), "reading the GPU's clock");
  return 1e-3 * static_cast<double>(milliseconds);
}

bool CudaWorker::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return true;
  if (memory_) driver_.release(memory_);
  memory_ = 0;
  capacity_ = 0;
  const cuda::Result result = driver_.allocate(&memory_, bytes);
  if (result == cuda::out_of_memory) return false;
  driver_.require(result, fmt::format("asking {} for {} bytes", name_, bytes));
  capacity_ = bytes;
  return true;
}

}  // namespace zwang
