// Interface to the device that runs the reductions and sampling functions of kernels/: memory, copies,
// launches.
#pragma once

#include <cstddef>
#include <optional>

#include "host/platform/buffer_pool.h"

namespace zwang {

// A GPU, or in tests a loop on the host. Addresses belong to the device and are never dereferenced here.
class ReductionDevice {
 public:
  using Address = unsigned long long;
  virtual ~ReductionDevice() = default;
  // Must be called first in each thread that uses the device.
  virtual void make_current() = 0;
  // Scratch memory, valid until the next call; nothing if the device is out of memory.
  virtual std::optional<Address> reserve(std::size_t bytes) = 0;
  // Memory that stays valid until it is released; nothing if the device is out of memory.
  virtual std::optional<Address> allocate(std::size_t bytes) = 0;
  virtual void release(Address at) = 0;
  virtual void copy_in(Address to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, Address from, std::size_t bytes) = 0;  // complete on return
  // A copy that may end after this returns; the copy of the call before has ended then. With two pieces of
  // memory in turns, one is written while the other is copied. finish_copies() waits for the last copy.
  virtual void copy_out_later(void* to, Address from, std::size_t bytes) = 0;
  virtual void finish_copies() = 0;
  // Host memory for what is copied.
  BufferPool& buffers() { return buffers_; }
  virtual void clear(Address at, std::size_t bytes) = 0;
  // Calls the function of this name in kernels/reduce/reduction_list.h for the indices 0 to count - 1. `job`
  // is the function's argument. For counts by groups, count is that of their threads.
  virtual void run(const char* reduction, const void* job, std::size_t job_bytes, long long count) = 0;

 private:
  BufferPool buffers_;
};

}  // namespace zwang
