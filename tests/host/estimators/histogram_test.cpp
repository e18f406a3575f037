// Histograms: the bins of values, and automatic ranges.
#include "host/estimators/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace zwang::histogram_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Histogram, BinsIncludeTheirLowerEdgeAndTheLastBoth) {
  Histogram histogram(0, 3, 3);
  for (const double x : {0.0, 0.5, 1.0, 2.0, 3.0}) histogram.add(x);
  EXPECT_EQ(histogram.counts(), (std::vector<long long>{2, 1, 2}));
  EXPECT_EQ(histogram.edges(), (std::vector<double>{0, 1, 2, 3}));
}

TEST(Histogram, CountsValuesOutsideAndSkipsNan) {
  Histogram histogram(-1, 1, 4);
  for (const double x : {-1.0001, 1.0001, infinity, -infinity, nan, 0.0}) histogram.add(x);
  EXPECT_EQ(histogram.below(), 2);
  EXPECT_EQ(histogram.above(), 2);
  EXPECT_EQ(histogram.counts(), (std::vector<long long>{0, 0, 1, 0}));
}

// Edges such as 0.1 * 3 differ in rounding from the result of a division.
TEST(Histogram, AgreesWithItsOwnEdges) {
  std::mt19937_64 generator(4);
  Histogram histogram(0.1, 0.7, 60);
  std::vector<long long> counted(60, 0);
  const std::vector<double>& edges = histogram.edges();
  std::vector<double> values = edges;
  // Just below an edge, where a division tends to round up to the edge.
  for (const double edge : edges) values.push_back(std::max(0.1, std::nextafter(edge, 0.0)));
  for (int k = 0; k < 10'000; ++k) values.push_back(0.1 + 0.6 * (double(generator() >> 11) * 0x1p-53));
  for (const double x : values) {
    histogram.add(x);
    std::size_t bin = 59;
    while (bin > 0 && x < edges[bin]) --bin;
    ++counted[bin];
  }
  EXPECT_EQ(histogram.counts(), counted);
  EXPECT_EQ(edges.back(), 0.7);
}

TEST(Histogram, SpansMoreThanTheLargestDouble) {
  const double largest = std::numeric_limits<double>::max();
  Histogram histogram(-largest, largest, 2);
  for (const double x : {-1e308, -1.0, 1.0, 1e308}) histogram.add(x);
  EXPECT_EQ(histogram.counts(), (std::vector<long long>{2, 2}));
}

TEST(Histogram, MergedIsTheHistogramOfAll) {
  Histogram a(0, 1, 5), b(0, 1, 5), all(0, 1, 5);
  for (int k = -20; k < 120; ++k) {
    (k % 3 == 0 ? a : b).add(0.01 * k);
    all.add(0.01 * k);
  }
  a.merge(b);
  EXPECT_EQ(a.counts(), all.counts());
  EXPECT_EQ(a.below(), all.below());
  EXPECT_EQ(a.above(), all.above());
}

TEST(HistogramRange, IsThatOfTheFiniteValuesWidened) {
  const std::vector<double> values{nan, 4, infinity, 2, -infinity};
  EXPECT_EQ(histogram_range(finite_range(values), 0), (Range{2, 4}));
  EXPECT_EQ(histogram_range(finite_range(values), 0.5), (Range{1, 5}));
}

TEST(HistogramRange, ExistsForConstantsAndForNothing) {
  EXPECT_EQ(histogram_range(std::nullopt, 0.5), (Range{0, 1}));
  EXPECT_EQ(histogram_range(Range{3, 3}, 0), (Range{2.5, 3.5}));
  const Range large = histogram_range(Range{1e20, 1e20}, 0);
  EXPECT_LT(large.low, large.high);
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(histogram_range(Range{-largest, largest}, 0.5), (Range{-largest, largest}));
}

}  // namespace
}  // namespace zwang::histogram_test
