// Quantiles of more values than fit into memory: integer counts in buckets whose width grows with the
// distance from a pivot. Counts are added in any order, so results do not depend on how the values are split.
//
// A bucket is identified by the sign, the exponent and the leading `digits` binary digits of d = x - pivot.
// No logarithm and hence no rounding is involved: a value falls into the same bucket on every machine. With 9
// digits an order statistic is known to 2^-10 = 0.1 % of its distance from the pivot. The idea of relative
// buckets is that of DDSketch (Masson, Rim and Lee, PVLDB 12 (2019) 2195); if too many buckets are in use,
// all neighbours are joined pairwise and the bound doubles (Epicoco et al., UDDSketch, IEEE Access 8 (2020)
// 147604). Rejected: dropping the smallest buckets instead, which leaves a heavy-tailed quantity without a
// median.
//
// The pivot should be a typical value: 1000 +- 0.1 is then resolved to 0.1 % of its spread, not of 1000.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/reduce/reduce_layout.h"

namespace zwang {

class ByteReader;
class ByteWriter;

class QuantileSketch {
 public:
  static constexpr int finest_digits = sketch_digits;
  static constexpr std::size_t page_buckets = 64;      // buckets are allocated in pages of 64, 512 bytes
  static constexpr std::size_t fewest_buckets = 4096;  // enough for the whole range of doubles at 0 digits
  static constexpr std::size_t most_buckets = std::size_t{1} << 22;

  // Uses at most `buckets` buckets (rounded to pages, at least fewest_buckets).
  explicit QuantileSketch(double pivot = 0, std::size_t buckets = std::size_t{1} << 17);

  // NaN is skipped. Infinite values are counted at the ends.
  void add(std::span<const double> values);

  // Counts made on a device, in buckets with finest_digits.
  void add_counts(const SketchExtras& extras, std::span<const SketchEntry> entries);

  // Pivot and bucket limit must be equal.
  void merge(const QuantileSketch& other);

  long long count() const;

  // Estimates of the order statistics of these ranks (from 0, ascending).
  std::vector<double> values_at(std::span<const long long> ranks) const;

  // The number of values above x, by the estimates that values_at() gives.
  long long count_above(double x) const;

  // An order statistic x is known to within relative_error() |x - pivot|, or 2.3e-308 if that is larger, and
  // the rounding of x. 0 if every value lies on the edge of its bucket, as small integers do.
  double relative_error() const;

  double pivot() const { return pivot_; }
  int digits() const { return digits_; }
  std::size_t memory() const;

  void save(ByteWriter& bytes) const;
  // `values`: the number of values it must have counted.
  static QuantileSketch load(ByteReader& bytes, double pivot, std::size_t buckets, long long values);

 private:
  // The buckets of one sign, by distance. Only non-empty pages exist.
  struct Side {
    std::int64_t first = 0;               // page number of directory[0]
    std::vector<std::int32_t> directory;  // position of the page in counts, or -1
    std::vector<std::uint64_t> counts;    // pages, in the order of their allocation
  };

  static constexpr std::uint64_t mantissa = (std::uint64_t{1} << 52) - 1;

  static std::uint64_t* find(Side& side, std::uint64_t key);
  std::uint64_t& bucket(Side& side, std::uint64_t key);
  void add_unusual(double x);
  std::uint64_t& new_page(Side& side, std::uint64_t key);
  std::size_t pages() const;
  void coarsen();
  void coarsen_to(int digits);
  double representative(std::uint64_t key) const;

  double pivot_;
  std::size_t page_limit_;
  int digits_ = finest_digits;
  std::array<Side, 2> sides_;  // positive, negative
  std::uint64_t zeros_ = 0;    // |d| smaller than every normal number
  std::uint64_t above_ = 0, below_ = 0;
  std::uint64_t digits_seen_ = 0;  // union of the binary digits of all values
};

}  // namespace zwang
