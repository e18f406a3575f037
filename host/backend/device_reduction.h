// Reduces members that lie in the memory of a machine, by the functions of kernels/reduce*.h.
#pragma once

#include <optional>

#include "host/statistics/reduction_plan.h"
#include "kernels/base/layout.h"

namespace zwang {

// Who runs the reductions: a GPU, or a loop on the host in tests. Addresses are the machine's own.
class ReduceMachine {
 public:
  using Address = unsigned long long;
  virtual ~ReduceMachine() = default;
  // To be called first in each thread.
  virtual void use() = 0;
  // Room until the next call; nothing where there is none.
  virtual std::optional<Address> reserve(std::size_t bytes) = 0;
  // Room until it is given back.
  virtual std::optional<Address> keep(std::size_t bytes) = 0;
  virtual void give_back(Address at) = 0;
  virtual void copy_in(Address to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, Address from, std::size_t bytes) = 0;  // there when it returns
  virtual void clear(Address at, std::size_t bytes) = 0;
  // The function of this name in kernels/reduce/reduction_list.h for the indices 0 to count - 1; `job` is what it takes.
  virtual void run(const char* reduction, const void* job, std::size_t job_bytes, long long count) = 0;
};

// Bytes it takes, beside the members themselves: for each member, and once.
struct ReduceBytes {
  std::size_t per_member = 0, fixed = 0;
};
ReduceBytes reduce_bytes(const ReductionPlan& plan);

// The members of `batch`, whose pointers are the machine's; `first`, a multiple of 256, is the number of the first one.
// Nothing where the machine has no room. The machine must outlive what is kept there.
std::optional<ReducedMembers> reduce_members(ReduceMachine& machine, const ReductionPlan& plan,
                                             const KernelBatch& batch, long long first);

}  // namespace zwang
