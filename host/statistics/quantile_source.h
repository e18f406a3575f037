// Sources of order statistics for quantiles: stored values, a sketch, or a selection made on the device.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace zwang {

class QuantileSketch;

class QuantileSource {
 public:
  virtual ~QuantileSource() = default;
  // The order statistics of these ranks (from 0, ascending, none twice).
  virtual std::vector<double> order_statistics(std::span<const long long> ranks) const = 0;
};

// Exact, from all values of a column. NaN is skipped.
class StoredValues : public QuantileSource {
 public:
  explicit StoredValues(std::span<const double> values) : values_(values) {}
  std::vector<double> order_statistics(std::span<const long long> ranks) const override;

 private:
  std::span<const double> values_;
};

// The same with values of its own.
class OwnValues : public QuantileSource {
 public:
  explicit OwnValues(std::vector<double> values) : values_(std::move(values)) {}
  std::vector<double> order_statistics(std::span<const long long> ranks) const override {
    return StoredValues(values_).order_statistics(ranks);
  }

 private:
  std::vector<double> values_;
};

// Estimates from the buckets of a sketch, clamped to the extremes, which are known exactly.
class SketchedValues : public QuantileSource {
 public:
  SketchedValues(const QuantileSketch& sketch, double minimum, double maximum)
      : sketch_(sketch), minimum_(minimum), maximum_(maximum) {}
  std::vector<double> order_statistics(std::span<const long long> ranks) const override;

 private:
  const QuantileSketch& sketch_;
  double minimum_, maximum_;
};

// Exact, selected beforehand: only the ranks in the list are available.
class SelectedValues : public QuantileSource {
 public:
  // ranks: ascending, none twice; values: the order statistics of these ranks.
  SelectedValues(std::vector<long long> ranks, std::vector<double> values);
  std::vector<double> order_statistics(std::span<const long long> ranks) const override;
  double at(long long rank) const;

 private:
  std::vector<long long> ranks_;
  std::vector<double> values_;
};

}  // namespace zwang
