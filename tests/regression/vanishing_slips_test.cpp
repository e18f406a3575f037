// Slips in space that vanish where friction is hardly larger than the other forces: an error found by the soak test.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/both_backends.h"

namespace zwang::vanishing_slips_test {
namespace {

// A point slides on a floor with the deceleration B = mu g, pushed by a force that turns with the rate omega and gives it
// the acceleration share * B.
constexpr double braking = 3, omega = 2, speed = 0.1;

// When it comes to rest, by the equations for its speed u and the angle phi from its velocity to the force:
//   u' = share B cos phi - B,   phi' = omega - share B sin phi / u,
// integrated in steps of a twentieth of the time in which phi decays. In the end phi is of the order of u, and what is left
// of u vanishes at the rate (1 - share) B.
double time_of_rest(double angle, double share) {
  constexpr double close = 1e-9;
  const double push = share * braking;
  const auto rates = [&](const std::array<double, 2>& y) {
    return std::array<double, 2>{push * std::cos(y[1]) - braking, omega - push * std::sin(y[1]) / y[0]};
  };
  const auto moved = [](const std::array<double, 2>& y, double h, const std::array<double, 2>& k) {
    return std::array<double, 2>{y[0] + h * k[0], y[1] + h * k[1]};
  };
  std::array<double, 2> y = {speed, -angle};
  double t = 0;
  while (y[0] > close) {
    const double h = y[0] / (20 * push);
    const auto a = rates(y), b = rates(moved(y, h / 2, a)), c = rates(moved(y, h / 2, b)),
               d = rates(moved(y, h, c));
    for (std::size_t i = 0; i < 2; ++i) y[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    t += h;
  }
  return t + y[0] / (braking - push);
}

// The last step before rest was not bounded, since the slip was within its rounding. Beyond zero, where the law of the step
// has the friction of the former direction, noise turned the slip around faster than the step could show, and it was as large
// as that step again, without end: half of 256 such members had not ended after 20 000 steps, kernels only (soak with
// friction, seed 60572).
TEST(VanishingSlips, ComeToRestWhereAForceNearlyBalancesFriction) {
  constexpr std::size_t members = 16;
  const Study study = read_study(R"toml(
[parameters]
angle = { uniform = [0, 6.283185307179586] }
share = { uniform = [0.98, 0.995] }
[[point]]
name = "p"
mass = 2
position = [0, 0, 0]
velocity = ["0.1*cos(angle)", "0.1*sin(angle)", 0]
[system]
gravity = [0, 0, -10]
[system.force]
"p.x" = "6*share*cos(2*t)"
"p.y" = "6*share*sin(2*t)"
[[constraint]]
name = "floor"
require = "p.z >= 0"
friction = 0.3
[ensemble]
members = 16
[time]
end = 20
samples = 2
[integrator]
rtol = 1e-9
atol = 1e-9
max_steps = 20000
[measure]
direction = "angle"
part = "share"
rest = "first(sticks(floor))"
)toml",
                                 "turning_force.toml");
  std::vector<unsigned long long> numbers(members);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 1);
  by_both(study, [&](Backend& backend) {
    const BatchResults results = backend.run(batch, {});
    for (std::size_t k = 0; k < members; ++k) {
      SCOPED_TRACE(k);
      ASSERT_EQ(results.status[k], Status::ok);
      const double angle = results.measures[3 * k], share = results.measures[3 * k + 1];
      // A tolerance of the speed over the rate at which it vanishes, a hundred steps.
      EXPECT_NEAR(results.measures[3 * k + 2], time_of_rest(angle, share), 1e-7 / (braking * (1 - share)));
    }
  });
}

// A frame whose foot a slides to rest while c swings about it. The last steps went nine tenths of the way to the zero of the
// slip: their stages came so close to it that the direction of friction was one of errors, and the error estimate of dop853
// saw nothing. a stopped 1e-6 s late at rtol 1e-9, kernels only (soak with friction, seed 71443: 1.9e-7 s).
TEST(VanishingSlips, StopInTimeWhereTheyTurn) {
  constexpr std::size_t members = 4;
  const Study study = read_study(R"toml(
[parameters]
mu = { uniform = [0.38, 0.6] }
[[point]]
name = "a"
mass = 2
position = [1, 0, 0]
velocity = [0, 0.27, 0]
[[point]]
name = "b"
mass = 5
position = [0, 0, 0]
velocity = [0, 0, 0]
[[point]]
name = "c"
mass = 5
position = [0.36, 0.48, 0.6]
velocity = [-0.13, -1.2, 1.04]
[system]
gravity = [0, 0, -10]
[[constraint]]
name = "ab"
require = "distance(a, b) == 1"
[[constraint]]
name = "ac"
require = "distance(a, c) == 1"
[[constraint]]
name = "bc"
require = "distance(b, c) == sqrt(0.72)"
[[constraint]]
name = "floor_a"
require = "a.z >= 0"
friction = "mu"
[[constraint]]
name = "floor_b"
require = "b.z >= 0"
friction = 0.9
[ensemble]
members = 4
consistency = "project"
[time]
end = 0.15
samples = 2
[measure]
rest = "first(sticks(floor_a))"
)toml",
                                 "sliding_frame.toml");
  std::vector<unsigned long long> numbers(members);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 1);
  Study finer = study;
  finer.integrator.rtol = 1e-10;
  finer.integrator.atol = 1e-11;
  const std::vector<double> accurate = BackendReference(finer, 1).run(batch, {}).measures;
  by_both(study, [&](Backend& backend) {
    const BatchResults results = backend.run(batch, {});
    for (std::size_t k = 0; k < members; ++k) {
      SCOPED_TRACE(k);
      ASSERT_EQ(results.status[k], Status::ok);
      // Some tolerances of the speed over the rate at which it vanishes.
      EXPECT_NEAR(results.measures[k], accurate[k], 1e-8);
    }
  });
}

}  // namespace
}  // namespace zwang::vanishing_slips_test
