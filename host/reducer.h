// Reduces members that lie in the memory of a machine, by the functions of kernels/reduce*.h.
#pragma once

#include <optional>

#include "host/reduction.h"

namespace zwang {

// Who runs the reductions: a GPU, or a loop on the host in tests. Addresses are the machine's own.
class ReduceMachine {
 public:
  using Address = unsigned long long;
  virtual ~ReduceMachine() = default;
  // Room until the next call; nothing where there is none.
  virtual std::optional<Address> reserve(std::size_t bytes) = 0;
  virtual void copy_in(Address to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, Address from, std::size_t bytes) = 0;  // there when it returns
  virtual void clear(Address at, std::size_t bytes) = 0;
  // The reduction of this name for the indices 0 to count - 1.
  virtual void run(const char* reduction, const ReduceJob& job, long long count) = 0;
};

// Bytes it takes, beside the members themselves: for each member, and once.
struct ReduceBytes {
  std::size_t per_member = 0, fixed = 0;
};
ReduceBytes reduce_bytes(const ReductionPlan& plan);

// The members of `batch`, whose pointers are the machine's; `first`, a multiple of 256, is the number of the first one.
// Nothing where the machine has no room.
std::optional<ReducedMembers> reduce_members(ReduceMachine& machine, const ReductionPlan& plan,
                                             const KernelBatch& batch, long long first);

}  // namespace zwang
