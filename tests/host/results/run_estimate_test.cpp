// What a run will cost: bytes from the study, time from the first reports of progress.
#include "host/results/run_estimate.h"

#include <gtest/gtest.h>

#include "host/study_file/load_study.h"
#include "tests/support/run_fixture.h"

namespace zwang::run_estimate_test {
namespace {

TEST(RunEstimate, BytesGrowWithMembersOnlyWhereMembersAreWritten) {
  const Study bare = read_study(thrown_ball, "ball.toml"),
              kept = read_study(thrown_ball + "[output]\nmembers = true\n", "ball.toml");
  EXPECT_EQ(estimated_bytes(bare, 1000), estimated_bytes(bare, 1'000'000));
  const double each = (estimated_bytes(kept, 1'000'000) - estimated_bytes(kept, 0)) / 1e6;
  EXPECT_GT(each, 8 * 10) << "inputs, states, measures, status and counts of a member";
  EXPECT_LT(each, 8 * 60);
}

TEST(RunEstimate, BytesAreWrittenWithTwoFiguresOrMore) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(1000), "1.0 kB");
  EXPECT_EQ(bytes_text(45'600'000), "46 MB");
  EXPECT_EQ(bytes_text(2.3e14), "230 TB");
}

// The first report includes the start of the machine; the rate is that after it.
TEST(RunEstimate, TimeComesFromTheRateAfterTheFirstReportAndIsGivenOnce) {
  TimeEstimate estimate;
  EXPECT_FALSE(estimate.seconds_left({.done = 100, .of = 100'000, .seconds = 3}));
  EXPECT_FALSE(estimate.seconds_left({.done = 600, .of = 100'000, .seconds = 3.5}));
  const std::optional<double> left = estimate.seconds_left({.done = 2100, .of = 100'000, .seconds = 5});
  ASSERT_TRUE(left);
  EXPECT_DOUBLE_EQ(*left, 97.9);  // 97 900 members at 1000 per second
  EXPECT_FALSE(estimate.seconds_left({.done = 3100, .of = 100'000, .seconds = 6}));
}

TEST(RunEstimate, ASingleSlowBatchGivesATimeToo) {
  TimeEstimate estimate;
  EXPECT_DOUBLE_EQ(estimate.seconds_left({.done = 10, .of = 110, .seconds = 20}).value_or(0), 200);
  TimeEstimate done;
  EXPECT_FALSE(done.seconds_left({.done = 110, .of = 110, .seconds = 20})) << "nothing is left";
}

// A thousand members take as long on a GPU as a hundred thousand.
TEST(RunEstimate, TooFewMembersSayNothingOfTheSpeedOfADevice) {
  TimeEstimate estimate;
  EXPECT_FALSE(estimate.seconds_left({.done = 1024, .of = 1'001'024, .seconds = 20, .too_few = true}));
  EXPECT_FALSE(estimate.seconds_left({.done = 1024, .of = 1'001'024, .seconds = 26, .too_few = true}));
  EXPECT_DOUBLE_EQ(estimate.seconds_left({.done = 251'024, .of = 1'001'024, .seconds = 36}).value_or(0), 30);
}

}  // namespace
}  // namespace zwang::run_estimate_test
