#include "host/estimators/quantile_sketch.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "host/platform/bytes.h"

namespace zwang {

namespace {

// Exponents 1 to 2046. The others are zero or subnormal, infinite, or NaN.
bool is_ordinary(std::uint64_t bits) { return (bits >> 52 & 2047) - 1 < 2046; }

}  // namespace

QuantileSketch::QuantileSketch(double pivot, std::size_t buckets)
    : pivot_(pivot), page_limit_(std::clamp(buckets, fewest_buckets, most_buckets) / page_buckets) {}

std::size_t QuantileSketch::pages() const {
  return (sides_[0].counts.size() + sides_[1].counts.size()) / page_buckets;
}

// --- Counting ----------------------------------------------------------------------------------------------

void QuantileSketch::add(std::span<const double> values) {
  constexpr std::size_t chunk = 64;
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  for (std::size_t begin = 0; begin < values.size(); begin += chunk) {
    const std::span<const double> some = values.subspan(begin, std::min(chunk, values.size() - begin));

    // First pass: find and prefetch the buckets. Those of many columns do not fit into the cache together.
    std::array<std::uint64_t, chunk> bits;
    std::uint64_t seen = 0;
    for (std::size_t k = 0; k < some.size(); ++k) {
      bits[k] = std::bit_cast<std::uint64_t>(some[k] - pivot_);
      if (!is_ordinary(bits[k])) continue;
      seen |= bits[k];
      __builtin_prefetch(find(sides_[bits[k] >> 63], (bits[k] & ~sign) >> (52 - digits_)), 1);
    }
    digits_seen_ |= seen & mantissa;

    // Second pass: count. Buckets are looked up again because a new page may move the others.
    for (std::size_t k = 0; k < some.size(); ++k) {
      if (is_ordinary(bits[k])) {
        ++bucket(sides_[bits[k] >> 63], (bits[k] & ~sign) >> (52 - digits_));
      } else {
        add_unusual(some[k]);
      }
    }
  }
}

void QuantileSketch::add_unusual(double x) {
  if (std::isnan(x)) return;
  if (std::abs(x - pivot_) <= std::numeric_limits<double>::max()) {
    ++zeros_;
  } else {
    ++(x > pivot_ ? above_ : below_);
  }
}

std::uint64_t* QuantileSketch::find(Side& side, std::uint64_t key) {
  const std::uint64_t place = key / page_buckets - std::uint64_t(side.first);
  if (place >= side.directory.size()) return nullptr;
  const std::int32_t position = side.directory[place];
  return position < 0 ? nullptr : &side.counts[std::size_t(position) * page_buckets + key % page_buckets];
}

std::uint64_t& QuantileSketch::bucket(Side& side, std::uint64_t key) {
  std::uint64_t* found = find(side, key);
  return found != nullptr ? *found : new_page(side, key);
}

// --- Allocation --------------------------------------------------------------------------------------------

// The final resolution depends on the set of values alone, not on their order: the number of pages at a given
// resolution never decreases, so the final one is the finest at which the pages of all values fit.
std::uint64_t& QuantileSketch::new_page(Side& side, std::uint64_t key) {
  if (pages() == page_limit_) {
    coarsen();
    return bucket(side, key >> 1);
  }

  // The directory covers the pages from the first to the last one in use.
  const auto page = std::int64_t(key / page_buckets);
  if (side.directory.empty()) side.first = page;
  if (page < side.first) {
    side.directory.insert(side.directory.begin(), std::size_t(side.first - page), -1);
    side.first = page;
  }
  const auto place = std::size_t(page - side.first);
  if (place >= side.directory.size()) side.directory.resize(place + 1, -1);

  // Grows by an eighth at a time: doubling would exceed the memory limit.
  const std::size_t position = side.counts.size();
  side.directory[place] = std::int32_t(position / page_buckets);
  if (side.counts.capacity() < position + page_buckets) {
    side.counts.reserve(position + std::max(position / 8 / page_buckets, std::size_t{1}) * page_buckets);
  }
  side.counts.resize(position + page_buckets, 0);
  return side.counts[position + key % page_buckets];
}

void QuantileSketch::coarsen() {
  assert(digits_ > 0);  // at 0 digits there is one bucket per exponent, and fewest_buckets suffices
  coarsen_to(digits_ - 1);
}

void QuantileSketch::coarsen_to(int digits) {
  const int shift = digits_ - digits;
  const std::array<Side, 2> old = std::exchange(sides_, {});
  digits_ = digits;
  for (std::size_t s = 0; s < 2; ++s) {
    for (std::size_t place = 0; place < old[s].directory.size(); ++place) {
      const std::int32_t position = old[s].directory[place];
      if (position < 0) continue;
      const std::uint64_t first = (std::uint64_t(old[s].first) + place) * page_buckets;
      for (std::uint64_t i = 0; i < page_buckets; ++i) {
        const std::uint64_t count = old[s].counts[std::size_t(position) * page_buckets + i];
        if (count > 0) bucket(sides_[s], (first + i) >> shift) += count;
      }
    }
  }
}

void QuantileSketch::merge(const QuantileSketch& other) {
  assert(std::bit_cast<std::uint64_t>(pivot_) == std::bit_cast<std::uint64_t>(other.pivot_));
  assert(page_limit_ == other.page_limit_);
  if (other.digits_ < digits_) coarsen_to(other.digits_);
  for (std::size_t s = 0; s < 2; ++s) {
    const Side& side = other.sides_[s];
    for (std::size_t place = 0; place < side.directory.size(); ++place) {
      if (side.directory[place] < 0) continue;
      const std::uint64_t first = (std::uint64_t(side.first) + place) * page_buckets;
      for (std::uint64_t i = 0; i < page_buckets; ++i) {
        const std::uint64_t count = side.counts[std::size_t(side.directory[place]) * page_buckets + i];
        // digits_ may have decreased in this loop, when a new page was allocated.
        if (count > 0) bucket(sides_[s], (first + i) >> (other.digits_ - digits_)) += count;
      }
    }
  }
  zeros_ += other.zeros_;
  above_ += other.above_;
  below_ += other.below_;
  digits_seen_ |= other.digits_seen_;
}

void QuantileSketch::add_counts(const SketchExtras& extras, std::span<const SketchEntry> entries) {
  for (const SketchEntry& entry : entries) {
    const std::size_t side = entry.key >= sketch_side ? 1 : 0;
    const std::uint64_t key = entry.key & (sketch_side - 1);
    // digits_ may decrease in this loop, when a new page is allocated.
    bucket(sides_[side], key >> (finest_digits - digits_)) += entry.count;
  }
  zeros_ += extras.zeros;
  above_ += extras.above;
  below_ += extras.below;
  digits_seen_ |= extras.digits_seen;
}

// --- Queries ---------------------------------------------------------------------------------------------

double QuantileSketch::relative_error() const {
  // If no value has digits below those of the bucket, nothing is lost.
  const std::uint64_t dropped = mantissa >> digits_;
  return (digits_seen_ & dropped) == 0 ? 0 : std::ldexp(1.0, -digits_ - 1);
}

// A bucket contains distances [l, u) with u - l <= 2^-digits l: its middle is within 2^-(digits + 1) l of all
// of them.
double QuantileSketch::representative(std::uint64_t key) const {
  const auto lower = std::bit_cast<double>(key << (52 - digits_));
  if (relative_error() == 0) return lower;
  return std::bit_cast<double>((key << (52 - digits_)) + (std::uint64_t{1} << (51 - digits_)));
}

long long QuantileSketch::count() const {
  std::uint64_t sum = zeros_ + above_ + below_;
  for (const Side& side : sides_) {
    for (const std::uint64_t count : side.counts) sum += count;
  }
  return static_cast<long long>(sum);
}

std::vector<double> QuantileSketch::values_at(std::span<const long long> ranks) const {
  std::vector<double> values;
  values.reserve(ranks.size());
  std::uint64_t passed = 0;
  const auto pass = [&](std::uint64_t count, double value) {
    passed += count;
    while (values.size() < ranks.size() && std::uint64_t(ranks[values.size()]) < passed)
      values.push_back(value);
  };
  const auto pass_page = [&](const Side& side, std::size_t place, bool negative) {
    if (side.directory[place] < 0) return;
    const std::uint64_t first = (std::uint64_t(side.first) + place) * page_buckets;
    for (std::uint64_t j = 0; j < page_buckets; ++j) {
      const std::uint64_t i = negative ? page_buckets - 1 - j : j;
      const std::uint64_t count = side.counts[std::size_t(side.directory[place]) * page_buckets + i];
      if (count == 0) continue;
      const double d = representative(first + i);
      pass(count, negative ? pivot_ - d : pivot_ + d);
    }
  };

  // In ascending order: below the pivot, at the pivot, above it.
  pass(below_, -std::numeric_limits<double>::infinity());
  for (std::size_t k = sides_[1].directory.size(); k-- > 0;) pass_page(sides_[1], k, true);
  pass(zeros_, pivot_);
  for (std::size_t k = 0; k < sides_[0].directory.size(); ++k) pass_page(sides_[0], k, false);
  pass(above_, std::numeric_limits<double>::infinity());
  values.resize(ranks.size(), std::numeric_limits<double>::quiet_NaN());
  return values;
}

long long QuantileSketch::count_above(double x) const {
  // The estimates ascend with the rank.
  long long low = 0, high = count();
  while (low < high) {
    const long long middle = low + (high - low) / 2;
    if (values_at({&middle, 1})[0] > x)
      high = middle;
    else
      low = middle + 1;
  }
  return count() - low;
}

std::size_t QuantileSketch::memory() const {
  std::size_t bytes = sizeof *this;
  for (const Side& side : sides_) {
    bytes +=
        side.counts.capacity() * sizeof(std::uint64_t) + side.directory.capacity() * sizeof(std::int32_t);
  }
  return bytes;
}

}  // namespace zwang
