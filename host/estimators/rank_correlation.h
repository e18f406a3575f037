// Rank correlation (Spearman) of a set of columns: Pearson's correlation of the ranks; ties have their mean
// rank.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "host/estimators/correlation.h"

namespace zwang {

// Rows from which on another machine is worth its copies and launches: shorter columns are sorted faster by
// the host.
constexpr std::size_t long_column = std::size_t{1} << 22;

// Twice the mean ranks of different values among n rows differ by two at least: a place for each, 0 to n.
constexpr std::uint32_t place_of_rank(std::uint32_t rank) { return rank / 2; }

// Another machine that ranks a column: writes twice the mean rank of each value, counted from 1, or 0 for
// NaN, and returns the number of values that are not NaN. Nothing: the host has to do it. Ranks are exact, so
// it does not matter for the result who does it. Called from several threads.
using ColumnRanker =
    std::function<std::optional<std::size_t>(std::span<const double> values, std::span<std::uint32_t> ranks)>;

// columns: one value per row, NaN if missing. A pair is correlated over the rows that have both values; NaN
// if these are fewer than two, or if one column is constant over them. At most 2^30 rows.
class RankCorrelation {
 public:
  // The values must outlive this object.
  explicit RankCorrelation(std::vector<std::span<const double>> columns, ColumnRanker ranker = {});
  ~RankCorrelation();

  std::size_t columns() const { return columns_.size(); }
  void rank(std::size_t column);    // once for each column; from any thread
  Matrix matrix(unsigned threads);  // when all columns are ranked
  // Twice the mean rank of each row, counted from 1; 0 if the value is missing. Of a ranked column.
  std::span<const std::uint32_t> ranks(std::size_t column) const;

 private:
  struct RankedColumn;
  std::vector<std::span<const double>> columns_;
  std::vector<RankedColumn> ranked_;
  ColumnRanker ranker_;  // may be empty
};

// All of it.
Matrix rank_correlation_matrix(std::span<const std::span<const double>> columns, unsigned threads,
                               const ColumnRanker& ranker = {});

}  // namespace zwang
