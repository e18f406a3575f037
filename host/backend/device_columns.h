// Columns of values that stay resident in device memory.
#pragma once

#include <cstddef>
#include <memory>

#include "host/backend/reduction_device.h"
#include "host/statistics/column_store.h"

namespace zwang {

// Takes ownership of a block of device memory, columns x rows, and releases it at the end. The device must
// outlive the result.
std::shared_ptr<ColumnStore> make_device_columns(ReductionDevice& device, ReductionDevice::Address values,
                                                 std::size_t columns, std::size_t rows);

}  // namespace zwang
