// Rank correlation (Spearman) of a set of columns: Pearson's correlation of the ranks; ties have their mean
// rank.
#pragma once

#include <span>
#include <vector>

#include "host/estimators/correlation.h"

namespace zwang {

// columns: one value per row, NaN if missing. A pair is correlated over the rows that have both values; NaN
// if these are fewer than two, or if one column is constant over them. At most 2^30 rows.
Matrix rank_correlation_matrix(std::span<const std::span<const double>> columns, unsigned threads);

}  // namespace zwang
