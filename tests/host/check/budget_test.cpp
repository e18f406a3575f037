// The budget of work of a check: it ends, and reports what it could not decide.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/check/check.h"
#include "host/check/findings.h"
#include "host/check/work_budget.h"
#include "host/check/write_check.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"
#include "tests/support/tampered_backend.h"

namespace zwang::budget_test {
namespace {

// An oscillator that is 20 000 times as stiff around t = 0.55 as elsewhere: there the tight run takes about
// 30 000 trial steps, elsewhere a few dozen between two output times.
Study stiff_in_the_middle() {
  return read_study(R"toml(
[[point]]
name = "p"
mass = 1
position = [1]
[system.force]
"p.x" = "-p.x*(1 + 4e8*exp(-((t - 0.55)/0.01)^2))"
[measure]
path = "integral(p.x^2)"
arrived = "final(p.x)"
[time]
end = 1
samples = 11
)toml",
                    "stiff.toml");
}

// The reference as a backend that claims to have taken hardly any steps, so that only the fixed part of the
// budget counts.
TamperedBackend few_steps(const Study& study) {
  return {study, [](BatchResults& results) {
            std::fill(results.steps.begin(), results.steps.end(), 1);
            std::fill(results.rejected.begin(), results.rejected.end(), 0);
          }};
}

CheckReport checked_within(double budget, const Study& study) {
  TamperedBackend backend = few_steps(study);
  return check(study, backend, {.sample = 1, .threads = check_threads, .budget = budget});
}

TEST(CheckBudgetTest, GivesUpAStretchThatNeedsTooManyStepsAndGoesOnAfterIt) {
  const Study study = stiff_in_the_middle();
  const CheckReport report = checked_within(0.01, study);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
  ASSERT_GE(report.undecided.size(), 1u) << check_table(study, report);
  EXPECT_EQ(report.undecided.size(), report.undecided_segments);
  EXPECT_LE(report.undecided_segments, 3u);
  for (const UndecidedStretch& one : report.undecided) {
    EXPECT_EQ(one.cause, UndecidedCause::budget);
    EXPECT_GE(one.from, 0.4 - 1e-9);
    EXPECT_LE(one.until, 0.7 + 1e-9);
    EXPECT_NE(one.reason.find("the reference used up"), std::string::npos) << one.reason;
  }
  // The integral lacks a part; the final value does not depend on it.
  EXPECT_EQ(report.measures, 2u);
  EXPECT_EQ(report.undecided_measures, 1u);
}

TEST(CheckBudgetTest, IsEnoughByDefaultAndWhenItIsRaised) {
  const Study study = stiff_in_the_middle();
  for (const double budget : {1.0, 10.0}) {
    const CheckReport report = checked_within(budget, study);
    EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
    EXPECT_TRUE(report.undecided.empty()) << check_table(study, report);
  }
}

TEST(CheckBudgetTest, FindsAnErrorAfterAStretchThatWasGivenUp) {
  const Study study = stiff_in_the_middle();
  TamperedBackend backend(study, [](BatchResults& results) {
    results.steps[0] = 1;
    results.rejected[0] = 0;
    results.states[9 * 2] += 1e-5;  // x at t = 0.9
  });
  const CheckReport report = check(study, backend, {.sample = 1, .threads = check_threads, .budget = 0.01});
  EXPECT_EQ(report.verdict(), CheckVerdict::disagree) << check_table(study, report);
  EXPECT_GE(report.undecided_segments, 1u);
}

TEST(CheckBudgetTest, IsNoPassWhenNothingCouldBeAfforded) {
  const Study study = SlungLoad::study();
  const CheckReport report = checked_within(1e-6, study);
  EXPECT_EQ(report.verdict(), CheckVerdict::undecided);
  // The segment from the start to the output at t = 0 has no duration and needs no step.
  EXPECT_EQ(report.undecided_segments, report.segments - 1);
  EXPECT_NE(report.verdict_text().find("budget"), std::string::npos) << report.verdict_text();
  EXPECT_NE(check_table(study, report).find("--budget"), std::string::npos);
  const auto json = nlohmann::json::parse(check_json(study, report));
  EXPECT_EQ(json["verdict"], "undecided");
  EXPECT_EQ(json["undecided_causes"]["budget"], report.undecided_segments);
  EXPECT_EQ(json["undecided"].size(), report.undecided_segments);
  EXPECT_EQ(json["undecided"][0]["cause"], "budget");
}

TEST(CheckBudgetTest, LeavesALimitUndecidedThatTheReferenceCannotConfirm) {
  const Study study =
      load_study(config_path("slung_load"), {"ensemble.members=1", "time.end=3", "integrator.max_steps=40"});
  const CheckReport report = checked_within(1e-4, study);
  ASSERT_FALSE(report.undecided.empty());
  EXPECT_NE(report.undecided.front().reason.find("step_limit"), std::string::npos)
      << check_table(study, report);
  EXPECT_EQ(report.findings.disagreements(), 0u) << check_table(study, report);
}

TEST(CheckBudgetTest, LimitsARoundTripToo) {
  const Study reversible = read_study(R"toml(
[[point]]
name = "p"
mass = 1
position = [1]
[system.force]
"p.x" = "-4e4*p.x"
[time]
end = 1
samples = 2
)toml",
                                      "fast.toml");
  TamperedBackend backend = few_steps(reversible);
  const CheckReport report =
      check_reverse(reversible, backend, {.sample = 1, .threads = check_threads, .budget = 1e-4});
  EXPECT_EQ(report.verdict(), CheckVerdict::undecided) << check_table(reversible, report);
  ASSERT_EQ(report.undecided.size(), 1u);
  EXPECT_EQ(report.undecided.front().cause, UndecidedCause::budget);
}

TEST(CheckBudgetTest, LeavesEnoughForTheStretchesAfterOneThatUsedUpItsPart) {
  WorkBudget budget(1, 0, 10);  // 1e6 divided among ten members
  Trajectory used;
  budget.begin_stretch(100);
  EXPECT_EQ(budget.run_limit(), 12'500);  // half of a quarter
  used.steps = 20'000;
  used.rejected = 5'000;
  budget.spend(used);
  budget.begin_stretch(99);
  EXPECT_EQ(budget.run_limit(), 9'375);
  // The last one may use what is left.
  budget.begin_stretch(1);
  EXPECT_EQ(budget.run_limit(), 37'500);
  used.steps = 1'000'000;
  budget.spend(used);
  budget.begin_stretch(50);
  EXPECT_EQ(budget.run_limit(), 1000);
  EXPECT_EQ(WorkBudget().run_limit(), no_limit);
}

}  // namespace
}  // namespace zwang::budget_test
