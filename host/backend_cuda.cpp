#include "host/backend_cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "host/cuda_compiler.h"
#include "host/machine_error.h"

namespace zwang {

namespace {

using cuda::Driver;

constexpr int workers_per_device = 2;

int attribute(const Driver& driver, cuda::DeviceAttribute which, cuda::Device device) {
  int value = 0;
  driver.require(driver.device_attribute(&value, static_cast<int>(which), device),
                 "asking for a device's properties");
  return value;
}

std::vector<int> all_devices(const Driver& driver) {
  int count = 0;
  driver.require(driver.device_count(&count), "counting devices");
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void require_device(int number, int count) {
  if (number >= 0 && number < count) return;
  throw MachineError({.message = "there is no such GPU",
                      .found = fmt::format("device {}", number),
                      .expected = count == 0 ? "no device is visible" : fmt::format("0 to {}", count - 1),
                      .hint = "CUDA_VISIBLE_DEVICES decides which devices this process sees"});
}

// As in kernels/entry_cuda.h.
struct DeviceCounters {
  unsigned long long next_member;
  unsigned waiting, moving[2], taken;
  unsigned long long busy, possible;
};
struct DeviceLists {
  cuda::Pointer counters, waiting, moving[2];
};

// Consecutive pieces of one allocation.
class Arena {
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

}  // namespace

// One stream of launches on one device, with memory of its own there.
class BackendCuda::Worker {
 public:
  explicit Worker(int number) : driver_(Driver::get()) {
    driver_.require(driver_.device_get(&device_, number), fmt::format("opening device {}", number));
    char text[256] = {};
    driver_.require(driver_.device_name(text, sizeof text - 1, device_), "asking for a device's name");
    name_ = text;
    driver_.require(driver_.context_retain(&context_, device_), "making a context on " + name_);
    use();
    driver_.require(driver_.stream_create(&stream_, 1), "making a stream");
    driver_.require(driver_.event_create(&begun_, 0), "making an event");
    driver_.require(driver_.event_create(&ended_, 0), "making an event");
    architecture_ = 10 * attribute(driver_, cuda::DeviceAttribute::major, device_) +
                    attribute(driver_, cuda::DeviceAttribute::minor, device_);
    processors_ = attribute(driver_, cuda::DeviceAttribute::processors, device_);
  }
  ~Worker() {
    if (!context_) return;
    driver_.context_use(context_);
    if (memory_) driver_.release(memory_);
    if (module_) driver_.module_unload(module_);
    if (begun_) driver_.event_destroy(begun_);
    if (ended_) driver_.event_destroy(ended_);
    if (stream_) driver_.stream_destroy(stream_);
    driver_.context_release(device_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void load(const std::string& cubin) {
    use();
    driver_.require(driver_.module_load(&module_, cubin.data()), "loading the program");
    open_ = kernel("zwang_open");
    step_ = kernel("zwang_step");
    tend_ = kernel("zwang_tend");
    cuda::Pointer place = 0;
    std::size_t bytes = 0;
    driver_.require(driver_.module_global(&place, &bytes, module_, "zwang_slot_bytes"),
                    "reading the size of a slot");
    driver_.require(driver_.copy_out(&slot_bytes_, place, sizeof slot_bytes_, stream_),
                    "reading the size of a slot");
    wait("reading the size of a slot");
  }

  // Every call of the driver acts on the context of its thread.
  void use() const { driver_.require(driver_.context_use(context_), "choosing " + name_); }

  // Integrates; the kernels' seconds are added. False when the device has no room for so many members.
  bool integrate(const KernelSettings& settings, KernelBuffers& buffers, double& seconds) {
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
      driver_.require(driver_.copy_in(*at++, array.data, array.bytes, stream_), "copying members to the GPU");
    });
    driver_.require(driver_.copy_in(layout.settings, &settings, sizeof settings, stream_),
                    "copying the settings");
    driver_.require(driver_.copy_in(layout.batch, &batch, sizeof batch, stream_), "copying the settings");
    mark(begun_);
    take_turns(settings, batch, layout, slots);
    mark(ended_);
    buffers.each_array(
        batch, [&, at = layout.arrays.begin()](const KernelBuffers::Array& array, const auto&) mutable {
          const cuda::Pointer from = *at++;
          if (!array.given)
            driver_.require(driver_.copy_out(array.data, from, array.bytes, stream_),
                            "copying results from the GPU");
        });
    wait("integrating on " + name_);
    seconds += elapsed();
    return true;
  }

  std::size_t free_bytes() const {
    use();
    std::size_t free = 0, total = 0;
    driver_.require(driver_.memory_info(&free, &total), "asking for free memory");
    return free + capacity_;
  }
  std::size_t slot_bytes() const { return slot_bytes_; }

  Occupation occupation() const {
    Occupation made;
    driver_.function_attribute(&made.registers, static_cast<int>(cuda::FunctionAttribute::registers),
                               step_.function);
    driver_.function_attribute(&made.local_bytes, static_cast<int>(cuda::FunctionAttribute::local_bytes),
                               step_.function);
    made.threads_per_processor = step_.blocks / processors_ * cuda_threads;
    made.processors = processors_;
    return made;
  }

  // Of the last batch: tries of stepping lanes over the tries there was time for.
  double busy_lanes() const {
    return counters_.possible > 0
               ? static_cast<double>(counters_.busy) / static_cast<double>(counters_.possible)
               : 0;
  }

  // Runs a kernel with one pointer for an argument; its seconds.
  double time(const std::string& cubin, const char* kernel, unsigned blocks, unsigned threads) {
    use();
    cuda::Module module = nullptr;
    cuda::Function function = nullptr;
    driver_.require(driver_.module_load(&module, cubin.data()), "loading a program");
    driver_.require(driver_.module_function(&function, module, kernel), "looking for a kernel");
    if (!reserve(sizeof(double) * blocks * threads)) return 0;
    void* arguments[] = {&memory_};
    for (int round = 0; round < 2; ++round) {  // the first warms up
      mark(begun_);
      driver_.require(driver_.launch(function, blocks, 1, 1, threads, 1, 1, 0, stream_, arguments, nullptr),
                      "starting a kernel");
      mark(ended_);
      wait("waiting for a kernel");
    }
    driver_.module_unload(module);
    return elapsed();
  }

  const std::string& name() const { return name_; }
  int processors() const { return processors_; }
  int architecture() const { return architecture_; }

 private:
  struct Kernel {
    cuda::Function function = nullptr;
    int blocks = 0;  // that fit on the device at once
  };
  struct Layout {
    cuda::Pointer settings, batch, slots;
    DeviceLists lists;
    std::vector<cuda::Pointer> arrays;  // as each_array goes
  };

  Kernel kernel(const char* name) const {
    Kernel made;
    driver_.require(driver_.module_function(&made.function, module_, name), "looking for a kernel");
    driver_.require(driver_.occupancy(&made.blocks, made.function, cuda_threads, 0),
                    "asking for the occupancy");
    made.blocks = std::max(1, made.blocks) * processors_;
    return made;
  }

  // Enough that lanes find work while others are attended to; no more than there are members.
  unsigned slots_for(long long members) const {
    constexpr long long rounds = 8;
    return static_cast<unsigned>(std::clamp<long long>(members, 1, rounds * step_.blocks * cuda_threads));
  }

  // Where everything lies; the pointers of the batch are set.
  Layout lay_out(Arena& arena, unsigned slots, KernelBuffers& buffers, KernelBatch& batch) const {
    Layout made;
    made.settings = arena.take(sizeof(KernelSettings));
    made.batch = arena.take(sizeof(KernelBatch));
    made.lists.counters = arena.take(sizeof(DeviceCounters));
    made.lists.waiting = arena.take(sizeof(unsigned) * slots);
    for (cuda::Pointer& list : made.lists.moving) list = arena.take(sizeof(unsigned) * slots);
    made.slots = arena.take(slot_bytes_ * slots);
    buffers.each_array(batch, [&](const KernelBuffers::Array& array, const auto& point) {
      made.arrays.push_back(arena.take(array.bytes));
      point(reinterpret_cast<void*>(made.arrays.back()));
    });
    return made;
  }

  // Attending and stepping in turn until nothing moves. The host looks now and then: a look costs as much as a launch.
  void take_turns(const KernelSettings& settings, const KernelBatch& batch, const Layout& layout,
                  unsigned slots) {
    clear(layout.lists.counters, sizeof(DeviceCounters));
    KernelSettings given = settings;
    KernelBatch there = batch;
    DeviceLists lists = layout.lists;
    cuda::Pointer settings_there = layout.settings, batch_there = layout.batch, slots_there = layout.slots;
    int side = 0;
    void* open[] = {&lists, &slots};
    void* tend[] = {&settings_there, &batch_there, &slots_there, &lists, &side};
    void* step[] = {&given, &there, &slots_there, &lists, &side};
    const auto counter = [&](std::size_t offset) { return lists.counters + offset; };
    launch(open_, open, slots);
    constexpr int most_turns = 32;
    for (int turns = 2;; turns = std::min(2 * turns, most_turns)) {
      for (int i = 0; i < turns; ++i, side = 1 - side) {
        launch(tend_, tend, slots);
        clear(counter(offsetof(DeviceCounters, waiting)), sizeof(unsigned));
        clear(counter(offsetof(DeviceCounters, taken)), sizeof(unsigned));
        launch(step_, step, slots);
        clear(counter(offsetof(DeviceCounters, moving) + sizeof(unsigned) * static_cast<std::size_t>(side)),
              sizeof(unsigned));
      }
      driver_.require(driver_.copy_out(&counters_, lists.counters, sizeof counters_, stream_),
                      "copying the counters");
      wait("integrating on " + name_);
      if (counters_.waiting == 0 && counters_.moving[0] == 0 && counters_.moving[1] == 0) return;
    }
  }

  void launch(const Kernel& kernel, void** arguments, unsigned threads) const {
    const unsigned wanted = (threads + cuda_threads - 1) / cuda_threads;
    const unsigned blocks = std::min(wanted, static_cast<unsigned>(kernel.blocks));
    driver_.require(
        driver_.launch(kernel.function, blocks, 1, 1, cuda_threads, 1, 1, 0, stream_, arguments, nullptr),
        "starting a kernel");
  }
  void clear(cuda::Pointer at, std::size_t bytes) const {
    driver_.require(driver_.set_bytes(at, 0, bytes, stream_), "clearing counters");
  }
  void mark(cuda::Event event) const {
    driver_.require(driver_.event_record(event, stream_), "reading the GPU's clock");
  }
  void wait(const std::string& doing) const { driver_.require(driver_.stream_wait(stream_), doing); }
  double elapsed() const {
    float milliseconds = 0;
    driver_.require(driver_.event_elapsed(&milliseconds, begun_, ended_), "reading the GPU's clock");
    return 1e-3 * static_cast<double>(milliseconds);
  }

  bool reserve(std::size_t bytes) {
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

  const Driver& driver_;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr;
  cuda::Event begun_ = nullptr, ended_ = nullptr;
  cuda::Module module_ = nullptr;
  Kernel open_, step_, tend_;
  std::string name_;
  int architecture_ = 0, processors_ = 0;
  unsigned long long slot_bytes_ = 0;
  cuda::Pointer memory_ = 0;
  std::size_t capacity_ = 0;
  DeviceCounters counters_{};
};

// Members [begin, end) of a batch and what came of them.
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
      motion_operations_(program.motion_operations) {
  start(program, std::move(devices), std::move(cache));
}

BackendCuda::~BackendCuda() = default;

void BackendCuda::start(const KernelProgram& program, std::vector<int> devices,
                        std::filesystem::path folder) {
  const auto begun = std::chrono::steady_clock::now();
  const std::vector<int> there = all_devices(Driver::get());
  if (devices.empty()) devices = there;
  for (const int number : devices) require_device(number, static_cast<int>(there.size()));
  if (devices.empty()) require_device(0, 0);
  for (const int number : devices)
    for (int i = 0; i < workers_per_device; ++i) workers_.push_back(std::make_unique<Worker>(number));

  ProgramCache cache(std::move(folder));
  for (const auto& worker : workers_) {
    const CudaCompiler compiler(worker->architecture());
    bool made = false;
    const auto binary = cache.get(
        compiler.key(program.text),
        [&](const std::filesystem::path& target) { compiler.compile(program.text, target); }, &made);
    compiled_ = compiled_ || made;
    worker->load(read_whole(binary).value_or(""));
  }
  note_ = cache.note();
  compile_seconds = program.emission_seconds +
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

std::string BackendCuda::device() const {
  std::string text;
  for (std::size_t i = 0; i < workers_.size(); i += workers_per_device)
    text += (text.empty() ? "" : ", ") + workers_[i]->name();
  return text;
}

BackendCuda::Occupation BackendCuda::occupation() const { return workers_[0]->occupation(); }

// A few chunks for each worker, so that copies and kernels overlap; never more than memory has room for.
std::size_t BackendCuda::chunk_size(const Batch& batch, const Wanted& wanted) const {
  constexpr std::size_t least = 1 << 17, most = 1 << 22;
  std::size_t free = workers_[0]->free_bytes();
  for (const auto& worker : workers_) free = std::min(free, worker->free_bytes());
  const std::size_t room = free / 10 * 8 / workers_per_device / shape_.member_bytes(wanted, first_event_room);
  std::size_t size = std::clamp(batch.count / (2 * workers_.size()) + 1, least, most);
  if (members_at_once > 0) size = members_at_once;
  return std::max<std::size_t>(1, std::min(size, room));
}

// Chunks are taken by whoever is free. A device without room for a chunk takes it in halves.
void BackendCuda::work(Worker& worker, std::vector<Chunk>& chunks, std::atomic<std::size_t>& next,
                       const Batch& batch, const Wanted& wanted) {
  worker.use();
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
               .found = fmt::format("{} bytes wanted", shape_.member_bytes(wanted, first_event_room)),
               .expected = "free memory on " + worker.name(),
               .hint = "another process may hold it; or fewer outputs"});
        size = (size + 1) / 2;
        continue;
      }
      buffers.add_to(chunk.results);
      for (std::size_t m = begin; wanted.events && m < end; ++m) {
        const long long total = buffers.events_of(m - begin);
        if (total <= first_event_room) {
          chunk.results.events.push_back(buffers.events(m - begin, *system_));
          continue;
        }
        KernelBuffers again(shape_, outputs_, batch, m, m + 1, wanted, total);
        double seconds = 0;
        if (!worker.integrate(settings_, again, seconds))
          throw MachineError({.message = "the GPU has no memory left for a member's events",
                              .found = fmt::format("{} events", total),
                              .expected = "free memory on " + worker.name(),
                              .hint = {}});
        chunk.results.events.push_back(again.events(0, *system_));
      }
      begin = end;
    }
  }
}

