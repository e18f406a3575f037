// Rank correlation (Spearman) of a set of columns: Pearson's correlation of the ranks; ties have their mean
// rank.
#pragma once

#include <span>
#include <vector>

#include "host/estimators/correlation.h"

namespace zwang {

// columns: one value per row, NaN if missing. A pair is correlated over the rows that have both values; NaN
// if these are fewer than two, or if one column is constant over them. At most 2^30 rows.
class RankCorrelation {
 public:
  // The values must outlive this object.
  explicit RankCorrelation(std::vector<std::span<const double>> columns);
  ~RankCorrelation();

  std::size_t columns() const { return columns_.size(); }
  void rank(std::size_t column);          // once for each column; from any thread
  Matrix matrix(unsigned threads) const;  // when all columns are ranked

 private:
  struct RankedColumn;
  std::vector<std::span<const double>> columns_;
  std::vector<RankedColumn> ranked_;
};

// All of it.
Matrix rank_correlation_matrix(std::span<const std::span<const double>> columns, unsigned threads);

}  // namespace zwang
