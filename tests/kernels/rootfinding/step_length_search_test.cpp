// The first guess of a search over the step length (kernels/rootfinding/step_length_search.h), from the
// values at both ends and inside the step, and the slopes where they are known.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "kernels/rootfinding/step_length_search.h"

namespace zwang::step_length_search_test {
namespace {

struct Curve {
  double c[5];
  double at(double x) const { return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4]))); }
  double slope(double x) const { return c[1] + x * (2 * c[2] + x * (3 * c[3] + x * 4 * c[4])); }
};

// The first crossing upwards, by brute force.
double first_crossing(const Curve& curve) {
  constexpr int steps = 20'000;
  for (int i = 1; i <= steps; ++i) {
    double low = (i - 1.0) / steps, high = double(i) / steps;
    if (!(curve.at(low) < 0 && curve.at(high) >= 0)) continue;
    for (int k = 0; k < 60; ++k) (curve.at(0.5 * (low + high)) < 0 ? low : high) = 0.5 * (low + high);
    return high;
  }
  return std::nan("");
}

double guess(const Curve& curve, double whole, double unit, bool slopes) {
  StepLengthSearch<double, 1> search;
  search.reach = 0.01;
  const double none = std::nan("");
  return search.begin(whole, unit * curve.at(0), unit * curve.at(1),
                      slopes ? unit * curve.slope(0) / whole : none,
                      slopes ? unit * curve.slope(1) / whole : none, 0.5, unit * curve.at(0.5)) /
         whole;
}

void expect_found(const Curve& curve, bool slopes) {
  const double wanted = first_crossing(curve);
  for (const double whole : {1.0, 3e-4})
    for (const double unit : {1.0, 1e-7})
      EXPECT_NEAR(guess(curve, whole, unit, slopes), wanted, 2e-3 * wanted)
          << curve.c[0] << ' ' << curve.c[1] << ' ' << curve.c[2] << ' ' << curve.c[3] << ' ' << curve.c[4];
}

TEST(FirstGuess, OfAStraightLineIsItsRoot) {
  for (const double root : {0.001, 0.03, 0.3, 0.5, 0.77, 0.999}) {
    expect_found({{-root, 1, 0, 0, 0}}, true);
    expect_found({{-root, 1, 0, 0, 0}}, false);
  }
}

TEST(FirstGuess, OfAParabolaIsItsRootWithSlopesAndWithout) {
  for (const double bend : {-0.95, -0.4, 0.6, 1.0, 3.0})
    for (const double root : {0.05, 0.3, 0.5, 0.9}) {
      const double c0 = -((1 - bend) * root + bend * root * root);
      if (!(c0 < 0) || !(c0 + 1 > 0)) continue;
      expect_found({{c0, 1 - bend, bend, 0, 0}}, true);
      expect_found({{c0, 1 - bend, bend, 0, 0}}, false);
    }
}

// A multiplier has no known slopes, but values at two stages. The guess is where the first trial step ends,
// and the slope of the cubic is used there.
TEST(FirstGuess, OfACubicThroughTwoStagesIsItsRootAndItsSlope) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> some(-1, 1);
  int tried = 0;
  while (tried < 1000) {
    const Curve curve{{-0.02 - 0.96 * std::abs(some(random)), 1, 0.3 * some(random), 0.2 * some(random), 0}};
    if (!(curve.at(1) > 0.01)) continue;
    ++tried;
    const double wanted = first_crossing(curve), part = 0.6, second = 6.0 / 7, none = std::nan("");
    for (const double whole : {1.0, 3e-4})
      for (const double unit : {1.0, 1e-7}) {
        StepLengthSearch<double, 1> search;
        search.reach = 0.01;
        const double found = search.begin_between(whole, unit * curve.at(0), unit * curve.at(1), part,
                                                  unit * curve.at(part), second, unit * curve.at(second));
        EXPECT_NEAR(found / whole, wanted, 2e-5 * wanted);
        search.improve(found, unit * curve.at(found / whole), none);
        EXPECT_NEAR(search.slope * whole / unit, curve.slope(wanted), 1e-3);
      }
  }
}

// With absurd values at the stages the guess stays within the step, and the slope is that of the trial steps.
TEST(FirstGuess, IsWithinTheStepWhateverTheStageValues) {
  const double none = std::nan("");
  for (const double beyond : {-1e9, -3.0, 0.0, 3.0, 1e9})
    for (const double via : {-1e9, -0.5, 0.0, 0.5, 1e9}) {
      StepLengthSearch<double, 1> search;
      search.reach = 0.01;
      const double found = search.begin_between(1.0, -0.3, 0.7, 0.6, via, 6.0 / 7, beyond);
      EXPECT_GT(found, -0.01);
      EXPECT_LT(found, 1.01);
      const double next = search.improve(found, found - 0.3, none);
      EXPECT_TRUE(next > -0.01 && next < 1.01) << via << ' ' << beyond;
    }
}

// As after a bounce: the curve starts downwards just below zero and returns soon.
TEST(FirstGuess, OfALowHopIsItsEnd) {
  for (const double back : {1e-4, 2e-3, 0.05, 0.3, 0.8})
    for (const double start : {1e-14, 1e-9})
      for (const double third : {-0.2, 0.0, 0.4})
        expect_found({{-start, -back * (1 + third * back), 1, third, 0}}, true);
}

// A contact in flight: quartics that cross once.
TEST(FirstGuess, OfAQuarticIsAThousandthOff) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> some(-1, 1);
  int tried = 0;
  while (tried < 2000) {
    const Curve curve{{-std::abs(some(random)) - 0.01, 2 * some(random), 2 * some(random), some(random),
                       0.5 * some(random)}};
    // From below zero to above zero, without a second crossing.
    const double root = first_crossing(curve);
    if (!(curve.at(1) > 0.05) || !(curve.slope(root) > 0.3)) continue;
    bool once = true;
    for (double x = root; x < 1; x += 0.01) once = once && curve.at(x) >= -1e-12;
    if (!once) continue;
    expect_found(curve, true);
    ++tried;
  }
}

// For any values and slopes the guess is inside the step.
TEST(FirstGuess, StaysInsideTheStep) {
  std::mt19937 random(11);
  std::cauchy_distribution<double> wild(0, 3);
  for (int i = 0; i < 20'000; ++i) {
    StepLengthSearch<double, 1> search;
    search.reach = 0.01;
    const double found = search.begin(2.0, -std::abs(wild(random)) - 1e-30, std::abs(wild(random)) + 1e-30,
                                      wild(random), wild(random), 0.5, wild(random));
    EXPECT_GT(found, -0.01);
    EXPECT_LT(found, 2.01);
  }
}

}  // namespace
}  // namespace zwang::step_length_search_test
