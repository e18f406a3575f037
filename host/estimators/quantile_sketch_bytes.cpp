// Serialises a quantile sketch.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/estimators/quantile_sketch.h"
#include "host/platform/bytes.h"

namespace zwang {

void QuantileSketch::save(ByteWriter& bytes) const {
  bytes.number<std::int32_t>(digits_);
  bytes.number(zeros_);
  bytes.number(above_);
  bytes.number(below_);
  bytes.number(digits_seen_);
  for (const Side& side : sides_) {
    // In the order of the keys, not of allocation: equal sketches give equal bytes.
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
  if (digits < 0 || digits > finest_digits) bytes.refuse("an invalid number of digits", "0 to 9");
  for (std::uint64_t* count : {&sketch.zeros_, &sketch.above_, &sketch.below_})
    *count = std::uint64_t(bytes.count(values));
  sketch.digits_seen_ = bytes.number<std::uint64_t>();
  if ((sketch.digits_seen_ & ~mantissa) != 0) bytes.refuse("digits that no double has", "at most 52 digits");
  for (Side& side : sketch.sides_) {
    std::vector<std::uint64_t> keys;
    std::vector<long long> counts;
    bytes.numbers(keys, sketch.page_limit_ * page_buckets);
    bytes.numbers(counts, keys.size());
    if (counts.size() != keys.size()) bytes.refuse("buckets without counts", "a count for each bucket");
    bytes.require_counts(counts, values);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] >> (11 + digits) != 0) bytes.refuse("a bucket out of range", "an exponent of a double");
      if (i > 0 && keys[i] <= keys[i - 1]) bytes.refuse("buckets out of order", "ascending buckets");
      sketch.bucket(side, keys[i]) = std::uint64_t(counts[i]);
      if (sketch.digits_ != digits) bytes.refuse("too many buckets", "no more than the plan allows");
    }
  }
  if (sketch.count() != values) bytes.refuse("bucket counts that do not add up", "the number of values");
  return sketch;
}

}  // namespace zwang
