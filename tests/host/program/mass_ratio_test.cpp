// Which masses count as coupled, and when a program eliminates by an orthogonal factor.
#include "host/program/mass_ratio.h"

#include <gtest/gtest.h>

#include <string>

#include "host/study/study.h"
#include "host/study_file/load_study.h"

namespace zwang::mass_ratio_test {
namespace {

// A fly and a stone of mass 1000, each above a floor, and joined by a string where asked for.
Study fly_and_stone(const std::string& mass, bool joined, const std::string& integrator = "") {
  return read_study("[parameters]\nm = " + mass + R"toml(
[system]
gravity = [0, -9.81]
[[point]]
name = "fly"
mass = "m"
position = [0, 1]
[[point]]
name = "stone"
mass = 1000
position = [2, 1]
[[constraint]]
name = "under_fly"
require = "fly.y >= 0"
[[constraint]]
name = "under_stone"
require = "stone.y >= 0"
[ensemble]
members = 100
[time]
end = 1
[integrator]
)toml" + integrator +
                        (joined ? R"toml(
[[constraint]]
name = "string"
require = "distance(fly, stone) <= 3"
)toml"
                                : ""),
                    "fly.toml");
}

TEST(MassRatio, CountsOnlyMassesThatTwoRowsCouple) {
  EXPECT_DOUBLE_EQ(largest_mass_ratio(fly_and_stone("1e-9", false)), 1);
  EXPECT_DOUBLE_EQ(largest_mass_ratio(fly_and_stone("1e-9", true)), 1e12);
}

TEST(MassRatio, SeesDrawnMasses) {
  const double ratio = largest_mass_ratio(fly_and_stone("{ uniform = [1, 100] }", true));
  EXPECT_GT(ratio, 100);  // of the lightest of 32 flies
  EXPECT_LE(ratio, 1000);
}

TEST(MassRatio, DecidesByPrecisionAndTolerance) {
  EXPECT_FALSE(needs_orthogonal_elimination(fly_and_stone("0.01", true)));
  EXPECT_TRUE(needs_orthogonal_elimination(fly_and_stone("1e-9", true)));
  EXPECT_TRUE(needs_orthogonal_elimination(fly_and_stone("1e-4", true, "rtol = 1e-12\n")));
  EXPECT_TRUE(needs_orthogonal_elimination(fly_and_stone("0.01", true, "precision = \"single\"\n")));
}

}  // namespace
}  // namespace zwang::mass_ratio_test
