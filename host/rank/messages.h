// Serialisation of the messages between ranks.
#pragma once

#include <exception>
#include <string>

#include "host/files/run_identity.h"
#include "host/run/run.h"
#include "host/statistics/ensemble_statistics.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics.h"

namespace zwang {

// Members [first, end) of the ensemble, assigned to a worker as one unit of work. first is a multiple of 256.
struct MemberRange {
  long long first = 0, end = 0;
  bool operator==(const MemberRange&) const = default;
};
std::string member_range_bytes(const MemberRange& range);
MemberRange read_member_range(const std::string& bytes);

// Sent by a worker that is ready, with the identity of the run it prepared.
struct Readiness {
  std::string host;
  unsigned threads = 1;
  RunIdentity identity;
};
std::string readiness_bytes(const Readiness& ready);
Readiness read_readiness(const std::string& bytes);

// Results of a finished range.
struct RangeResult {
  RunPart part;
  std::string members;  // packed records, if the study writes members.nc
  EnsembleStatistics statistics;
};
std::string result_bytes(const RunPart& part, const std::string& members,
                         const EnsembleStatistics& statistics);
RangeResult read_result(std::string bytes, EnsemblePlan plan);

// The exception being handled, to be rethrown on rank 0 as the same type.
std::string error_bytes();
// The message is prefixed with `rank_name`, the rank and its host.
[[noreturn]] void rethrow_error(const std::string& bytes, const std::string& rank_name);

}  // namespace zwang
