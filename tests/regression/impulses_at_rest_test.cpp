// Impulses on a part of a system at rest: an error found by the soak test.
#include <gtest/gtest.h>

#include <algorithm>
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

namespace zwang::impulses_at_rest_test {
namespace {

// A point q is struck along the rod that holds it at a distance of a point p, which touches a wall. What is left of
// former velocities is rounding. q presses p against the wall, and p slides down it by friction.
constexpr double mass_p = 0.7, mass_q = 1.3, mu = 0.3, struck = 2;

// The impulse R of the rod is 1.3 (2 - u), u = s sin(angle) the speed of both ends along it, s the slip. The wall takes R
// cos(angle) and mu of it along the wall, so that 0.7 s = R (sin(angle) - mu cos(angle)); p sticks where that is negative.
double impulse_of_wall(double angle) {
  const double across = std::max(0.0, std::sin(angle) - mu * std::cos(angle));
  const double rod = struck / (1 / mass_q + std::sin(angle) * across / mass_p);
  return rod * std::cos(angle);
}

// The rounding of p counted as that of its own velocity, 1e-43, although the rod spreads the rounding of q to it. Three of
// four members were `infeasible`, kernels only (soak with friction, seed 110059: 7 of 256 members).
TEST(ImpulsesAtRest, PressTheOtherEndOfARodAgainstAWall) {
  const Study study = read_study(R"toml(
[parameters]
angle = { uniform = [0.1, 1.4] }
[[point]]
name = "p"
mass = 0.7
position = [0, 0]
velocity = [0, 1e-31]
[[point]]
name = "q"
mass = 1.3
position = ["-cos(angle)", "sin(angle)"]
velocity = [0, 1e-31]
[system]
gravity = [0, 0]
[[constraint]]
name = "wall"
require = "p.x <= 0"
friction = 0.3
[[constraint]]
name = "rod"
require = "distance(p, q) == 1"
[[impulse]]
at = 0.5
on = "q"
velocity = ["2*cos(angle)", "-2*sin(angle)"]
[ensemble]
members = 64
[time]
end = 0.6
samples = 2
[measure]
which = "angle"
impulse = "total(impulse(wall))"
)toml",
                                 "impulse_at_rest.toml");
  std::vector<unsigned long long> numbers(64);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 1);
  by_both(study, [&](Backend& backend) {
    const BatchResults results = backend.run(batch, {});
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      SCOPED_TRACE(k);
      ASSERT_EQ(results.status[k], Status::ok);
      const double angle = results.measures[2 * k];
      // A few roundings of an impulse of 2.6.
      EXPECT_NEAR(results.measures[2 * k + 1], impulse_of_wall(angle), 1e-14);
    }
  });
}

}  // namespace
}  // namespace zwang::impulses_at_rest_test
