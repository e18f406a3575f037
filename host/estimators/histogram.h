// A histogram: integer counts between equally spaced edges; values outside are counted separately.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace zwang {

class ByteReader;
class ByteWriter;

struct Range {
  double low = 0, high = 0;
  bool operator==(const Range&) const = default;
};

class Histogram {
 public:
  Histogram() = default;
  // low < high, both finite; bins >= 1.
  Histogram(double low, double high, std::size_t bins);

  // Bins include their lower edge, the last one both edges. NaN is skipped, infinite values are outside.
  void add(double x);
  void add_counts(std::span<const long long> counts);  // counted on a device: below, the bins, above
  void merge(const Histogram& other);                  // with the same edges; in any order

  const std::vector<double>& edges() const { return edges_; }       // bins + 1
  const std::vector<long long>& counts() const { return counts_; }  // bins
  double per_width() const { return per_width_; }
  long long below() const { return below_; }
  long long above() const { return above_; }

  void save(ByteWriter& bytes) const;
  // Loads the counts of `values` values; the edges are already set.
  void load(ByteReader& bytes, long long values);

 private:
  std::vector<double> edges_;
  std::vector<long long> counts_;
  long long below_ = 0, above_ = 0;
  double per_width_ = 0;  // bins / (high - low)
};

// The smallest and largest finite value; nothing if there is none.
std::optional<Range> finite_range(std::span<const double> values);
std::optional<Range> joined_range(const std::optional<Range>& a, const std::optional<Range>& b);

// The range of an automatic histogram: widened on either side by the fraction `share` of its width, or by 0.5
// if it has no width; 0 to 1 if nothing was found.
Range histogram_range(const std::optional<Range>& found, double share);

}  // namespace zwang
