// One stream of launches on one GPU, with memory of its own there: members go in, results come out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/backend/cuda/library.h"
#include "host/backend/kernel_buffers.h"
#include "kernels/base/layout.h"

namespace zwang {

// What a kernel takes of a device.
struct CudaOccupation {
  int registers = 0, local_bytes = 0, threads_per_processor = 0, processors = 0;
};

class CudaWorker {
 public:
  explicit CudaWorker(int number);  // of the device
  ~CudaWorker();
  CudaWorker(const CudaWorker&) = delete;
  CudaWorker& operator=(const CudaWorker&) = delete;

  void load(const std::vector<std::string>& cubins);  // in the order of cuda_program's units

  // Every call of the driver acts on the context of its thread: to be called first in each.
  void use() const;

  // Integrates; the kernels' seconds are added. False when the device has no room for so many members.
  // `before` is told where members belong that are not given, before they are integrated; `then` is told where everything lies on the device, before results are copied; false: there was no room for it either.
  using Then = std::function<bool(const KernelBatch& there)>;
  bool integrate(const KernelSettings& settings, KernelBuffers& buffers, double& seconds,
                 const Then& then = {}, const Then& before = {});

  // Runs a kernel with one pointer for an argument; its seconds.
  double time(const std::string& cubin, const char* kernel, unsigned blocks, unsigned threads);

  std::size_t free_bytes() const;
  CudaOccupation occupation() const;
  double busy_lanes() const;  // of the last batch: tries of stepping lanes over the tries there was time for
  const std::string& name() const { return name_; }
  cuda::Context context() const { return context_; }
  cuda::Stream stream() const { return stream_; }
  int processors() const { return processors_; }
  int architecture() const { return architecture_; }

 private:
  struct Kernel {
    cuda::Function function = nullptr;
    int threads = 0;  // of a block
    int blocks = 0;   // that fit on the device at once
  };
  struct Layout {
    cuda::Pointer settings, batch, slots, counters;
    DeviceLists lists;                  // pointers on the device
    std::vector<cuda::Pointer> arrays;  // as each_array goes
  };
  class Arena;

  // How many turns to take before looking whether all has ended. A look costs as much as a few launches, and so do turns after
  // the end; batches of one study need nearly the same number.
  class Looks {
   public:
    int first() const;
    int next(int taken) const;
    void learn(int taken, bool ended);

   private:
    static constexpr int most = 32;
    int too_few_ = 0, enough_ = 0;  // turns of the last batches; 0: not known
  };

  Kernel kernel(std::size_t module, const char* name) const;
  unsigned slots_for(long long members) const;
  Layout lay_out(Arena& arena, unsigned slots, KernelBuffers& buffers, KernelBatch& batch) const;
  void take_turns(const KernelSettings& settings, const KernelBatch& batch, const Layout& layout,
                  unsigned slots);
  void launch(const Kernel& kernel, void** arguments, unsigned threads, cuda::Stream stream) const;
  void clear(cuda::Pointer at, std::size_t bytes, cuda::Stream stream) const;
  void mark(cuda::Event event, cuda::Stream stream) const;
  void join(cuda::Stream stream, cuda::Event event) const;
  void wait(const std::string& doing) const;
  double elapsed() const;
  bool reserve(std::size_t bytes);

  const cuda::Driver& driver_;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr, beside_ = nullptr;  // members that are attended to, beside those that move
  cuda::Event begun_ = nullptr, ended_ = nullptr, events_done_ = nullptr, slow_path_done_ = nullptr;
  std::vector<cuda::Module> modules_;
  Kernel open_, step_, event_kernel_, slow_path_kernel_;
  std::string name_;
  int architecture_ = 0, processors_ = 0;
  unsigned long long slot_bytes_ = 0;
  cuda::Pointer memory_ = 0;
  std::size_t capacity_ = 0;
  DeviceCounters counters_{};
  Looks looks_;
};

}  // namespace zwang
