// Values that are kept in the memory of the machine that reduced them.
#pragma once

#include <memory>

#include "host/backend/device_reduction.h"
#include "host/statistics/column_store.h"

namespace zwang {

// Takes over a block of the machine's memory, columns x rows, and gives it back in the end. The machine must outlive it.
std::shared_ptr<KeptValues> kept_there(ReduceMachine& machine, ReduceMachine::Address values,
                                       std::size_t columns, std::size_t rows);

}  // namespace zwang
