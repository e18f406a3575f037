#include "host/estimators/histogram.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "host/platform/bytes.h"
#include "kernels/reduce/counts.h"

namespace zwang {

Histogram::Histogram(double low, double high, std::size_t bins) : counts_(bins, 0) {
  assert(low < high && bins >= 1);
  // In multiples of the step, so that sixty bins from 0 to 60 have integer edges. Interpolation between both
  // ends is used only if the width overflows.
  const double step = (high - low) / double(bins);
  for (std::size_t i = 0; i <= bins; ++i) {
    const double share = double(i) / double(bins);
    edges_.push_back(std::isfinite(step) ? low + double(i) * step : low * (1 - share) + high * share);
  }
  edges_.back() = high;
  per_width_ = double(bins) / (high - low);
}

void Histogram::add(double x) {
  if (std::isnan(x)) return;
  const auto bins = static_cast<long long>(counts_.size());
  const long long place = histogram_place(edges_.data(), bins, per_width_, x);
  ++(place == 0 ? below_ : place > bins ? above_ : counts_[static_cast<std::size_t>(place - 1)]);
}

void Histogram::add_counts(std::span<const long long> counts) {
  assert(counts.size() == counts_.size() + 2);
  below_ += counts.front();
  above_ += counts.back();
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += counts[i + 1];
}

void Histogram::merge(const Histogram& other) {
  assert(edges_ == other.edges_);
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  below_ += other.below_;
  above_ += other.above_;
}

void Histogram::save(ByteWriter& bytes) const {
  bytes.number(below_);
  bytes.number(above_);
  bytes.numbers(counts_);
}

void Histogram::load(ByteReader& bytes, long long values) {
  below_ = bytes.count(values);
  above_ = bytes.count(values - below_);
  const std::size_t bins = counts_.size();
  bytes.numbers(counts_, bins);
  if (counts_.size() != bins) bytes.refuse("another number of bins", "the number in the study");
  long long left = values - below_ - above_;
  for (const long long count : counts_) {
    bytes.require_count(count, left);
    left -= count;
  }
  if (left != 0) bytes.refuse("histogram counts that do not add up", "the number of values");
}

std::optional<Range> finite_range(std::span<const double> values) {
  std::optional<Range> range;
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    if (!range) range = Range{x, x};
    range->low = std::min(range->low, x);
    range->high = std::max(range->high, x);
  }
  // -0 becomes 0: which of the two zeros was found depends on the order of the values.
  if (range) range = Range{range->low + 0.0, range->high + 0.0};
  return range;
}

std::optional<Range> joined_range(const std::optional<Range>& a, const std::optional<Range>& b) {
  if (!a || !b) return a ? a : b;
  return Range{std::min(a->low, b->low), std::max(a->high, b->high)};
}

Range histogram_range(const std::optional<Range>& found, double share) {
  if (!found) return {0, 1};
  const double largest = std::numeric_limits<double>::max();
  const double width = found->high - found->low;
  const double margin = width > 0 ? width * share : 0.5;
  Range range{std::max(found->low - margin, -largest), std::min(found->high + margin, largest)};

  // 0.5 is lost in rounding beside values like 1e20: use the neighbouring numbers.
  if (!(range.low < range.high)) {
    range = {std::nextafter(found->low, -largest), std::nextafter(found->high, largest)};
  }
  return range;
}

}  // namespace zwang
