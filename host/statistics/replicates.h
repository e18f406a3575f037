// Means by replicate: the standard error of means over scrambled Sobol points.
//
// The members of one scrambled net are not independent, and std / sqrt(n) overestimates the error of their
// mean many times over. R independently scrambled replicates give R independent means, whose spread is a
// valid estimate (A. Owen, Monte Carlo theory, methods and examples, chapter 17).
#pragma once

#include <span>
#include <vector>

#include "host/estimators/moments.h"

namespace zwang {

// By replicate and column of a tile: replicate x tile_columns.
struct ReplicateMeans {
  std::vector<long long> count;  // finite values
  std::vector<double> offset;    // their mean, relative to the tile's pivot
};

// rows as in block_moments; replicate_of: one number in [0, replicates) for each row.
ReplicateMeans block_replicates(std::span<const double> rows, const TileMoments::Lanes& pivot,
                                std::span<const int> replicate_of, int replicates);

// The moments of a tile with its replicates: a node of the merge tree.
struct TilePart {
  TileMoments moments;
  ReplicateMeans replicates;  // empty if the plan has none
};
TilePart merged_parts(const TilePart& left, const TilePart& right);

// The mean of one column with its error.
struct MeanEstimate {
  long long count = 0;
  double mean = 0;
  double standard_error = 0;
  long long degrees = 0;  // of freedom, for the interval
  double low() const;     // 95 % interval, by Student's t
  double high() const;
};

// The error is from the spread of the replicates' means if there are replicates, otherwise std / sqrt(n).
// Replicates without a value are skipped; fewer than two give NaN.
MeanEstimate mean_estimate(const TilePart& part, std::size_t column);

}  // namespace zwang
