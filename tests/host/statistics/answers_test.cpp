// Probabilities, exceedance and statistics of members with a flag, against a count by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "host/statistics/statistics.h"
#include "host/statistics/until.h"
#include "tests/support/statistics_fixture.h"

namespace zwang::answers_test {
namespace {

// A plan of one measure, one flag and one input, without observables.
struct OneMeasure {
  explicit OneMeasure(std::size_t members) : entered(members, 1) {
    plan.members = static_cast<long long>(members);
    plan.measures = plan.inputs = plan.flags = 1;
    plan.quantiles = {0.5};
  }
  StatisticsResult result(std::size_t batch = 1000) const {
    Statistics made(plan);
    for (std::size_t k = 0; k < entered.size(); k += batch) {
      const std::size_t n = std::min(batch, entered.size() - k);
      made.add({static_cast<long long>(k),
                std::span(entered).subspan(k, n),
                {},
                std::span(measures).subspan(2 * k, 2 * n),
                std::span(inputs).subspan(k, n)});
    }
    return made.finish();
  }
  void add(double measure, double flag, double input) {
    measures.push_back(measure);
    measures.push_back(flag);
    inputs.push_back(input);
  }
  StatisticsPlan plan;
  std::vector<char> entered;
  std::vector<double> measures, inputs;
};

constexpr double none = std::numeric_limits<double>::quiet_NaN();

TEST(Answers, RecogniseMeasuresThatAreZeroOrOneByTheirValues) {
  for (const std::size_t memory : {std::size_t{512} << 20, std::size_t{1000}}) {
    OneMeasure hits(3000), nearly(3000), missing(3000);
    for (int k = 0; k < 3000; ++k) {
      hits.add(k % 150 == 7 ? 1 : 0, 0, k);
      nearly.add(k == 2999 ? 0.5 : k % 2, 0, k);
      missing.add(k % 3 == 0 ? none : k % 2, 0, k);
    }
    for (OneMeasure* one : {&hits, &nearly, &missing}) one->plan.memory = memory;
    EXPECT_EQ(choose_storage(hits.plan).exact_measures, memory > 1000);
    const SeriesStatistics found = hits.result().measures[0];
    ASSERT_TRUE(found.probability);
    EXPECT_EQ(found.probability->hits, 20);
    EXPECT_EQ(found.probability->of, 3000);
    EXPECT_FALSE(found.by_form);
    EXPECT_FALSE(found.occurs);
    EXPECT_EQ(found.mean_low, proportion(20, 3000).low);
    EXPECT_EQ(found.mean_high, proportion(20, 3000).high);
    EXPECT_FALSE(nearly.result().measures[0].probability);
    const SeriesStatistics some = missing.result().measures[0];
    ASSERT_TRUE(some.probability && some.occurs);
    EXPECT_EQ(some.probability->of, 2000);
    EXPECT_EQ(some.occurs->hits, 2000);
    EXPECT_EQ(some.occurs->of, 3000);
  }
}

// A-exceedance
TEST(Answers, CountMembersAboveALevelStrictly) {
  OneMeasure ten(11);
  for (const double x : {3, 1, 4, 1, 5, 9, 2, 6, 5, 3}) ten.add(x, 0, 0);
  ten.add(none, 0, 0);
  ten.plan.exceedances = {{.measure = 0, .at = {0, 1, 2.5, 3, 5, 8.75, 9}, .points = 0}};
  const ExceedanceResult found = ten.result().exceedances[0];
  const long long expected[] = {10, 8, 7, 5, 2, 1, 0};
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_EQ(found.above[k].hits, expected[k]);
    EXPECT_EQ(found.above[k].of, 11);  // the missing value counts and exceeds nothing
    EXPECT_EQ(found.above[k].low, proportion(expected[k], 11).low);
  }
  EXPECT_EQ(found.relative_error, 0);
}

TEST(Answers, SpreadThePointsOfAnExceedanceCurveEvenlyInLogCounts) {
  OneMeasure many(10'000);
  for (int k = 0; k < 10'000; ++k) many.add(std::sin(k), 0, 0);
  many.plan.exceedances = {{.measure = 0, .at = {}, .points = 5}};
  const ExceedanceResult exact = many.result().exceedances[0];
  ASSERT_EQ(exact.at.size(), 5u);
  const long long expected[] = {9999, 1000, 100, 10, 1};
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(exact.above[k].hits, expected[k]);

  // From buckets: the counts fall, and x is known to the stated error.
  many.plan.memory = 1000;
  const ExceedanceResult rough = many.result().exceedances[0];
  EXPECT_GT(rough.relative_error, 0);
  for (std::size_t k = 1; k < rough.at.size(); ++k) {
    EXPECT_GT(rough.at[k], rough.at[k - 1]);
    EXPECT_LE(rough.above[k].hits, rough.above[k - 1].hits);
  }
}

TEST(Answers, GiveStatisticsOfTheMembersWithAFlag) {
  for (const std::size_t memory : {std::size_t{512} << 20, std::size_t{1000}}) {
    OneMeasure all(5000), some(5000);
    all.plan.memory = some.plan.memory = memory;
    all.plan.givens = {{.flag = 0, .observables = false}};
    long long chosen = 0;
    for (int k = 0; k < 5000; ++k) {
      const bool flag = std::sin(k) > 0.8;
      all.add(std::floor(10 * std::cos(k)), flag ? 1 : 0, std::sin(k));
      // The same ensemble with the others left out.
      some.add(flag ? std::floor(10 * std::cos(k)) : none, 0, flag ? std::sin(k) : none);
      chosen += flag ? 1 : 0;
    }
    const StatisticsResult found = all.result(777), expected = some.result();
    const GivenResult& given = found.givens[0];
    EXPECT_EQ(given.share.hits, chosen);
    EXPECT_EQ(given.share.of, 5000);
    EXPECT_EQ(given.measures[0].moments.mean, expected.measures[0].moments.mean);
    EXPECT_EQ(given.measures[0].moments.std, expected.measures[0].moments.std);
    EXPECT_EQ(given.measures[0].quantiles[0].value, expected.measures[0].quantiles[0].value);
    EXPECT_EQ(given.measures[0].missing, 0);
    EXPECT_EQ(given.inputs[0].moments.mean, expected.inputs[0].moments.mean);
    const Moments& input = found.inputs[0].moments;
    EXPECT_NEAR(given.shift[0], (given.inputs[0].moments.mean - input.mean) / input.std, 1e-15);
    EXPECT_GT(given.shift_error[0], 0);
  }
}

TEST(Answers, UntilWaitsForTenHitsAndTenMisses) {
  const auto stopped = [](int every, UntilRule rule) {
    OneMeasure hits(16'384);
    for (int k = 0; k < 16'384; ++k) hits.add(k % every == 0 ? 1 : 0, 0, 0);
    Statistics made(hits.plan);
    while (made.members() < 16'384 && !until_met(rule, made)) {
      const auto k = static_cast<std::size_t>(made.members()),
                 n = static_cast<std::size_t>(next_decision(made.members(), 16'384)) - k;
      made.add({static_cast<long long>(k),
                std::span(hits.entered).subspan(k, n),
                {},
                std::span(hits.measures).subspan(2 * k, 2 * n),
                std::span(hits.inputs).subspan(k, n)});
    }
    return made.members();
  };
  using Error = UntilRule::Error;
  // One in 500: ten hits at 8192 members.
  EXPECT_EQ(stopped(500, {.measure = 0, .error = Error::absolute_halfwidth, .limit = 0.5}), 8192);
  EXPECT_EQ(stopped(500, {.measure = 0, .error = Error::relative_stderr, .limit = 10}), 8192);
  // One in 2: half of the interval is 0.031 at 1024 members and 0.022 at 2048.
  EXPECT_EQ(stopped(2, {.measure = 0, .error = Error::absolute_halfwidth, .limit = 0.025}), 2048);
  EXPECT_EQ(stopped(2, {.measure = 0, .error = Error::relative_halfwidth, .limit = 0.025}), 8192);
}

}  // namespace
}  // namespace zwang::answers_test
