// Runs the functions of kernels/reduce/ and kernels/sampling/ on a GPU. They are compiled by NVRTC once for
// all studies and have their own device memory.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "host/backend/cuda/library.h"
#include "host/backend/reduction_device.h"
#include "host/program/host_compiler.h"

namespace zwang {

// The program to compile, without fused multiply-adds: results are bit-identical to the host's.
ProgramText reduction_program();

class CudaReductionDevice : public ReductionDevice {
 public:
  // Uses the stream of a worker, whose context must be current.
  CudaReductionDevice(cuda::Context context, cuda::Stream stream, int processors, const std::string& cubin);
  ~CudaReductionDevice() override;
  CudaReductionDevice(const CudaReductionDevice&) = delete;
  CudaReductionDevice& operator=(const CudaReductionDevice&) = delete;

  void make_current() override;
  std::optional<Address> reserve(std::size_t bytes) override;
  std::optional<Address> allocate(std::size_t bytes) override;
  void release(Address at) override;
  void copy_in(Address to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, Address from, std::size_t bytes) override;
  void copy_out_later(void* to, Address from, std::size_t bytes) override;
  void finish_copies() override;
  void clear(Address at, std::size_t bytes) override;
  void run(const char* reduction, const void* job, std::size_t job_bytes, long long count) override;

 private:
  void synchronise() const;

  // Page-locked memory, to which a device copies at full speed and beside its kernels, and the copy under
  // way.
  struct Landing {
    void* memory = nullptr;
    std::size_t capacity = 0;
    cuda::Event arrived = nullptr;
    void* to = nullptr;     // null: no copy is under way
    std::size_t bytes = 0;  // of the copy
  };
  void make_room(Landing& landing, std::size_t bytes);
  void finish(Landing& landing);

  const cuda::Driver& driver_;
  cuda::Context context_;
  cuda::Stream stream_;
  int processors_;
  cuda::Module module_ = nullptr;
  std::map<std::string, cuda::Function> functions_;
  cuda::Pointer memory_ = 0;
  std::size_t capacity_ = 0;
  std::array<Landing, 2> landings_;
  std::size_t next_landing_ = 0;
};

}  // namespace zwang
