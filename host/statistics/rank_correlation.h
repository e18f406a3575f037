// Rank correlation (Spearman) of some columns: Pearson's correlation of the ranks, ties sharing their mean rank.
#pragma once

#include <span>
#include <vector>

#include "host/statistics/correlation.h"

namespace zwang {

// columns: each has a value for every row, NaN where it is missing; pairs are judged over the rows that have both.
// NaN where fewer than two rows do, or where one column is constant over them. At most 2^30 rows.
Matrix rank_correlation_matrix(std::span<const std::span<const double>> columns, unsigned threads);

}  // namespace zwang
