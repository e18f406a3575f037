// Variables of statistics.nc beyond moments and quantiles: probabilities, exceedance, first-order indices.
#pragma once

#include <functional>
#include <vector>

#include "host/netcdf/netcdf_file.h"
#include "host/run/run_result.h"
#include "host/statistics/statistics_result.h"
#include "host/study/study.h"

namespace zwang {

// Definitions come before data: each definition adds a function that writes its values later, from the
// statistics of one point of the sweeps, or from those of the whole ensemble.
using NetcdfNumbers = std::vector<std::function<void(NetcdfFile&, const StatisticsResult&)>>;

struct AnswerDimensions {
  NetcdfFile::Dimension measure, input;
};

void add_probabilities(NetcdfFile& file, const AnswerDimensions& dimensions, NetcdfNumbers& numbers);
void add_exceedances(NetcdfFile& file, const RunResult& result, const AnswerDimensions& dimensions,
                     NetcdfNumbers& numbers);
void add_first_order(NetcdfFile& file, const RunResult& result, const AnswerDimensions& dimensions,
                     NetcdfNumbers& numbers);
// Shares and shifts of [[given]]; their statistics are groups of write_statistics.cpp.
void add_givens(NetcdfFile& file, NetcdfFile::Dimension given, const AnswerDimensions& dimensions,
                NetcdfNumbers& numbers);

// Sobol' indices by measure and input; nothing without [sensitivity].
void add_sobol_indices(NetcdfFile& file, const Study& study, const RunResult& result,
                       const AnswerDimensions& dimensions, NetcdfNumbers& numbers);

}  // namespace zwang
