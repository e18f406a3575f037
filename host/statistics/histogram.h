// A histogram: integer counts between equally spaced edges, with what lies outside counted apart.
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

  // Bins hold their lower edge, the last one both. NaN is left out, infinite values are outside.
  void add(double x);
  void add_counts(std::span<const long long> counts);  // counted elsewhere: below, the bins, above
  void merge(const Histogram& other);                  // of the same edges; in any order

  const std::vector<double>& edges() const { return edges_; }       // bins + 1
  const std::vector<long long>& counts() const { return counts_; }  // bins
  double per_width() const { return per_width_; }
  long long below() const { return below_; }
  long long above() const { return above_; }

  void save(ByteWriter& bytes) const;
  // Counts only, of so many values: the edges are known before.
  void load(ByteReader& bytes, long long values);

 private:
  std::vector<double> edges_;
  std::vector<long long> counts_;
  long long below_ = 0, above_ = 0;
  double per_width_ = 0;  // bins / (high - low)
};

// The smallest and largest finite value; nothing where there is none.
std::optional<Range> finite_range(std::span<const double> values);
std::optional<Range> joined_range(const std::optional<Range>& a, const std::optional<Range>& b);

// A range to lay bins over: widened on either side by `share` of itself, by a half where it has no width; 0 to 1
// where nothing is known.
Range histogram_range(const std::optional<Range>& found, double share);

}  // namespace zwang
