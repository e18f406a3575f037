// Thrust as an independent judge of kernels/reduce and of the ranks: it sorts, searches and counts by
// algorithms that are not ours. Here on its host backend; the tests named Gpu use libzwang_thrust.so on a
// device.
#include <gtest/gtest.h>
#include <thrust/binary_search.h>
#include <thrust/count.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "host/backend/cuda/library.h"
#include "host/backend/cuda/thrust_module.h"
#include "host/backend/cuda/thrust_ranks.h"
#include "host/backend/device_columns.h"
#include "host/estimators/rank_correlation.h"
#include "host/statistics/column_store.h"
#include "kernels/reduce/counts.h"
#include "tests/support/awkward_members.h"
#include "tests/support/reduce_on_host.h"

namespace zwang {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();

// Ties, both zeros, infinities, subnormal numbers, and some missing values.
std::vector<double> awkward_column(std::size_t rows, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> column;
  for (std::size_t k = 0; k < rows; ++k) {
    const double special[] = {0.0, -0.0, endless, -endless, 5e-324, -5e-324, 1.0, nothing};
    const auto which = generator() % 40;
    column.push_back(which < 8    ? special[which]
                     : which < 20 ? std::round(4 * normal(generator))
                                  : normal(generator));
  }
  return column;
}

std::vector<double> without_nan(std::vector<double> values) {
  std::erase_if(values, [](double x) { return std::isnan(x); });
  return values;
}

TEST(Thrust, SelectsTheSameOrderStatisticsAsTheCountOfDigits) {
  const std::vector<double> column = awkward_column(5000, 1);
  HostMachine device;
  const auto address = *device.allocate(column.size() * sizeof(double));
  device.copy_in(address, column.data(), column.size() * sizeof(double));
  const auto store = make_device_columns(device, address, 1, column.size());
  std::vector<double> sorted = without_nan(column);
  thrust::sort(sorted.begin(), sorted.end());
  std::vector<long long> ranks;
  for (std::size_t k = 0; k < sorted.size(); k += 7) ranks.push_back(static_cast<long long>(k));
  std::vector<ColumnStore*> parts{store.get()};
  const std::vector<double> found = select_order_statistics(parts, {ranks}).at(0);
  ASSERT_EQ(found.size(), ranks.size());
  for (std::size_t k = 0; k < ranks.size(); ++k)
    EXPECT_EQ(found[k], sorted[static_cast<std::size_t>(ranks[k])]) << "rank " << ranks[k];
}

TEST(Thrust, CountsTheSameHistogram) {
  const std::vector<double> column = awkward_column(5000, 2);
  std::vector<double> edges;
  for (int k = 0; k <= 60; ++k) edges.push_back(-3 + 0.1 * k);
  HostMachine device;
  const auto address = *device.allocate(column.size() * sizeof(double));
  device.copy_in(address, column.data(), column.size() * sizeof(double));
  const auto store = make_device_columns(device, address, 1, column.size());
  std::vector<long long> counts(edges.size() + 1, 0);
  const std::vector<long long> columns{0};
  store->count_bins(columns, edges, 60 / (edges.back() - edges.front()), counts);

  // Number of edges at or below each value; the last bin contains its upper edge.
  const std::vector<double> values = without_nan(column);
  std::vector<long> places(values.size());
  thrust::upper_bound(edges.begin(), edges.end(), values.begin(), values.end(), places.begin());
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] == edges.back()) --places[k];
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
    EXPECT_EQ(counts[bin], thrust::count(places.begin(), places.end(), static_cast<long>(bin)))
        << "bin " << bin;
}

TEST(Thrust, FindsTheMomentsOfTheReductions) {
  AwkwardMembers given(2560, 9, 2);
  HostMachine device;
  ReductionPlan plan;
  plan.series = 9;
  plan.measures = 2;
  plan.parameters = AwkwardMembers::parameter_count;
  const auto reduced = reduce_members(device, plan, given.batch(0, 2560), 0);
  ASSERT_TRUE(reduced);
  for (std::size_t c = 0; c < 9; ++c) {
    std::vector<double> values;
    for (std::size_t k = 0; k < 2560; ++k)
      if (given.enters(static_cast<long long>(k), false)) values.push_back(given.observables[k * 9 + c]);
    std::erase_if(values, [](double x) { return !std::isfinite(x); });
    long long finite = 0;
    for (std::size_t node = 0; node < reduced->blocks.nodes.size(); ++node)
      finite += reduced->blocks.parts[node * plan.columns() + c].finite;
    EXPECT_EQ(finite, static_cast<long long>(values.size()));
    // The sum over the nodes of the tree, against Thrust's sum in an order of its own.
    double sum = 0, size = 0;
    for (std::size_t node = 0; node < reduced->blocks.nodes.size(); ++node) {
      const ColumnPart& part = reduced->blocks.parts[node * plan.columns() + c];
      sum += double(part.finite) * (part.pivot + part.offset);
    }
    for (const double x : values) size += std::abs(x);
    if (!std::isfinite(size)) continue;  // values so large that no plain sum of them is finite
    // Of 2560 additions, relative to the sum of the sizes; a mean of subnormal numbers is rounded to the
    // least of them.
    constexpr double rounding = 1e-12, least = std::numeric_limits<double>::denorm_min();
    EXPECT_NEAR(sum, thrust::reduce(values.begin(), values.end(), 0.0),
                rounding * size + least * double(values.size()))
        << "column " << c;
  }
}

// The correlation of the ranks that `ranker` finds, against those of the host.
void expect_the_hosts_ranks(std::size_t rows, const ColumnRanker& ranker) {
  const std::vector<std::vector<double>> values = {awkward_column(rows, 3), awkward_column(rows, 4),
                                                   std::vector<double>(rows, 7.0),
                                                   std::vector<double>(rows, nothing)};
  std::vector<std::span<const double>> columns(values.begin(), values.end());
  std::vector<double> whole(rows);
  for (std::size_t k = 0; k < rows; ++k) whole[k] = values[0][k] == values[0][k] ? values[0][k] * 2 : 1;
  columns.emplace_back(whole);
  const Matrix found = rank_correlation_matrix(columns, 2, ranker),
               expected = rank_correlation_matrix(columns, 2);
  for (std::size_t k = 0; k < found.size(); ++k)
    EXPECT_TRUE(found[k] == expected[k] || (std::isnan(found[k]) && std::isnan(expected[k])))
        << k << ": " << found[k] << ", " << expected[k];
}

TEST(Thrust, RanksAsTheHostDoes) {
  for (const std::size_t rows : {1, 2, 255, 6000})
    expect_the_hosts_ranks(
        rows,
        [](std::span<const double> values, std::span<std::uint32_t> ranks) -> std::optional<std::size_t> {
          return rank_by_thrust(values.data(), values.size(), ranks.data());
        });
}

TEST(GpuThrust, RanksAsTheHostDoes) {
  if (cuda::devices_here() == 0) GTEST_SKIP() << "no GPU: " << cuda::why_no_device();
  const ColumnRanker ranker = thrust_ranker(0);
  if (!ranker) GTEST_SKIP() << "built without libzwang_thrust.so";
  std::size_t ranked = 0;
  expect_the_hosts_ranks(std::size_t{5} << 20,
                         [&](std::span<const double> values, std::span<std::uint32_t> ranks) {
                           const auto present = ranker(values, ranks);
                           ranked += present.has_value() ? 1 : 0;
                           return present;
                         });
  EXPECT_EQ(ranked, 5U);
}

}  // namespace
}  // namespace zwang
