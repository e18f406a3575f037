// Integrates batches of members on one GPU: one stream of kernel launches with its own device memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/backend/cuda/device_program.h"
#include "host/backend/cuda/library.h"
#include "host/backend/kernel_buffers.h"
#include "kernels/base/layout.h"

namespace zwang {

class DeviceArena;

// Resources of a device that a kernel uses.
struct CudaOccupation {
  int registers = 0, local_bytes = 0, threads_per_processor = 0, processors = 0;
};

class CudaWorker {
 public:
  explicit CudaWorker(int number);  // ordinal of the device
  ~CudaWorker();
  CudaWorker(const CudaWorker&) = delete;
  CudaWorker& operator=(const CudaWorker&) = delete;

  // Loads a cuda_program, or takes the one that another worker of this device has loaded.
  void load(const CudaBinaries& binaries);
  void share_program_of(const CudaWorker& other) { program_ = other.program_; }

  // Driver calls act on the current context of the calling thread: must be called first in each thread.
  void make_current() const;

  // Integrates the members of `buffers` and adds the kernels' time to `seconds`. Returns false if the device
  // is out of memory. `before_integration` is called with the device pointers when the inputs have been
  // copied (it may draw the members), `after_integration` before results are copied back (it may reduce
  // them). Both return false if they run out of device memory.
  using DeviceStage = std::function<bool(const KernelBatch& on_device)>;
  bool integrate(const KernelSettings& settings, KernelBuffers& buffers, double& seconds,
                 const DeviceStage& after_integration = {}, const DeviceStage& before_integration = {});

  // Runs a kernel whose argument is one pointer and returns its time in seconds.
  double time(const std::string& cubin, const char* kernel, unsigned blocks, unsigned threads);

  std::size_t free_bytes() const;
  CudaOccupation occupation() const;
  // Utilisation of the stepping lanes in the last batch: trial steps taken, relative to the loop turns of all
  // lanes.
  double busy_lanes() const;
  const std::string& name() const { return name_; }
  cuda::Context context() const { return context_; }
  cuda::Stream stream() const { return stream_; }
  int processors() const { return processors_; }
  int architecture() const { return architecture_; }

 private:
  struct Layout {
    cuda::Pointer settings, batch, slots, counters;
    DeviceLists lists{};                // device pointers
    std::vector<cuda::Pointer> arrays;  // in the order of KernelBuffers::each_array
  };

  // Number of turns to launch before the host polls whether all members have ended. Polling costs as much as
  // a few launches, and so do turns launched after the end. Batches of one study need nearly the same number
  // of turns, so the schedule is learned from earlier batches.
  class PollSchedule {
   public:
    int first() const;
    int next(int taken) const;
    void learn(int taken, bool ended);

   private:
    static constexpr int most = 32;
    int too_few_ = 0, enough_ = 0;  // turns in the last batches; 0: unknown
  };

  unsigned slots_for(long long members) const;
  std::size_t listed_steps_of_warp(unsigned slots) const;
  DeviceStepList step_list(DeviceArena& arena, const CudaKernel& filled_by, unsigned slots,
                           std::size_t entries) const;
  Layout lay_out(DeviceArena& arena, unsigned slots, KernelBuffers& buffers, KernelBatch& batch) const;
  void run_turns(const KernelSettings& settings, const KernelBatch& batch, const Layout& layout,
                 unsigned slots);
  void open_slow_streams(std::size_t count);
  void poll(const Layout& layout);
  bool lists_are_empty(unsigned parity) const;
  bool slow_path_is_under_way() const;
  bool slow_path_has_left_slots() const;
  void finish_slow_runs() const;
  unsigned blocks_for(const CudaKernel& kernel, unsigned threads) const;
  void launch_timed(const char* stage, const CudaKernel& kernel, void** arguments, unsigned threads,
                    cuda::Stream stream) const;
  void launch(const CudaKernel& kernel, void** arguments, unsigned threads, cuda::Stream stream) const;
  void clear(cuda::Pointer at, std::size_t bytes, cuda::Stream stream) const;
  void record(cuda::Event event, cuda::Stream stream) const;
  void make_stream_wait(cuda::Stream stream, cuda::Event event) const;
  void synchronise(const std::string& doing) const;
  double elapsed() const;
  bool reserve(std::size_t bytes);

  const cuda::Driver& driver_;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr;
  std::vector<cuda::Stream> slow_streams_;  // of the runs of the slow path, beside the turns
  cuda::Event begun_ = nullptr, ended_ = nullptr, events_done_ = nullptr;
  std::shared_ptr<const CudaDeviceProgram> program_;
  std::string name_;
  int architecture_ = 0, processors_ = 0;
  cuda::Pointer memory_ = 0;
  std::size_t capacity_ = 0;
  DeviceCounters counters_{};
  PollSchedule poll_schedule_;
};

}  // namespace zwang
