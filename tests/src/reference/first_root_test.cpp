// The first rise of a curve above zero within a step.
#include "src/reference/first_root.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/system_builder.h"

namespace zwang::first_root_test {
namespace {

std::vector<double> samples(const Curve& curve) {
  std::vector<double> made;
  for (const double theta : sample_fractions()) made.push_back(curve(theta));
  return made;
}

// The first rise above zero, or nothing.
std::optional<double> first_root(const Curve& curve) {
  const std::optional<Bracket> bracket = first_rise(samples(curve), curve);
  if (!bracket) return std::nullopt;
  return root(*bracket, curve);
}

TEST(CrossingTest, SamplesCoverTheStep) {
  const auto fractions = sample_fractions();
  EXPECT_EQ(fractions.front(), 0);
  EXPECT_EQ(fractions.back(), 1);
  for (std::size_t k = 1; k < fractions.size(); ++k) {
    EXPECT_GT(fractions[k], fractions[k - 1]);
    EXPECT_LT(fractions[k] - fractions[k - 1], 0.15);
  }
}

TEST(CrossingTest, ASimpleRiseIsFoundToTheLastBits) {
  Dice dice(1);
  for (int trial = 0; trial < 500; ++trial) {
    const double at = dice.between(0.001, 0.999), bend = dice.between(-0.9, 5);
    const auto found = first_root([&](double x) { return (x - at) * (1 + bend * x * x); });
    ASSERT_TRUE(found) << at;
    EXPECT_NEAR(*found, at, 4e-16 * std::max(at, 0.1)) << at;
  }
}

TEST(CrossingTest, AFallIsNoRise) {
  EXPECT_FALSE(first_root([](double x) { return -x; }));
  EXPECT_FALSE(first_root([](double x) { return -1e-9 - x * x; }));
  EXPECT_FALSE(first_root([](double) { return -1.0; }));
}

TEST(CrossingTest, TheFirstOfSeveralRisesIsFound) {
  const auto found =
      first_root([](double x) { return -std::cos(7 * M_PI * x); });  // rises at 1/14, 5/14, ...
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 1.0 / 14, 1e-15);
}

TEST(CrossingTest, AHumpBetweenSamplesIsFoundHoweverLittleItRises) {
  Dice dice(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const double top = dice.between(0.002, 0.998), height = std::pow(10, dice.between(-12, -3));
    const double width = std::pow(10, dice.between(-2, 1));
    const auto curve = [&](double x) { return height - (x - top) * (x - top) / width; };
    const double expected = top - std::sqrt(height * width);
    if (expected < 1e-6) continue;
    const auto found = first_root(curve);
    ASSERT_TRUE(found) << "top " << top << ", height " << height << ", width " << width;
    // A root this flat is known to the square root of rounding over height.
    EXPECT_NEAR(*found, expected, 1e-15 / std::sqrt(height / width) + 1e-15);
    EXPECT_FALSE(first_root([&](double x) { return curve(x) - 2 * height; }));
  }
}

TEST(CrossingTest, AHumpRightAtTheStartIsFound) {
  // Up and back within the first hundredths of a long step.
  for (const double scale : {0.5, 0.03, 0.01, 0.001, 1e-5}) {
    const auto found = first_root([&](double x) { return -0.1 + x / scale - 0.9 * x * x / (scale * scale); });
    ASSERT_TRUE(found) << scale;
    EXPECT_NEAR(*found, scale * (1 - std::sqrt(1 - 0.36)) / 1.8, 1e-13) << scale;
  }
}

TEST(CrossingTest, AHumpRightAtTheEndIsFound) {
  const auto found = first_root([](double x) { return 1e-4 - (x - 0.97) * (x - 0.97); });
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 0.96, 1e-14);
}

TEST(CrossingTest, AStartOnTheBoundaryThatLeavesAndComesBackIsFound) {
  // Left at theta = 0 with rounding of either sign; comes back at 0.6 or within the first sample.
  for (const double noise : {0.0, 1e-17, -1e-17})
    for (const double back : {0.6, 0.02, 1e-4}) {
      const auto found = first_root([&](double x) { return x == 0 ? noise : x * (x - back); });
      ASSERT_TRUE(found) << back;
      EXPECT_NEAR(*found, back, 1e-15) << back;
    }
}

TEST(CrossingTest, AStartOnTheBoundaryThatComesBackForAMomentIsFoundWhereItComesBack) {
  // Below zero until `back`, above zero until 0.01, below zero at every sample: the root at the start must
  // not be found again.
  for (const double noise : {0.0, 5e-16})
    for (const double back : {1e-3, 1e-4, 1e-5}) {
      const auto found = first_root([&](double x) { return x == 0 ? noise : x * (x - back) * (0.01 - x); });
      ASSERT_TRUE(found) << back;
      EXPECT_NEAR(*found, back, 1e-15) << back;
    }
}

TEST(CrossingTest, AStartOnTheBoundaryThatGoesOnIsARiseAtTheStart) {
  const auto found = first_root([](double x) { return x; });
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 0, 1e-13);
}

// Rounding can make values exactly zero, which is not above zero.
TEST(CrossingTest, ARiseBeginsBelowZeroAndEndsAboveIt) {
  const Curve curve = [](double x) { return x > 1e-5 && x < 3e-5 ? 0 : x - 1e-5; };
  const std::optional<Bracket> rise = first_rise(samples(curve), curve);
  ASSERT_TRUE(rise);
  EXPECT_LE(curve(rise->below), 0);
  EXPECT_GT(curve(rise->above), 0);
}

TEST(CrossingTest, SteepAndFlatCurvesAreNoObstacle) {
  const Curve curves[] = {
      [](double x) { return std::pow(x - 0.3, 9); }, [](double x) { return std::tanh(1e6 * (x - 0.3)); },
      [](double x) { return std::exp(50 * (x - 0.3)) - 1; }, [](double x) { return x < 0.3 ? -1.0 : 1.0; }};
  for (const Curve& curve : curves) {
    const auto found = first_root(curve);
    ASSERT_TRUE(found);
    EXPECT_NEAR(*found, 0.3, 1e-7);
    EXPECT_GT(curve(*found), -1e-15);
  }
}

TEST(CrossingTest, ThePeakIsTheLargestValue) {
  const Peak top = peak(0.2, 0.9, [](double x) { return std::sin(3 * x); });
  EXPECT_NEAR(top.theta, M_PI / 6, 1e-7);
  EXPECT_NEAR(top.value, 1, 1e-15);
}

}  // namespace
}  // namespace zwang::first_root_test
