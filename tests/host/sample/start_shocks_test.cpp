// Members that begin with a shock are counted by constraint.
#include "host/sample/start_shocks.h"

#include <gtest/gtest.h>

#include "host/study_file/load_study.h"

namespace zwang::start_shocks_test {
namespace {

// A point at x between two walls; the velocity is drawn.
StartShocks shocks_of(const std::string& position, const std::string& velocity, const std::string& wall,
                      const std::string& ensemble = "members = 2000") {
  return start_shocks(read_study(R"toml(title = "w"
[[point]]
name = "p"
mass = 1
position = [)toml" + position + R"toml(]
velocity = [)toml" + velocity + R"toml(]
[[constraint]]
name = "left"
require = "p.x >= -1"
[[constraint]]
name = "right"
require = "p.x <= 1"
)toml" + wall + "\n[time]\nend = 1\n[ensemble]\n" +
                                     ensemble + "\n",
                                 "w.toml"));
}

TEST(StartShocks, AreStartsOnAConstraintThatMoveIntoIt) {
  const StartShocks into = shocks_of("1", "{ uniform = [0.1, 1] }", "");
  EXPECT_EQ(into.checked, 1024);
  EXPECT_EQ(into.members, 1024);
  ASSERT_EQ(into.by_constraint.size(), 1U);
  EXPECT_EQ(into.by_constraint[0].constraint, 1U);
  EXPECT_TRUE(into.nearly_all());
  EXPECT_EQ(shocks_of("1", "{ uniform = [-1, -0.1] }", "").members, 0) << "away from it";
  EXPECT_EQ(shocks_of("1", "0", "").members, 0) << "at rest on it";
  EXPECT_EQ(shocks_of("0.999", "{ uniform = [0.1, 1] }", "").members, 0) << "not yet there";
  EXPECT_EQ(shocks_of("1", "{ uniform = [0.1, 1] }", "from = 0").members, 0) << "imposed on purpose";
  EXPECT_EQ(shocks_of("1", "{ uniform = [0.1, 1] }", "until = 0").members, 0) << "not in force";
}

TEST(StartShocks, AreNotedOnlyWhereNearlyAllMembersHaveOne) {
  const StartShocks half = shocks_of("1", "{ uniform = [-1, 1] }", "");
  EXPECT_GT(half.members, 400);
  EXPECT_LT(half.members, 600);
  EXPECT_FALSE(half.nearly_all());
  EXPECT_TRUE(shocks_of("1", "{ uniform = [-0.05, 1] }", "").nearly_all());
}

TEST(StartShocks, AreLookedForAtAllPointsOfASweep) {
  const StartShocks swept = shocks_of("{ sweep = { values = [-1, 0, 0.5, 1] } }", "{ uniform = [0.1, 1] }",
                                      "", "members_per_point = 5000");
  EXPECT_EQ(swept.checked, 1024);
  EXPECT_EQ(swept.members, 256);
}

}  // namespace
}  // namespace zwang::start_shocks_test
