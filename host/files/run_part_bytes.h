// Serialisation of a part of a run and of a run's identity.
#pragma once

#include "host/files/run_identity.h"
#include "host/platform/bytes.h"
#include "host/run/run.h"

namespace zwang {

// The part without its statistics.
void save_part(ByteWriter& bytes, const RunPart& part);
RunPart load_part(ByteReader& bytes);

void save_identity(ByteWriter& bytes, const RunIdentity& identity);
RunIdentity load_identity(ByteReader& bytes);

}  // namespace zwang
