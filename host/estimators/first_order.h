// First-order sensitivity indices from a plain sample: how much of a measure's variance is explained by one
// input.
//
// Members are divided into bins of equal count by the input's rank. The variance between the bins, corrected
// for the number of bins, over the whole variance is the index of the input (Pearson's correlation ratio,
// adjusted as by T. L. Kelley, PNAS 21 (1935) 554). What varies inside a bin counts as unexplained: the index
// is a lower estimate.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace zwang {

struct FirstOrderIndex {
  double index = 0;       // NaN: not computed
  double null95 = 0;      // what an input without influence exceeds in 5 % of the samples
  long long bins = 0;     // 0: not computed
  long long members = 0;  // with both values
  std::string reason;     // why it was not computed; empty: it was
};

constexpr long long fewest_for_first_order = 200;  // members

// clamp(floor(n^(1/3)), 4, 50)
long long bins_for(long long members);

// The bins of an input's values.
struct InputBins {
  static constexpr std::uint32_t none = 0xffffffff;
  std::vector<std::uint32_t> of;  // by row; none: the row does not count
  long long used = 0;             // bins that are not empty
};

// ranks: twice the mean rank of the input, counted from 1 and equal for equal values; 0 if it is missing.
// values: the measure, NaN in rows that do not count; empty: all rows count. `by_value`: every value of the input is a
// bin of its own, otherwise there are `bins` bins; equal values are never divided.
InputBins input_bins(std::span<const std::uint32_t> ranks, std::span<const double> values, bool by_value,
                     long long bins);

// The values must not be NaN in rows that count. Infinite values make the index undefined.
FirstOrderIndex first_order_index(const InputBins& bins, std::span<const double> values);

}  // namespace zwang
