// The result of a run of an ensemble: counts, statistics and times. Result files and the table at the end of
// a run are written from it.
#pragma once

#include <string>
#include <vector>

#include "host/sample/start_shocks.h"
#include "host/statistics/run_tally.h"
#include "host/statistics/statistics_result.h"

namespace zwang {

struct RunPerformance {
  unsigned threads = 0;
  double wall_s = 0, compile_s = 0, sample_s = 0, integrate_s = 0, statistics_s = 0, write_s = 0;
  double trajectories_s = 0;  // integrating the members of trajectories.nc once more
};

// How many members have each label of a measure label(..), over all points of the sweeps.
struct LabelCounts {
  std::string measure;
  std::vector<long long> members;  // by label: 0 not periodic, 1, 2, ... attractors, 65 further ones
  long long of = 0;                // members that entered and have a label
};

// Values of a record, pooled over rows and members.
struct RecordHistogram {
  struct Counts {
    std::vector<long long> bins;
    long long below = 0, above = 0;
  };
  std::string name;  // "record.value"
  std::vector<double> edges;
  std::vector<Counts> points;  // by point of the sweeps
};

struct RunResult {
  std::string backend, device, precision;
  long long requested = 0;          // members requested; with `until`, the limit
  bool sure_early = false;          // `until` was met before the limit
  std::vector<std::string> inputs;  // names of the drawn parameters, in the order of statistics.inputs
  RunTally tally;
  StartShocks start_shocks;
  StatisticsResult statistics;           // without a sweep
  std::vector<StatisticsResult> points;  // with sweeps: by point, the first sweep slowest
  std::vector<LabelCounts> labels;
  std::vector<RecordHistogram> record_histograms;
  RunPerformance performance;
};

}  // namespace zwang