double BackendCuda::measure_peak() {
  // Eight chains a thread hide the latency of each other.
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
  Worker& worker = *workers_[0];
  const TemporaryFolder folder;
  CudaCompiler(worker.architecture()).compile(program, folder.path() / "peak");
  const auto blocks = static_cast<unsigned>(worker.processors() * 64);
  const double seconds =
      worker.time(read_whole(folder.path() / "peak").value_or(""), "peak", blocks, threads);
  return seconds > 0 ? 2.0 * chains * rounds * threads * blocks / seconds : 0;
}

namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty())
    to = std::move(from);
  else
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void append(BatchResults& to, BatchResults&& from) {
  append(to.status, std::move(from.status));
  append(to.end_time, std::move(from.end_time));
  append(to.end_state, std::move(from.end_state));
  append(to.measures, std::move(from.measures));
  append(to.observables, std::move(from.observables));
  append(to.states, std::move(from.states));
  append(to.events, std::move(from.events));
  append(to.steps, std::move(from.steps));
  append(to.rejected, std::move(from.rejected));
  append(to.event_counts, std::move(from.event_counts));
  append(to.audits, std::move(from.audits));
  append(to.redundant, std::move(from.redundant));
}

}  // namespace

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
    append(results, std::move(chunk.results));
  }
  return results;
}

}  // namespace zwang
