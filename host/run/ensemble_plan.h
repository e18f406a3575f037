// What a study requests of the statistics of its ensemble.
#pragma once

#include <cstddef>
#include <optional>

#include "host/sample/sampler.h"
#include "host/statistics/ensemble_statistics.h"
#include "host/statistics/until.h"
#include "host/study/study.h"

namespace zwang {

// The statistics by point of the sweeps. The sampler must outlive the plan.
EnsemblePlan ensemble_plan(const Study& study, const Sampler& sampler, std::size_t memory);

// When to stop early; none without [ensemble] until.
std::optional<UntilRule> until_rule(const Study& study);

// Throws Error if [[given]] asks for observables that do not fit into the memory.
void refuse_unstored_given(const Study& study, const EnsembleStatistics& statistics, std::size_t memory);

}  // namespace zwang
