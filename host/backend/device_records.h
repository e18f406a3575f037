// Records of members whose results are on a device: packed there and copied in pieces.
#pragma once

#include "host/backend/member_bytes.h"
#include "host/backend/reduction_device.h"
#include "kernels/base/layout.h"

namespace zwang {

// Packs the members of `batch`, whose arrays are on the device, and copies them to `records` (batch.count x
// layout.bytes()). False if the device is out of memory.
bool fetch_member_records(ReductionDevice& device, const MemberRecordLayout& layout, const KernelBatch& batch,
                          char* records);

}  // namespace zwang
