// Members drawn in the memory of the machine that is to integrate them.
#pragma once

#include "host/backend/device_reduction.h"
#include "host/sample/draw_plan.h"
#include "kernels/base/layout.h"

namespace zwang {

// Fills parameters, starts and their statuses of the batch, whose pointers are the machine's; `first` is the number of the
// first member. False where the machine has no room.
bool draw_there(ReduceMachine& machine, const DrawPlan& plan, const KernelBatch& batch, long long first);

}  // namespace zwang
