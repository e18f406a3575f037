// Variables of statistics.nc for series: moments, quantiles and histograms of observables, measures or inputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/files/write_answers.h"
#include "host/netcdf/netcdf_file.h"
#include "host/statistics/statistics_result.h"

namespace zwang {

// Observables at their times, measures, or inputs.
struct SeriesGroup {
  std::string prefix;                             // of the variables' names
  std::string of;                                 // description of the series
  std::vector<NetcdfFile::Dimension> dimensions;  // without the quantile dimension
  // In the order of the dimensions.
  std::function<std::vector<const SeriesStatistics*>(const StatisticsResult&)> series;
  std::string unit = {};  // label of all series; empty if they differ or have none
};

// The group must outlive `numbers`.
void add_moments(NetcdfFile& file, const SeriesGroup& group, NetcdfNumbers& numbers);
void add_quantiles(NetcdfFile& file, const SeriesGroup& group, NetcdfFile::Dimension quantile,
                   const QuantileBasis& basis, NetcdfNumbers& numbers);

// One row per observable (or measure), padded to the widest. Rows without a requested histogram are never
// written: they take no space in the file and read as missing.
struct HistogramVariables {
  NetcdfFile::Variable counts, edges, below, above;
};
HistogramVariables add_histograms(NetcdfFile& file, const SeriesGroup& group, NetcdfFile::Dimension bin,
                                  NetcdfFile::Dimension edge);
void put_histogram(NetcdfFile& file, const HistogramVariables& variables, const HistogramResult& histogram);

}  // namespace zwang
