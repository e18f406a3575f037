// The error bound of the sketch holds for difficult distributions, and the order of the values does not
// matter.
#include "host/estimators/quantile_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <sstream>

#include "host/platform/bytes.h"
#include "src/base/error.h"

namespace zwang::quantile_sketch_test {
namespace {

using Values = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

double uniform(std::mt19937_64& generator) { return (double(generator() >> 11) + 0.5) * 0x1p-53; }

Values drawn(std::size_t count, unsigned seed, const std::function<double(double)>& quantile) {
  std::mt19937_64 generator(seed);
  Values values(count);
  for (double& x : values) x = quantile(uniform(generator));
  return values;
}

QuantileSketch sketch_of(const Values& values, double pivot = 0, std::size_t buckets = 1 << 17) {
  QuantileSketch sketch(pivot, buckets);
  sketch.add(values);
  return sketch;
}

std::string bytes_of(const QuantileSketch& sketch) {
  std::ostringstream stream;
  ByteWriter bytes(stream);
  sketch.save(bytes);
  bytes.finish();
  return stream.str();
}

struct Nasty {
  const char* name;
  std::function<double(double)> quantile;
  double error = 0.001;  // the largest bound it may report
};

class NastyDistribution : public testing::TestWithParam<Nasty> {};

// Every hundredth order statistic and both extremes, for a pivot among the values and for one outside.
TEST_P(NastyDistribution, KeepsTheErrorBound) {
  const Values values = drawn(200'000, 5, GetParam().quantile);
  Values sorted;
  for (const double x : values) {
    if (!std::isnan(x)) sorted.push_back(x);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<long long> ranks;
  for (std::size_t k = 0; k < sorted.size(); k += 100) ranks.push_back(static_cast<long long>(k));
  ranks.push_back(static_cast<long long>(sorted.size()) - 1);

  for (const double pivot : {0.0, sorted[sorted.size() / 2], 0.3}) {
    const QuantileSketch sketch = sketch_of(values, pivot);
    EXPECT_EQ(sketch.count(), static_cast<long long>(sorted.size()));
    EXPECT_LE(sketch.relative_error(), GetParam().error);
    const Values found = sketch.values_at(ranks);
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      const double x = sorted[std::size_t(ranks[k])];
      // The bound, plus the roundings of x - pivot and of adding the pivot again.
      const double allowed =
          sketch.relative_error() * std::abs(x - pivot) + 4e-16 * (std::abs(x) + std::abs(pivot));
      ASSERT_NEAR(found[k], x, allowed) << "rank " << ranks[k] << " pivot " << pivot;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sketch, NastyDistribution,
    testing::Values(Nasty{"HeavyTail", [](double u) { return std::tan(std::numbers::pi * (u - 0.5)); }},
                    Nasty{"Atoms",
                          [](double u) { return u < 0.6   ? 0.1
                                                : u < 0.9 ? -2.5
                                                          : std::exp(40 * u); }},
                    Nasty{"BothSigns", [](double u) { return (u - 0.37) * std::pow(10, 12 * u - 6); }},
                    Nasty{"Constant", [](double) { return 1234.5678; }},
                    Nasty{"MissingForSome", [](double u) { return u < 0.4 ? nan : 1e9 + u; }},
                    // Over 600 powers of two the buckets become coarser and report a larger bound.
                    Nasty{"ManyMagnitudes", [](double u) { return std::pow(10, 200 * (u - 0.5)); }, 0.004}),
    [](const auto& test) { return test.param.name; });

TEST(QuantileSketch, IsExactForWholeNumbers) {
  const Values values = drawn(50'000, 6, [](double u) { return std::floor(40 * u * u); });
  const QuantileSketch sketch = sketch_of(values, 3);
  EXPECT_EQ(sketch.relative_error(), 0);
  Values sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::vector<long long> ranks{0, 1000, 25'000, 49'999};
  const Values found = sketch.values_at(ranks);
  for (std::size_t k = 0; k < ranks.size(); ++k) EXPECT_EQ(found[k], sorted[std::size_t(ranks[k])]);
}

TEST(QuantileSketch, CountsInfinitiesAtTheEndsAndSkipsNan) {
  const QuantileSketch sketch = sketch_of({infinity, 1, nan, -infinity, 2, infinity});
  EXPECT_EQ(sketch.count(), 5);
  const std::vector<long long> ranks{0, 1, 2, 3, 4};
  EXPECT_EQ(sketch.values_at(ranks), (Values{-infinity, 1, 2, infinity, infinity}));
}

TEST(QuantileSketch, KeepsZerosAndTheSmallestNumbersApartFromSigns) {
  const QuantileSketch sketch = sketch_of({0.0, -0.0, 5e-324, -1, 1});
  const std::vector<long long> ranks{0, 1, 3, 4};
  EXPECT_EQ(sketch.values_at(ranks), (Values{-1, 0, 0, 1}));
}

TEST(QuantileSketch, IsTheSameInAnyOrderAndAnySplit) {
  Values values = drawn(30'000, 7, [](double u) { return (u - 0.5) * std::pow(10, 20 * u); });
  const QuantileSketch whole = sketch_of(values);
  std::mt19937_64 generator(8);
  for (const std::size_t buckets : {std::size_t{1} << 17, std::size_t{4096}}) {
    const std::string expected = bytes_of(sketch_of(values, 0, buckets));
    std::shuffle(values.begin(), values.end(), generator);
    EXPECT_EQ(bytes_of(sketch_of(values, 0, buckets)), expected);

    // Three parts, merged in two ways.
    const auto part = [&](std::size_t first, std::size_t last) {
      return sketch_of(Values(values.begin() + std::ptrdiff_t(first), values.begin() + std::ptrdiff_t(last)),
                       0, buckets);
    };
    QuantileSketch left = part(0, 10), right = part(12'000, 30'000);
    left.merge(part(10, 12'000));
    left.merge(right);
    EXPECT_EQ(bytes_of(left), expected);
    right.merge(part(10, 12'000));
    right.merge(part(0, 10));
    EXPECT_EQ(bytes_of(right), expected);
  }
}

TEST(QuantileSketch, GrowsCoarserRatherThanLarger) {
  const Values values = drawn(300'000, 9, [](double u) { return (u - 0.5) * std::pow(10, 300 * u); });
  const QuantileSketch sketch = sketch_of(values, 0, QuantileSketch::fewest_buckets);
  EXPECT_LT(sketch.digits(), QuantileSketch::finest_digits);
  EXPECT_GE(sketch.digits(), 0);
  EXPECT_LT(sketch.memory(), 2 * QuantileSketch::fewest_buckets * sizeof(std::uint64_t));

  // Coarser, but still within the reported bound.
  Values sorted = values;
  std::sort(sorted.begin(), sorted.end());
  for (long long rank = 0; rank < 300'000; rank += 9999) {
    const double x = sorted[std::size_t(rank)];
    EXPECT_NEAR(sketch.values_at(std::vector{rank})[0], x, sketch.relative_error() * std::abs(x));
  }
}

TEST(QuantileSketch, HoldsTheWholeRangeOfDoublesInTheFewestBuckets) {
  Values values;
  for (int exponent = -1022; exponent <= 1023; ++exponent) {
    values.push_back(std::ldexp(1.3, exponent));
    values.push_back(-std::ldexp(1.7, exponent));
  }
  const QuantileSketch sketch = sketch_of(values, 0, 0);
  EXPECT_EQ(sketch.count(), static_cast<long long>(values.size()));
  EXPECT_GE(sketch.digits(), 0);
}

TEST(QuantileSketch, IsRestoredFromItsBytes) {
  const QuantileSketch sketch = sketch_of(drawn(5000, 10, [](double u) { return std::log(u); }), -0.5, 4096);
  std::istringstream stream(bytes_of(sketch));
  ByteReader bytes(stream, "test");
  const QuantileSketch again = QuantileSketch::load(bytes, -0.5, 4096, sketch.count());
  EXPECT_EQ(bytes_of(again), bytes_of(sketch));
  EXPECT_EQ(again.relative_error(), sketch.relative_error());
}

}  // namespace
}  // namespace zwang::quantile_sketch_test
