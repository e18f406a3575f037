// Members sampled directly in the memory of the device that integrates them.
#pragma once

#include "host/backend/reduction_device.h"
#include "host/sample/draw_plan.h"
#include "kernels/base/layout.h"

namespace zwang {

// Fills parameters, starts and start statuses of the batch, whose pointers are device addresses. `first` is
// the number of the first member. Returns false if the device is out of memory.
bool draw_on_device(ReductionDevice& device, const DrawPlan& plan, const KernelBatch& batch, long long first);

}  // namespace zwang
