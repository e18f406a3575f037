// The reductions of kernels/reduce*.h on a GPU: compiled once by NVRTC for any study, with memory of their own.
#pragma once

#include <map>
#include <string>

#include "host/backend/cuda/library.h"
#include "host/backend/device_reduction.h"
#include "host/program/host_compiler.h"

namespace zwang {

// The text to compile. Without fused multiply-adds: the bits are those of the host.
ProgramText reduction_program();

class CudaMachine : public ReduceMachine {
 public:
  // On the stream of a worker, whose context is in use.
  CudaMachine(cuda::Context context, cuda::Stream stream, int processors, const std::string& cubin);
  ~CudaMachine() override;
  CudaMachine(const CudaMachine&) = delete;
  CudaMachine& operator=(const CudaMachine&) = delete;

  void use() override;
  std::optional<Address> reserve(std::size_t bytes) override;
  std::optional<Address> keep(std::size_t bytes) override;
  void give_back(Address at) override;
  void copy_in(Address to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, Address from, std::size_t bytes) override;
  void clear(Address at, std::size_t bytes) override;
  void run(const char* reduction, const void* job, std::size_t job_bytes, long long count) override;

 private:
  void wait() const;

  const cuda::Driver& driver_;
  cuda::Context context_;
  cuda::Stream stream_;
  int processors_;
  cuda::Module module_ = nullptr;
  std::map<std::string, cuda::Function> functions_;
  cuda::Pointer memory_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace zwang
