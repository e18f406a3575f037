// Statistics of members in device memory, computed by the functions of kernels/reduce/.
#pragma once

#include <cstddef>
#include <optional>

#include "host/backend/reduction_device.h"
#include "host/statistics/reduction_plan.h"
#include "kernels/base/layout.h"

namespace zwang {

// Device memory that a reduction needs in addition to the members themselves.
struct ReductionBytes {
  std::size_t per_member = 0, fixed = 0;
};
ReductionBytes reduction_bytes(const ReductionPlan& plan);

// Copies the rows of members [begin, begin + count) of `batch`, as the plan needs them.
DeviceRows fetch_rows(ReductionDevice& device, const ReductionPlan& plan, const KernelBatch& batch,
                      std::size_t begin, std::size_t count);

// Reduces the members of `batch`, whose pointers are device addresses. `first`, a multiple of 256, is the
// number of the first member. Returns nothing if the device is out of memory. The device must outlive the
// resident columns of the result.
std::optional<ReducedMembers> reduce_members(ReductionDevice& device, const ReductionPlan& plan,
                                             const KernelBatch& batch, long long first);

}  // namespace zwang
