// Quantiles of more values than memory holds: integer counts in buckets whose width grows with the distance from a
// pivot. Counts add up in any order, so any split of the values gives the same bits.
//
// A bucket is the sign, the exponent and the leading `digits` binary digits of the distance d = x - pivot. It needs no
// logarithm, hence no rounding: the same value falls into the same bucket on every machine. With 9 digits an order
// statistic is known to 2^-10 = 0.1 % of its distance from the pivot. The idea of relative buckets is that of DDSketch
// (Masson, Rim and Lee, PVLDB 12 (2019) 2195); where too many buckets are in use, neighbours are joined pairwise
// everywhere and the bound doubles (Epicoco et al., UDDSketch, IEEE Access 8 (2020) 147604). Rejected: dropping the
// smallest buckets instead, which leaves a heavy-tailed quantity without a median.
//
// The pivot should lie among the values: 1000 +- 0.1 is then resolved to 0.1 % of its spread, not of 1000.
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
  static constexpr std::size_t page_buckets = 64;  // buckets come in pages of 64, 512 bytes
  static constexpr std::size_t fewest_buckets =
      4096;  // with these even the whole range of doubles has a place
  static constexpr std::size_t most_buckets = std::size_t{1} << 22;

  // At most `buckets` are used (rounded to pages, and at least fewest_buckets).
  explicit QuantileSketch(double pivot = 0, std::size_t buckets = std::size_t{1} << 17);

  // NaN is left out. Infinite values are counted at the ends.
  void add(std::span<const double> values);

  // Values counted elsewhere, in buckets of the finest digits.
  void add_counts(const SketchExtras& extras, std::span<const SketchEntry> entries);

  // The other's pivot and bucket limit must be the same.
  void merge(const QuantileSketch& other);

  long long count() const;

  // Estimates of the order statistics of these ranks (from 0, ascending).
  std::vector<double> values_at(std::span<const long long> ranks) const;

  // An order statistic x is known to within relative_error() |x - pivot|, or 2.3e-308 where that is larger, and the
  // rounding of x. 0 where every value lies on the edge of its bucket, as whole numbers do.
  double relative_error() const;

  double pivot() const { return pivot_; }
  int digits() const { return digits_; }
  std::size_t memory() const;

  void save(ByteWriter& bytes) const;
  // `values`: how many it must have counted.
  static QuantileSketch load(ByteReader& bytes, double pivot, std::size_t buckets, long long values);

 private:
  // The buckets of one sign, by distance. Only pages that hold something exist.
  struct Side {
    std::int64_t first = 0;               // page number of directory[0]
    std::vector<std::int32_t> directory;  // position of the page in counts, or -1
    std::vector<std::uint64_t> counts;    // pages, in the order they came
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
  std::uint64_t zeros_ = 0;    // |d| below the normal numbers
  std::uint64_t above_ = 0, below_ = 0;
  std::uint64_t digits_seen_ = 0;  // every binary digit that any value had
};

}  // namespace zwang
