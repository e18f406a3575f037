// Parts of summary.json beyond moments and quantiles.
#pragma once

#include <nlohmann/json.hpp>

#include "host/estimators/proportion.h"
#include "host/run/run_result.h"
#include "host/statistics/statistics_result.h"
#include "host/study/study.h"

namespace zwang {

using SummaryJson = nlohmann::ordered_json;

SummaryJson proportion_json(const Proportion& share);

// Adds what a measure of index `measure` is besides a number: its kind, probability, occurrence, exceedance.
void add_answers_json(const Study& study, const StatisticsResult& statistics, std::size_t measure,
                      SummaryJson& json);

// By measure and input; null if there are none.
SummaryJson first_order_json(const Study& study, const RunResult& result, const StatisticsResult& statistics);

// Sobol' indices by measure and input; null without [sensitivity].
SummaryJson sensitivity_json(const Study& study, const StatisticsResult& statistics);

}  // namespace zwang
