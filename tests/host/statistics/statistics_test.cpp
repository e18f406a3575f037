// Statistics of a synthetic ensemble: correct, and bit-identical for any batches and threads.
#include "host/statistics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "host/statistics/until.h"
#include "tests/support/statistics_fixture.h"

namespace zwang::statistics_test {
namespace {

// Memory limits: buckets with the smaller one, exact values with the larger one, for 5000 members of the
// ensemble.
constexpr std::size_t small_memory = 20'000, medium_memory = 400'000;

std::vector<double> sorted_column(const MadeUpEnsemble& ensemble, std::span<const double> table,
                                  std::size_t width, std::size_t column) {
  std::vector<double> values;
  for (std::size_t k = 0; k < ensemble.entered.size(); ++k) {
    const double x = table[k * width + column];
    if (ensemble.entered[k] != 0 && !std::isnan(x)) values.push_back(x);
  }
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Statistics, EqualADirectComputation) {
  const MadeUpEnsemble ensemble(3001);
  const StatisticsResult result = ensemble.result(ensemble.plan(), 1000, 2);
  const long long entered = std::count(ensemble.entered.begin(), ensemble.entered.end(), char(1));
  EXPECT_EQ(result.members, 3001);
  EXPECT_EQ(result.entered, entered);
  ASSERT_EQ(result.observables.size(), 21U);
  for (std::size_t c = 0; c < 21; ++c) {
    const std::vector<double> values = sorted_column(ensemble, ensemble.observables, 21, c);
    const SeriesStatistics& series = result.observables[c];
    long double mean = 0, square = 0;
    for (const double x : values) mean += x;
    mean /= static_cast<long double>(values.size());
    for (const double x : values) square += (x - mean) * (x - mean);
    const auto std = static_cast<double>(std::sqrt(square / static_cast<long double>(values.size() - 1)));
    EXPECT_EQ(series.moments.count, static_cast<long long>(values.size()));
    EXPECT_EQ(series.missing, entered - series.moments.count);
    EXPECT_NEAR(series.moments.mean, static_cast<double>(mean),
                1e-12 * std + 2e-16 * std::abs(series.moments.mean));
    EXPECT_NEAR(series.moments.std, std, 1e-12 * std);
    EXPECT_EQ(series.moments.minimum, values.front());
    EXPECT_EQ(series.moments.maximum, values.back());
    // The median by hand, and its interval around it.
    const double position = 0.5 * double(values.size() - 1);
    const auto left = static_cast<std::size_t>(position);
    const double median = values[left] + (values[std::min(left + 1, values.size() - 1)] - values[left]) *
                                             (position - double(left));
    EXPECT_NEAR(series.quantiles[1].value, median, 1e-15 * std::abs(median));
    EXPECT_LE(series.quantiles[1].low, median);
    EXPECT_GE(series.quantiles[1].high, median);
    EXPECT_LT(series.mean_low, series.moments.mean + (std == 0));
  }
  EXPECT_TRUE(result.observable_quantiles.exact);
  EXPECT_TRUE(result.measure_quantiles.exact);
  EXPECT_EQ(result.covariance.size(), 16U);
}

TEST(Statistics, HistogramsCountEveryMemberOnce) {
  const MadeUpEnsemble ensemble(5000);
  for (const std::size_t memory : {small_memory, std::size_t{512} << 20}) {
    StatisticsPlan plan = ensemble.plan();
    plan.memory = memory;
    const StatisticsResult result = ensemble.result(plan, 999, 1);
    ASSERT_EQ(result.histograms.size(), 3U);
    for (const HistogramResult& histogram : result.histograms) {
      ASSERT_EQ(histogram.counts.size(), histogram.of_measure ? 1U : 7U);
      for (std::size_t t = 0; t < histogram.counts.size(); ++t) {
        long long sum = histogram.below[t] + histogram.above[t];
        for (const long long n : histogram.counts[t]) sum += n;
        const auto& series = histogram.of_measure ? result.measures[histogram.index]
                                                  : result.observables[t * 3 + histogram.index];
        EXPECT_EQ(sum, series.moments.count);
      }
    }
  }
}

class Memory : public testing::TestWithParam<std::size_t> {};

TEST_P(Memory, ThreadsAndBatchesChangeNoBit) {
  const MadeUpEnsemble ensemble(5000);
  StatisticsPlan plan = ensemble.plan();
  plan.memory = GetParam();
  plan.replicates = 4;
  plan.replicate_of = [](long long member) { return int(member % 4); };
  const auto expected = bits_of(ensemble.result(plan, 5000, 1));
  for (const long long batch : {1, 7, 255, 256, 257, 1000, 4999}) {
    for (const unsigned threads : {1U, 3U}) {
      EXPECT_EQ(bits_of(ensemble.result(plan, batch, threads)), expected) << batch << " " << threads;
    }
  }
}

TEST_P(Memory, OneMemberMoreOrLessChangesBits) {
  const MadeUpEnsemble ensemble(5000);
  StatisticsPlan plan = ensemble.plan();
  plan.memory = GetParam();
  Statistics shorter(plan);
  ensemble.add_to(shorter, 0, 4999, 512, 1);
  EXPECT_NE(bits_of(shorter.finish()), bits_of(ensemble.result(plan, 512, 1)));
}

INSTANTIATE_TEST_SUITE_P(Budget, Memory,
                         testing::Values(small_memory, medium_memory, std::size_t{512} << 20));

TEST(Statistics, BucketsStayWithinTheirBound) {
  const MadeUpEnsemble ensemble(20'000);
  StatisticsPlan plan = ensemble.plan();
  plan.memory = small_memory;
  const StatisticsResult exact = ensemble.result(ensemble.plan(), 4096, 2),
                         rough = ensemble.result(plan, 4096, 2);
  ASSERT_FALSE(rough.observable_quantiles.exact);
  ASSERT_FALSE(rough.measure_quantiles.exact);
  EXPECT_GT(rough.observable_quantiles.relative_error, 0);
  for (std::size_t c = 0; c < exact.observables.size(); ++c) {
    // The pivot is one of the values: no value is further from it than the whole range.
    const Moments& moments = exact.observables[c].moments;
    for (std::size_t q = 0; q < 3; ++q) {
      const Quantile &a = exact.observables[c].quantiles[q], &b = rough.observables[c].quantiles[q];
      const double pivot_distance =
          std::max(std::abs(a.value - exact.observables[c].quantiles[1].value), 0.1 * moments.std);
      EXPECT_NEAR(b.value, a.value, 2 * rough.observable_quantiles.relative_error * pivot_distance + 1e-9);
    }
  }
  // Small integers are exact even in buckets.
  for (std::size_t q = 0; q < 3; ++q) {
    EXPECT_EQ(rough.measures[0].quantiles[q].value, exact.measures[0].quantiles[q].value);
  }
  // Ranks are over a part of the members, as rank_stride of the result tells.
  EXPECT_GT(rough.rank_stride, 1);
  EXPECT_EQ(exact.rank_stride, 1);
  EXPECT_NEAR(rough.rank_correlation[2], exact.rank_correlation[2], 0.3);
}

TEST(Statistics, RanksAboveTheBudgetAreThoseOfEveryStrideThMember) {
  const MadeUpEnsemble ensemble(5000);
  StatisticsPlan plan = ensemble.plan();
  plan.memory = small_memory;
  const StatisticsResult rough = ensemble.result(plan, 5000, 1);

  // The same members alone, as an ensemble.
  const auto stride = std::size_t(rough.rank_stride);
  MadeUpEnsemble thinned(0);
  for (std::size_t k = 0; k < 5000; k += stride) {
    ++thinned.members;
    thinned.entered.push_back(ensemble.entered[k]);
    const auto append = [&](std::vector<double>& to, const std::vector<double>& from, std::size_t width) {
      for (std::size_t c = 0; c < width; ++c) to.push_back(from[k * width + c]);
    };
    append(thinned.observables, ensemble.observables, 21);
    append(thinned.measures, ensemble.measures, 2);
    append(thinned.inputs, ensemble.inputs, 2);
  }
  const StatisticsResult exact = thinned.result(thinned.plan(), 100, 1);
  for (std::size_t k = 0; k < 16; ++k) EXPECT_EQ(rough.rank_correlation[k], exact.rank_correlation[k]);
}

TEST(Statistics, StorageFollowsTheBudget) {
  StatisticsPlan plan;
  plan.members = 1'000'000;
  plan.outputs = 101;
  plan.observables = 5;
  plan.measures = 13;
  plan.inputs = 10;
  const Storage storage = choose_storage(plan);
  EXPECT_TRUE(storage.exact_measures);
  EXPECT_FALSE(storage.exact_observables);
  const double bytes = 1e6 * 23 * 12 + 505.0 * double(storage.observable_buckets) * 8;
  EXPECT_LE(bytes, double(plan.memory));

  plan.members = 100'000;
  EXPECT_TRUE(choose_storage(plan).exact_observables);
  plan.members = 1'000'000'000;
  EXPECT_FALSE(choose_storage(plan).exact_measures);
}

TEST(Statistics, OfNoMembersAreEmpty) {
  const MadeUpEnsemble ensemble(0);
  Statistics statistics(ensemble.plan());
  const StatisticsResult result = statistics.finish();
  EXPECT_EQ(result.entered, 0);
  EXPECT_TRUE(std::isnan(result.measures[0].moments.mean));
  EXPECT_TRUE(std::isnan(result.covariance[0]));
}

// --- Replicates --------------------------------------------------------------------------------------------

TEST(Replicates, GiveTheErrorFromTheSpreadOfTheirMeans) {
  const MadeUpEnsemble ensemble(4000);
  StatisticsPlan plan = ensemble.plan();
  plan.replicates = 8;
  plan.replicate_of = [](long long member) { return int(member / 500); };
  const StatisticsResult result = ensemble.result(plan, 333, 2);

  std::vector<double> sums(8, 0.0), counts(8, 0.0);
  for (std::size_t k = 0; k < 4000; ++k) {
    if (ensemble.entered[k] == 0) continue;
    sums[k / 500] += ensemble.measures[2 * k];
    ++counts[k / 500];
  }
  double mean = 0, square = 0;
  for (std::size_t r = 0; r < 8; ++r) mean += sums[r] / counts[r] / 8;
  for (std::size_t r = 0; r < 8; ++r) square += std::pow(sums[r] / counts[r] - mean, 2);
  const double error = std::sqrt(square / 7 / 8);
  const SeriesStatistics& measure = result.measures[0];
  EXPECT_NEAR(measure.standard_error, error, 1e-12);
  EXPECT_NE(measure.standard_error, measure.moments.standard_error);
  // Student's t with 7 degrees of freedom, from a table.
  EXPECT_NEAR(measure.mean_high - measure.moments.mean, 2.3646 * error, 1e-4 * error);
}

TEST(Replicates, FewerThanTwoGiveNoError) {
  const MadeUpEnsemble ensemble(600);
  StatisticsPlan plan = ensemble.plan();
  plan.replicates = 2;
  plan.replicate_of = [](long long) { return 1; };
  EXPECT_TRUE(std::isnan(ensemble.result(plan, 100, 1).measures[0].standard_error));
}

// --- Until -------------------------------------------------------------------------------------------------

TEST(Until, DecidesAtFixedCountsOnly) {
  EXPECT_EQ(next_decision(0, 1'000'000), 1024);
  EXPECT_EQ(next_decision(1023, 1'000'000), 1024);
  EXPECT_EQ(next_decision(1024, 1'000'000), 2048);
  EXPECT_EQ(next_decision(3000, 1'000'000), 4096);
  EXPECT_EQ(next_decision(3000, 3500), 3500);
  EXPECT_EQ(next_decision(0, 10), 10);
  EXPECT_FALSE(is_decision(512));
  EXPECT_TRUE(is_decision(8192));
  EXPECT_FALSE(is_decision(8193));
}

// The number of members a run needs, with batches that end at the decisions.
long long members_until(const MadeUpEnsemble& ensemble, const UntilRule& rule, long long batch) {
  Statistics statistics(ensemble.plan());
  while (statistics.members() < ensemble.members && !until_met(rule, statistics)) {
    const long long done = statistics.members(), end = next_decision(done, ensemble.members);
    statistics.add(ensemble.rows(done, std::min(batch, end - done)), 2);
  }
  return statistics.members();
}

TEST(Until, StopsAtTheSameMemberForAnyBatch) {
  const MadeUpEnsemble ensemble(20'000, 1);
  // The spread of measure 0 is about as large as its mean: 2 % needs a few thousand members.
  const UntilRule rule{.measure = 0, .limit = 0.02};
  const long long stopped = members_until(ensemble, rule, 20'000);
  EXPECT_TRUE(is_decision(stopped));
  EXPECT_GT(stopped, 1024);
  EXPECT_LT(stopped, 20'000);
  for (const long long batch : {100, 777, 1024, 5000})
    EXPECT_EQ(members_until(ensemble, rule, batch), stopped);
}

TEST(Until, RunsToTheEndIfTheErrorStaysLarge) {
  const MadeUpEnsemble ensemble(3000, 1);
  EXPECT_EQ(members_until(ensemble, {.measure = 0, .limit = 1e-9}, 500), 3000);
}

TEST(Until, DoesNotStopBeforeARareEventHasOccurred) {
  MadeUpEnsemble ensemble(4096, 1);
  for (std::size_t k = 0; k < 4096; ++k) ensemble.measures[2 * k] = 0;
  EXPECT_EQ(members_until(ensemble, {.measure = 0, .limit = 0.5}, 4096), 4096);
  for (std::size_t k = 0; k < 4096; ++k) ensemble.measures[2 * k] = 3;
  EXPECT_EQ(members_until(ensemble, {.measure = 0, .limit = 0.5}, 4096), 1024);
}

}  // namespace
}  // namespace zwang::statistics_test
