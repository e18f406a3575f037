// Hops left out by a completed accumulation that another event interrupts before their limit: errors found by the soak test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/both_backends.h"

namespace zwang::interrupted_hops_test {
namespace {

// A point that falls from 0.2 and hops along a rough floor: it lands at 0.2, and its hops end at 0.8. They are completed
// 3.6e-3 before that, since so little of their length is left. An impulse strikes it at 0.798.
constexpr double mass = 2, mu = 0.1, g = 10, speed = 8, limit = 0.8;

Study hopping_point(const std::string& gain, double end) {
  return read_study(fmt::format(R"toml(
[[point]]
name = "p"
mass = {}
position = [0, 0.2]
velocity = [{}, 0]
[system]
gravity = [0, -{}]
[[constraint]]
name = "floor"
require = "p.y >= 0"
restitution = 0.6
friction = {}
[[impulse]]
at = 0.798
on = "p"
velocity = {}
[time]
end = {}
samples = 2
[integrator]
accumulation_gap = 1e-2
[measure]
heat = "final(dissipated(floor))"
closed = "integral(closed(floor))"
impulse = "total(impulse(floor))"
)toml",
                                mass, speed, g, mu, gain, end),
                    "hopping_point.toml");
}

// Second order in the time that is left out.
constexpr double left_out = 1e-4;

// Thrown up before the limit it has never lain on the floor. What the floor would have dissipated until the limit was taken
// off at the completion and never added again: the energy was negative (soak, seeds 70815, 81037 and 81320).
TEST(InterruptedHops, APointThrownUpBeforeTheLimitHasNotLainOnTheFloor) {
  const Study study = hopping_point("[0, 3]", 1.2);
  by_both(study, [&](Backend& backend) {
    const BatchResults results = first_member(study, backend);
    ASSERT_EQ(results.status[0], Status::ok);
    EXPECT_NEAR(results.measures[0], 0, left_out);
    EXPECT_NEAR(results.measures[1], 0, 1e-9);
  });
}

// Pushed along the floor it goes on hopping until the limit, at another speed: m g t is transferred by the floor until any
// time after that.
TEST(InterruptedHops, APointPushedAlongTheFloorHopsOnUntilTheLimit) {
  constexpr double end = 1.2, gained = 5;
  const Study study = hopping_point(fmt::format("[{}, 0]", gained), end);
  const auto energy = [](double t) {
    const double v = speed + gained - mu * g * t;
    return mass * v * v / 2;
  };
  by_both(study, [&](Backend& backend) {
    const BatchResults results = first_member(study, backend);
    ASSERT_EQ(results.status[0], Status::ok);
    EXPECT_NEAR(results.measures[0], energy(limit) - energy(end), left_out);
    EXPECT_NEAR(results.measures[1], end - limit, 1e-9);
    EXPECT_NEAR(results.measures[2], mass * g * limit, 1e-9);
  });
}

}  // namespace
}  // namespace zwang::interrupted_hops_test
