// Results of the statistics of an ensemble. Undefined numbers are NaN.
#pragma once

#include <optional>
#include <vector>

#include "host/estimators/correlation.h"
#include "host/estimators/first_order.h"
#include "host/estimators/moments.h"
#include "host/estimators/proportion.h"
#include "host/estimators/quantiles.h"
#include "host/statistics/pick_freeze.h"

namespace zwang {

// Results of one column: an observable at one time, a measure, or a drawn input.
struct SeriesStatistics {
  Moments moments;                     // its standard_error assumes independent members ...
  long long missing = 0;               // members that entered and have no value
  double standard_error = 0;           // ... this one is to be reported: by replicates if there are any
  double mean_low = 0, mean_high = 0;  // 95 % interval of the mean
  std::vector<Quantile> quantiles;     // in the order of the plan; none for inputs
  // Of a measure that is 0 or 1: the members with 1. mean_low and mean_high are then its bounds.
  std::optional<Proportion> probability;
  bool by_form = false;              // it was written as probability(..); false: recognised by its values
  long long undecided = 0;           // of a probability(..): members in which a missing value decided
  std::optional<Proportion> occurs;  // of a measure that can be missing: the members that have a value
};

// P(measure > x), strictly, at several x; members without a value exceed nothing.
struct ExceedanceResult {
  std::size_t measure = 0;
  std::vector<double> at;         // ascending
  std::vector<Proportion> above;  // pointwise intervals
  double relative_error = 0;      // of x, as QuantileBasis; 0: exact
};

// Statistics over the members that fulfil a condition.
struct GivenResult {
  Proportion share;  // these members, of those that entered
  std::vector<SeriesStatistics> measures, inputs;
  std::vector<SeriesStatistics> observables;  // outputs x observables; empty if not wanted
  // By input: (mean given - mean) / std, and its standard error.
  std::vector<double> shift, shift_error;
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

// Of all members, or of one point of the sweeps. ensemble_statistics_bytes.cpp writes every field.
struct StatisticsResult {
  long long members = 0;
  long long entered = 0;
  long long failed = 0;                       // neither ok nor stopped; of all blocks of pick-freeze
  bool met_until = false;                     // `until` was met before the last member
  std::vector<SeriesStatistics> observables;  // outputs x observables, time by time
  std::vector<SeriesStatistics> measures, inputs;
  QuantileBasis observable_quantiles, measure_quantiles;
  std::vector<HistogramResult> histograms;    // in the order of the plan
  std::vector<ExceedanceResult> exceedances;  // in the order of the plan
  std::vector<GivenResult> givens;            // in the order of the plan
  std::vector<FirstOrderIndex> first_order;   // measures x inputs
  std::vector<PickFreezeResult> pick_freeze;  // by measure of the plan; empty without pick-freeze

  // Of measures, then inputs, pairwise over the members that have both values.
  Matrix covariance, rank_correlation;
  long long rank_stride = 1;  // ranks are over members 0, stride, 2 stride ...; 1: over all
};

}  // namespace zwang
