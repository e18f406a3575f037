// Hops left out by a completed accumulation that another event interrupts before their limit: errors found by the soak test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/check/backend_motion.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/layout.h"
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

// A ball that is pushed up bounces at the underside of a board, which lies on a support and is lifted a little by each of its
// impacts. The board's hops last 2u/g and end long before the next impact. Those too low to be followed were taken for the end
// of the whole sequence, of which the ball's hops are the other part: the board came to rest 0.005 s late (soak, seed 90026).
TEST(InterruptedHops, AContactRestsWhileAnotherOneHopsOn) {
  constexpr double board = 1e4, e = 0.2, below = 0.05, pull = 1, end = 1;
  const Study study = read_study(fmt::format(R"toml(
[[coordinate]]
name = "board"
position = 1
velocity = 0
[[point]]
name = "ball"
mass = 1
position = [0, {0}]
velocity = [0, 0]
[system]
gravity = [0, {1}]
kinetic = "{2}/2*board'^2"
potential = "{2}*{1}*board"
[[constraint]]
name = "support"
require = "board >= 1"
[[constraint]]
name = "under"
require = "ball.y <= board"
restitution = {3}
friction = 0.3
slip = "ball.x'"
[time]
end = {4}
samples = 2
[measure]
closed = "integral(closed(support))"
)toml",
                                             1 - below, pull, board, e, end),
                                 "board_on_a_support.toml");
  // The speed that the first impact gives to the board, and the share of it that each later one gives.
  const double first = (1 + e) * std::sqrt(2 * pull * below) / (1 + board);
  const double ratio = (1 + e) * board / (1 + board) - 1;
  by_both(study, [&](Backend& backend) {
    const BatchResults results = first_member(study, backend);
    ASSERT_EQ(results.status[0], Status::ok);
    // Positions are known to 1e-12, the times of the last landings to that over their speeds.
    EXPECT_NEAR(results.measures[0], end - 2 * first / pull / (1 - ratio), 1e-8);
    double lifted = 0, speed = first / ratio;
    const std::vector<unsigned long long> member = {0};
    const Batch batch = prepare_batch(study, member, 1);
    const BatchResults listed = backend.run(batch, {.observables = true, .states = true, .events = true});
    for (const Event& event : motion_of(study, batch, listed, 0).events) {
      if (event.kind == EventKind::shock && event.reached == std::vector<std::size_t>{1}) {
        lifted = event.t;
        speed *= ratio;
      }
      if (event.kind == EventKind::accumulation && event.constraints == std::vector<std::size_t>{0}) {
        EXPECT_NEAR(event.t, lifted + 2 * speed / pull, 1e-9);
      }
    }
  });
}

}  // namespace
}  // namespace zwang::interrupted_hops_test
