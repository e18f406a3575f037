// What the terminal shows of a sweep, and of members that begin with a shock.
#include "host/results/sweep_table.h"

#include <gtest/gtest.h>

#include "host/backend/backend_reference.h"
#include "host/results/run_table.h"
#include "host/run/run.h"
#include "host/study_file/load_study.h"
#include "tests/support/run_fixture.h"

namespace zwang::sweep_table_test {
namespace {

std::string ball_with(const std::string& restitution, const std::string& members, const std::string& more) {
  std::string text = thrown_ball;
  const auto put = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  put("restitution = 0.4", "restitution = " + restitution);
  put("members = 300", members);
  return text + more;
}

std::string shown_table(const std::string& text) {
  const Study study = read_study(text, "ball.toml");
  BackendReference backend(study, 2);
  return run_table(study, run_ensemble(study, backend, {.threads = 2}), {});
}

bool shows(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(SweepTable, HasProbabilitiesAsCountsAndConditionsByPoint) {
  const std::string text =
      shown_table(ball_with("{ sweep = { values = [0.2, 0.6] } }", "members_per_point = 40",
                            "[[given]]\nname = \"high\"\nwhen = \"highest > 0.7\"\n"));
  EXPECT_TRUE(shows(text, "highest")) << text;
  EXPECT_TRUE(shows(text, "given high (highest > 0.7)")) << text;
  EXPECT_TRUE(shows(text, " of 40")) << text;
  EXPECT_TRUE(shows(text, "largest shift")) << text;
  EXPECT_TRUE(shows(text, "speed_up")) << text;
}

TEST(SweepTable, ShowsAMeasureThatIsZeroOrOneByItsCount) {
  std::string study = ball_with("{ sweep = { values = [0.2, 0.6] } }", "members_per_point = 40", "");
  study.replace(study.find("[measure]\n"), 10, "[measure]\nhigh = \"probability(maximum(ball.x) > 100)\"\n");
  const std::string text = shown_table(study);
  EXPECT_TRUE(shows(text, "0.2  0 of 40      0     0 .. 0.088")) << text;
}

TEST(SweepTable, HasValuesWherePointsHaveOneMember) {
  std::string study = ball_with("{ sweep = { values = [0.2, 0.6] } }", "seed = 1", "");
  study.replace(study.find("{ uniform = [1, 3] }"), 20, "2");
  const std::string text = shown_table(study);
  EXPECT_FALSE(shows(text, "95 %")) << text;
  EXPECT_TRUE(shows(text, "highest  landing")) << text;
}

TEST(RunTable, NotesThatNearlyAllMembersBeginWithAShock) {
  std::string study = thrown_ball;
  const auto put = [&](const std::string& from, const std::string& to) {
    study.replace(study.find(from), from.size(), to);
  };
  put("position = [0.5]", "position = [0]");
  EXPECT_FALSE(shows(shown_table(study), "begin with a shock"));
  put("velocity = [\"speed_up\"]", "velocity = [\"-speed_up\"]");
  const std::string text = shown_table(study);
  EXPECT_TRUE(shows(text, "NOTE: 300 of the 300 members looked at begin with a shock")) << text;
  EXPECT_TRUE(shows(text, "table and move into it")) << text;
}

// The height depends on the speed alone.
TEST(RunTable, NamesTheInputThatExplainsAMeasure) {
  std::string study = thrown_ball;
  study.replace(study.find("[parameters]\n"), 13, "[parameters]\nidle = { uniform = [0, 1] }\n");
  const std::string text = shown_table(study);
  EXPECT_TRUE(shows(text, "inputs that explain its variance, at least")) << text;
  EXPECT_TRUE(shows(text, "highest  speed_up 9")) << text;
  EXPECT_FALSE(shows(text, "idle")) << text;
}

}  // namespace
}  // namespace zwang::sweep_table_test
