#include "host/statistics/replicates.h"

#include <cassert>
#include <cmath>

#include "host/estimators/intervals.h"
#include "kernels/reduce/moments.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

ReplicateMeans block_replicates(std::span<const double> rows, const TileMoments::Lanes& pivot,
                                std::span<const int> replicate_of, int replicates) {
  const std::size_t size = std::size_t(replicates) * tile_columns;
  ReplicateMeans means{std::vector<long long>(size, 0), std::vector<double>(size, 0.0)};
  for (std::size_t row = 0; row < block_members; ++row) {
    assert(replicate_of[row] >= 0 && replicate_of[row] < replicates);
    const std::size_t base = std::size_t(replicate_of[row]) * tile_columns;
    for (std::size_t c = 0; c < tile_columns; ++c) {
      const double x = rows[row * tile_columns + c];
      if (!std::isfinite(x)) continue;
      ++means.count[base + c];
      means.offset[base + c] += x - pivot[c];
    }
  }
  for (std::size_t k = 0; k < size; ++k) {
    if (means.count[k] > 0) means.offset[k] /= double(means.count[k]);
  }
  return means;
}

TilePart merged_parts(const TilePart& left, const TilePart& right) {
  TilePart sum{merged_moments(left.moments, right.moments), left.replicates};
  for (std::size_t k = 0; k < sum.replicates.count.size(); ++k) {
    const std::size_t c = k % tile_columns;
    const ReplicatePart merged =
        merged_replicate({left.replicates.count[k], left.replicates.offset[k]}, left.moments.pivot[c],
                         {right.replicates.count[k], right.replicates.offset[k]}, right.moments.pivot[c],
                         sum.moments.pivot[c]);
    sum.replicates.count[k] = merged.count;
    sum.replicates.offset[k] = merged.offset;
  }
  return sum;
}

double MeanEstimate::low() const { return mean - student_reach(degrees) * standard_error; }
double MeanEstimate::high() const { return mean + student_reach(degrees) * standard_error; }

MeanEstimate mean_estimate(const TilePart& part, std::size_t column) {
  const Moments moments = column_moments(part.moments, column);
  MeanEstimate estimate{moments.count, moments.mean, moments.standard_error, moments.count - 1};
  const std::size_t replicates = part.replicates.count.size() / tile_columns;
  if (replicates == 0) return estimate;

  std::vector<double> means;
  for (std::size_t r = 0; r < replicates; ++r) {
    const std::size_t k = r * tile_columns + column;
    if (part.replicates.count[k] > 0) means.push_back(part.replicates.offset[k]);
  }
  estimate.degrees = static_cast<long long>(means.size()) - 1;
  estimate.standard_error = std::numeric_limits<double>::quiet_NaN();
  if (means.size() < 2 || moments.infinite > 0) return estimate;

  const double n = double(means.size());
  double sum = 0, squares = 0;
  for (const double x : means) sum += x - means[0];
  const double mean = means[0] + sum / n;
  for (const double x : means) squares += (x - mean) * (x - mean);
  estimate.standard_error = std::sqrt(squares / (n - 1) / n);
  return estimate;
}

}  // namespace zwang
