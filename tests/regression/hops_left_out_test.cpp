// Hops that a completed accumulation leaves out, of contacts that break: errors found by the soak test.
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

namespace zwang::hops_left_out_test {
namespace {

// A point that falls from 0.2 and hops along a rough floor, which breaks under a large force and bears impulses without
// friction: it lands at 0.2, and its hops end at 0.8. They are completed 3.6e-3 before that. Its speed is that of the start
// until then. The hops left out were completed without friction, but the closed phase until the limit rubbed: the speed was
// too small by mu times their impulse over the mass, the dissipated energy off by 2.9e-3 of 6.24 (soak with friction, seed
// 70815).
TEST(HopsLeftOut, AContactThatBreaksRubsInNoneOfThem) {
  constexpr double mass = 2, mu = 0.1, g = 10, speed = 8, limit = 0.8, end = 1.2;
  const Study study = read_study(fmt::format(R"toml(
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
limit = 1e6
breaks = true
impulse_limit = inf
[time]
end = {}
samples = 2
[integrator]
accumulation_gap = 1e-2
[measure]
speed = "final(p.x')"
heat = "final(dissipated(floor))"
impulse = "total(impulse(floor))"
)toml",
                                             mass, speed, g, mu, end),
                                 "hopping_point.toml");
  // The forces do not change in the time left out, so that speeds are right to rounding, and energies to its second order.
  constexpr double rounding = 1e-6, left_out = 1e-4;
  const double slower = speed - mu * g * (end - limit);
  by_both(study, [&](Backend& backend) {
    const BatchResults results = first_member(study, backend);
    ASSERT_EQ(results.status[0], Status::ok);
    EXPECT_NEAR(results.measures[0], slower, rounding);
    EXPECT_NEAR(results.measures[1], mass * (speed * speed - slower * slower) / 2, left_out);
    EXPECT_NEAR(results.measures[2], mass * g * limit, 1e-9);
  });
}

// A force presses the point against the floor less and less. Its largest reaction is that of the moment at which it comes
// to rest. Until the limit of the hops left out, the closed contact that stands for them has larger ones, which no
// contact has had: they depend on which hop is the last to be followed (soak with friction, seed 70035).
TEST(HopsLeftOut, HaveNoReactionOfAContactAtRest) {
  constexpr double mass = 2, g = 10, rate = 100, over = 2, end = 1.2;
  const Study study = read_study(fmt::format(R"toml(
[[point]]
name = "p"
mass = {}
position = [0, 0.2]
velocity = [8, 0]
[system]
gravity = [0, -{}]
[system.force]
"p.y" = "-{}*({} - t)"
[[constraint]]
name = "floor"
require = "p.y >= 0"
restitution = 0.6
friction = 0.1
[time]
end = {}
samples = 2
[integrator]
accumulation_gap = 1e-2
[measure]
closed = "integral(closed(floor))"
most = "maximum(reaction(floor))"
)toml",
                                             mass, g, rate, over, end),
                                 "pressed_point.toml");
  by_both(study, [&](Backend& backend) {
    const BatchResults results = first_member(study, backend);
    ASSERT_EQ(results.status[0], Status::ok);
    const double begin = end - results.measures[0];
    EXPECT_NEAR(results.measures[1], mass * g + rate * (over - begin), 1e-9);
  });
}

}  // namespace
}  // namespace zwang::hops_left_out_test
