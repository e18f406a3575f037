// The impact of one contact in closed form (kernels/dynamics/single_impact.h): its solution satisfies the laws of
// the impact, and where it is said to be the only one, a search over all directions finds no other.
#include "kernels/dynamics/single_impact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace zwang::single_impact_test {
namespace {

// Rows of a rigid contact: Phi = U U^T of random rows in six velocities, the contact approaching.
SingleImpact<double> random_impact(std::mt19937_64& random, int tangents) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  SingleImpact<double> made{};
  made.tangents = tangents;
  double u[3][6];
  for (auto& row : u)
    for (double& entry : row) entry = normal(random);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int c = 0; c < 6; ++c) made.phi[i][j] += u[i][c] * u[j][c];
  made.b[0] = 0.1 + uniform(random);
  for (int i = 1; i < 3; ++i) made.b[i] = 2 * normal(random);
  made.cone = uniform(random);
  return made;
}

// The largest violation of the laws, beside numbers of the size of one.
double violation(const SingleImpact<double>& at) {
  double r[3], worst = 0, force = 0, slip = 0, power = 0;
  for (int i = 0; i <= at.tangents; ++i) {
    r[i] = at.b[i];
    for (int j = 0; j <= at.tangents; ++j) r[i] -= at.phi[i][j] * at.l[j];
    worst = std::max(worst, std::abs(r[i] - at.r[i]));
    if (i == 0) continue;
    force += at.l[i] * at.l[i];
    slip += r[i] * r[i];
    power += at.l[i] * r[i];
  }
  worst = std::max({worst, std::abs(r[0]), -at.l[0], std::sqrt(force) - at.cone * at.l[0]});
  if (std::sqrt(slip) > 1e-9) worst = std::max(worst, std::abs(power - at.cone * at.l[0] * std::sqrt(slip)));
  return worst;
}

// How many motions slip: changes of sign of the slip across, over all directions, that press and slip forwards.
int slipping_motions(const SingleImpact<double>& at) {
  const int steps = 20000;
  int found = 0;
  double last = 0;
  for (int step = 0; step <= steps; ++step) {
    const double angle = 2 * M_PI * (step + 0.5) / steps, x = std::cos(angle), y = std::sin(angle);
    const double kappa = at.phi[0][0] + at.cone * (at.phi[0][1] * x + at.phi[0][2] * y);
    const double n = at.b[0] / kappa, p = at.cone * n * x, q = at.cone * n * y;
    const double r1 = at.b[1] - at.phi[1][0] * n - at.phi[1][1] * p - at.phi[1][2] * q,
                 r2 = at.b[2] - at.phi[2][0] * n - at.phi[2][1] * p - at.phi[2][2] * q;
    const double across = x * r2 - y * r1, along = x * r1 + y * r2;
    if (step > 0 && across * last <= 0 && along > 0 && n > 0) ++found;
    last = across;
  }
  return found;
}

TEST(SingleImpact, SatisfiesTheLawsOfTheImpact) {
  std::mt19937_64 random(4);
  int solved[3] = {0, 0, 0}, sliding = 0, sticking = 0;
  for (int i = 0; i < 30000; ++i) {
    SingleImpact<double> impact = random_impact(random, i % 3);
    if (!impact.solve()) continue;
    ++solved[i % 3];
    ASSERT_LT(violation(impact), 1e-9) << i;
    if (i % 3 == 2) ++(impact.r[1] != 0 || impact.r[2] != 0 ? sliding : sticking);
  }
  EXPECT_EQ(solved[0], 10000);  // without friction always
  EXPECT_GT(solved[1], 6000);
  EXPECT_GT(solved[2], 6000);
  EXPECT_GT(sliding, 2000);
  EXPECT_GT(sticking, 200);
}

TEST(SingleImpact, IsTheOnlySolution) {
  std::mt19937_64 random(5);
  int solved = 0, several = 0;
  for (int i = 0; i < 1500; ++i) {
    SingleImpact<double> impact = random_impact(random, 2);
    impact.cone *= 3;
    SingleImpact<double> kept = impact;
    const int slips = slipping_motions(kept);
    if (!impact.solve()) {
      several += slips > 1 ? 1 : 0;
      continue;
    }
    ++solved;
    const bool sticks = impact.r[1] == 0 && impact.r[2] == 0;
    ASSERT_EQ(slips, sticks ? 0 : 1) << i;
  }
  EXPECT_GT(solved, 300);
  EXPECT_GT(several, 0) << "no impact had several solutions: the search proves nothing";
}

TEST(SingleImpact, InThePlaneLeavesJammingContactsToTheGeneralWay) {
  SingleImpact<double> impact{};
  impact.tangents = 1;
  impact.cone = 2;
  impact.phi[0][0] = 1;
  impact.phi[0][1] = impact.phi[1][0] = 0.6;
  impact.phi[1][1] = 1;
  impact.b[0] = 1;
  impact.b[1] = -3;
  EXPECT_FALSE(impact.solve()) << "kappa = 1 - 2 * 0.6 < 0";
  impact.cone = 0.5;
  EXPECT_TRUE(impact.solve());
  EXPECT_LT(violation(impact), 1e-12);
}

}  // namespace
}  // namespace zwang::single_impact_test
