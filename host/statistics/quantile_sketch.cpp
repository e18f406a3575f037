#include "host/statistics/quantile_sketch.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "host/statistics/bytes.h"

namespace zwang {

namespace {

// Exponents 1 to 2046. The others are zero and the like, infinite, or not a number.
bool is_ordinary(std::uint64_t bits) { return (bits >> 52 & 2047) - 1 < 2046; }

}  // namespace

QuantileSketch::QuantileSketch(double pivot, std::size_t buckets)
    : pivot_(pivot), page_limit_(std::clamp(buckets, fewest_buckets, most_buckets) / page_buckets) {}

std::size_t QuantileSketch::pages() const {
  return (sides_[0].counts.size() + sides_[1].counts.size()) / page_buckets;
}

// --- Counting ---------------------------------------------------------------------------------------------------

void QuantileSketch::add(std::span<const double> values) {
  constexpr std::size_t stretch = 64;
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  for (std::size_t begin = 0; begin < values.size(); begin += stretch) {
    const std::span<const double> some = values.subspan(begin, std::min(stretch, values.size() - begin));

    // Where each value belongs, asking memory for it: many columns' buckets do not fit into a cache together.
    std::array<std::uint64_t, stretch> bits;
    std::uint64_t seen = 0;
    for (std::size_t k = 0; k < some.size(); ++k) {
      bits[k] = std::bit_cast<std::uint64_t>(some[k] - pivot_);
      if (!is_ordinary(bits[k])) continue;
      seen |= bits[k];
      __builtin_prefetch(find(sides_[bits[k] >> 63], (bits[k] & ~sign) >> (52 - digits_)), 1);
    }
    digits_seen_ |= seen & mantissa;

    // Counted in a second go: a new page may move the others.
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

// --- Growing ------------------------------------------------------------------------------------------------

// How coarse the buckets end up depends on the set of values alone: pages in use at a given fineness only become
// more as values come, so it is the finest at which the pages of all of them fit, in whatever order they came.
std::uint64_t& QuantileSketch::new_page(Side& side, std::uint64_t key) {
  if (pages() == page_limit_) {
    coarsen();
    return bucket(side, key >> 1);
  }

  // The directory reaches from the first page in use to the last.
  const auto page = std::int64_t(key / page_buckets);
  if (side.directory.empty()) side.first = page;
  if (page < side.first) {
    side.directory.insert(side.directory.begin(), std::size_t(side.first - page), -1);
    side.first = page;
  }
  const auto place = std::size_t(page - side.first);
  if (place >= side.directory.size()) side.directory.resize(place + 1, -1);

  // Grown a little at a time: doubling would break the promise about memory.
  const std::size_t position = side.counts.size();
  side.directory[place] = std::int32_t(position / page_buckets);
  if (side.counts.capacity() < position + page_buckets) {
    side.counts.reserve(position + std::max(position / 8 / page_buckets, std::size_t{1}) * page_buckets);
  }
  side.counts.resize(position + page_buckets, 0);
  return side.counts[position + key % page_buckets];
}

void QuantileSketch::coarsen() {
  assert(digits_ > 0);  // without digits every exponent has its bucket, and fewest_buckets holds them all
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
        // Taking in a page may have made our own buckets coarser.
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
    // Whatever is as fine as we are: a new page may make it coarser on the way.
    bucket(sides_[side], key >> (finest_digits - digits_)) += entry.count;
  }
  zeros_ += extras.zeros;
  above_ += extras.above;
  below_ += extras.below;
  digits_seen_ |= extras.digits_seen;
}

// --- Answering ----------------------------------------------------------------------------------------------

double QuantileSketch::relative_error() const {
  // Digits below those of the bucket that no value ever had cannot be missing.
  const std::uint64_t dropped = mantissa >> digits_;
  return (digits_seen_ & dropped) == 0 ? 0 : std::ldexp(1.0, -digits_ - 1);
}

// A bucket holds distances [l, u) with u - l <= 2^-digits l: its middle is within 2^-(digits + 1) l of any of them.
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

  // From the far negative through the pivot to the far positive.
  pass(below_, -std::numeric_limits<double>::infinity());
  for (std::size_t k = sides_[1].directory.size(); k-- > 0;) pass_page(sides_[1], k, true);
  pass(zeros_, pivot_);
  for (std::size_t k = 0; k < sides_[0].directory.size(); ++k) pass_page(sides_[0], k, false);
  pass(above_, std::numeric_limits<double>::infinity());
  values.resize(ranks.size(), std::numeric_limits<double>::quiet_NaN());
  return values;
}

std::size_t QuantileSketch::memory() const {
  std::size_t bytes = sizeof *this;
  for (const Side& side : sides_) {
    bytes +=
        side.counts.capacity() * sizeof(std::uint64_t) + side.directory.capacity() * sizeof(std::int32_t);
  }
  return bytes;
}

// --- Bytes --------------------------------------------------------------------------------------------------

void QuantileSketch::save(ByteWriter& bytes) const {
  bytes.number<std::int32_t>(digits_);
  bytes.number(zeros_);
  bytes.number(above_);
  bytes.number(below_);
  bytes.number(digits_seen_);
  for (const Side& side : sides_) {
    // In the order of the pages, not of their coming: equal sketches are equal bytes.
    std::vector<std::uint64_t> keys, counts;
    for (std::size_t place = 0; place < side.directory.size(); ++place) {
      if (side.directory[place] < 0) continue;
      for (std::uint64_t i = 0; i < page_buckets; ++i) {
        const std::uint64_t count = side.counts[std::size_t(side.directory[place]) * page_buckets + i];
        if (count == 0) continue;
        keys.push_back((std::uint64_t(side.first) + place) * page_buckets + i);
        counts.push_back(count);
      }
    }
    bytes.numbers(keys);
    bytes.numbers(counts);
  }
}

QuantileSketch QuantileSketch::load(ByteReader& bytes, double pivot, std::size_t buckets, long long values) {
  QuantileSketch sketch(pivot, buckets);
  const int digits = sketch.digits_ = bytes.number<std::int32_t>();
  if (digits < 0 || digits > finest_digits) bytes.refuse("impossible digits", "0 to 9");
  for (std::uint64_t* count : {&sketch.zeros_, &sketch.above_, &sketch.below_})
    *count = std::uint64_t(bytes.count(values));
  sketch.digits_seen_ = bytes.number<std::uint64_t>();
  if ((sketch.digits_seen_ & ~mantissa) != 0) bytes.refuse("digits that no double has", "52 of them");
  for (Side& side : sketch.sides_) {
    std::vector<std::uint64_t> keys;
    std::vector<long long> counts;
    bytes.numbers(keys, sketch.page_limit_ * page_buckets);
    bytes.numbers(counts, keys.size());
    if (counts.size() != keys.size()) bytes.refuse("buckets without counts", "a count for each");
    bytes.require_counts(counts, values);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] >> (11 + digits) != 0) bytes.refuse("a bucket out of range", "an exponent of a double");
      if (i > 0 && keys[i] <= keys[i - 1]) bytes.refuse("buckets out of order", "ascending ones");
      sketch.bucket(side, keys[i]) = std::uint64_t(counts[i]);
      if (sketch.digits_ != digits) bytes.refuse("too many buckets", "no more than were saved");
    }
  }
  if (sketch.count() != values) bytes.refuse("buckets that do not add up", "as many as values");
  return sketch;
}

}  // namespace zwang
