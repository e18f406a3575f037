// Voss's systems beyond the numbered cases: their first integrals and closed forms, member by member.
#include "tests/support/study_runs.h"

namespace zwang::voss_systems_test {
namespace {

constexpr double integrated = 1e-11;

class ThreeMembers : public testing::TestWithParam<unsigned long long> {};

TEST_P(ThreeMembers, PullTowardsTheAxisOfAComplexLeavesTheMultiplierAtZero) {
  const StudyRun run(config("complex_helix"), GetParam());
  expect_sound(run);
  EXPECT_LE(run.measure("largest_multiplier"), integrated);
  const double v = run.observable("area_rate", 0);
  for (const double t : {1.0, 2.0, 3.0}) {
    EXPECT_NEAR(run.observable("area_rate", t), v, integrated);
    EXPECT_NEAR(run.observable("climb", t), 2 * v, integrated);
    EXPECT_NEAR(run.position("p.z", t), 2 * v * t, 10 * integrated);
  }
}

TEST_P(ThreeMembers, PursuitKeepsItsSpeedAndItsCurve) {
  const StudyRun run(config("pursuit"), GetParam());
  expect_sound(run);
  EXPECT_LE(run.measure("worst_off_curve"), integrated);
  const double v = run.observable("speed", 0);
  for (const double t : {0.25, 0.5, 1.0}) {
    EXPECT_NEAR(run.observable("speed", t), v, integrated);
    EXPECT_NEAR(run.observable("off_integral", t), 0, integrated);
  }
}

TEST_P(ThreeMembers, AppellAndHamelsMachineRunsStraightOn) {
  const StudyRun run(config("appell_hamel"), GetParam());
  expect_sound(run);
  for (const double t : {0.25, 0.5, 1.0}) {
    EXPECT_NEAR(run.observable("off_way", t), 0, integrated);
    EXPECT_NEAR(run.observable("off_direction", t), 0, integrated);
    EXPECT_NEAR(run.observable("off_height", t), 0, integrated);
  }
}

INSTANTIATE_TEST_SUITE_P(VossSystems, ThreeMembers, testing::Values(0, 1, 2));

TEST(VossSystems, TheHelixOfTheCase) {
  const StudyRun run(config("complex_helix"));
  expect_near(run.at(3).state.q, {-0.91113026188467698837, 0.41211848524175656976, 18}, integrated, "q(3)");
}

TEST(VossSystems, TwoPointsKeepTheirIntegralsFromAnyStart) {
  // (24) to (30): angular momentum of the relative motion, the first point's speed, the second's velocity,
  // and lambda r^3.
  const StudyRun run(
      config("two_points_kepler", {"point.0.position=[0.7, -0.9, 0.4]", "point.0.velocity=[0.9, 0.7, 0]",
                                   "parameters.A1=-0.2", "parameters.A3=0.4"}));
  expect_sound(run);
  const auto momentum = [&](double t) {
    const State& s = run.at(t).state;
    const Eigen::Vector3d xi = s.q.head(3) - s.q.tail(3), rate = s.v.head(3) - s.v.tail(3);
    return Eigen::Vector3d(xi.cross(rate));
  };
  for (const double t : {2.0, 5.0, 10.0}) {
    EXPECT_NEAR((momentum(t) - momentum(0)).norm(), 0, integrated);
    EXPECT_NEAR(run.observable("speed_squared", t), run.observable("speed_squared", 0), integrated);
    EXPECT_NEAR(run.observable("kepler_mu", t), run.observable("kepler_mu", 0), 10 * integrated);
  }
}

}  // namespace
}  // namespace zwang::voss_systems_test
