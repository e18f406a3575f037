// Results of the statistics of an ensemble. Undefined numbers are NaN.
#pragma once

#include <vector>

#include "host/estimators/correlation.h"
#include "host/estimators/moments.h"
#include "host/estimators/quantiles.h"

namespace zwang {

// Results of one column: an observable at one time, a measure, or a drawn input.
struct SeriesStatistics {
  Moments moments;                     // its standard_error assumes independent members ...
  long long missing = 0;               // members that entered and have no value
  double standard_error = 0;           // ... this one is to be reported: by replicates if there are any
  double mean_low = 0, mean_high = 0;  // 95 % interval of the mean
  std::vector<Quantile> quantiles;     // in the order of the plan; none for inputs
};

// Accuracy of the quantiles.
struct QuantileBasis {
  bool exact = true;
  // If not exact: an order statistic x is known to within relative_error |x - pivot|, where the pivot is the
  // median of the first 256 members. The largest over all columns.
  double relative_error = 0;
};

struct HistogramResult {
  bool of_measure = false;
  std::size_t index = 0;
  std::vector<double> edges;                   // bins + 1
  std::vector<std::vector<long long>> counts;  // by output time (one for a measure), by bin
  std::vector<long long> below, above;         // by output time: outside the edges
};

// Of all members, or of one point of the sweeps. statistics_result_bytes.cpp writes every field.
struct StatisticsResult {
  long long members = 0;
  long long entered = 0;
  long long failed = 0;                       // neither ok nor stopped
  bool met_until = false;                     // `until` was met before the last member
  std::vector<SeriesStatistics> observables;  // outputs x observables, time by time
  std::vector<SeriesStatistics> measures, inputs;
  QuantileBasis observable_quantiles, measure_quantiles;
  std::vector<HistogramResult> histograms;  // in the order of the plan

  // Of measures, then inputs, pairwise over the members that have both values.
  Matrix covariance, rank_correlation;
  long long rank_stride = 1;  // ranks are over members 0, stride, 2 stride ...; 1: over all
};

}  // namespace zwang
