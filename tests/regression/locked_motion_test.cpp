// Systems that are held in as many directions as they have coordinates: some are at rest for good, and some are carried on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "host/backend/batch.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/both_backends.h"

namespace zwang::locked_motion_test {
namespace {

// Two points joined by a rod stand on a belt with the velocity V; a spring holds the first one back. The forces of friction
// of the two are not unique, their sum is k V t until it reaches 2 mu m g. The kernels took what is held in all
// directions for at rest, and both stuck for ever.
TEST(LockedMotion, TwoFeetOnABeltSlideWhenTheirFrictionIsSpent) {
  const double k = 40, v = 0.2, mu = 0.5, g = 9.81;
  const Study study = read_study(fmt::format(R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 0]
velocity = [{0}, 0]
[[point]]
name = "q"
mass = 1
position = [1, 0]
velocity = [{0}, 0]
[system]
gravity = [0, -{1}]
[system.force]
"p.x" = "-{2}*p.x"
[[constraint]]
name = "rod"
require = "distance(p, q) == 1"
[[constraint]]
name = "belt_p"
require = "p.y >= 0"
friction = {3}
slip = "p.x' - {0}"
[[constraint]]
name = "belt_q"
require = "q.y >= 0"
friction = {3}
slip = "q.x' - {0}"
[observe]
x = "p.x"
[time]
end = 2.4
samples = 9
[integrator]
rtol = 1e-10
atol = 1e-10
)toml",
                                             v, g, k, mu),
                                 "feet.toml");
  const double slides = 2 * mu * g / (k * v);
  by_both(study, [&](Backend& backend) {
    const std::vector<Event> events = events_of_kind(study, backend, EventKind::slide);
    ASSERT_FALSE(events.empty());
    EXPECT_NEAR(events.front().t, slides, 1e-9);
    // From then on they swing about the place where the spring balances the friction.
    const double w = std::sqrt(k / 2), since = 1.5 - slides;
    const BatchResults found = first_member(study, backend);
    EXPECT_EQ(found.status[0], Status::ok);
    EXPECT_NEAR(found.observables[5], v * slides + v / w * std::sin(w * since), 1e-8);
  });
}

// The same two points at rest on a slope that is less steep than their cone: they do not move at all in 10 000 seconds, and
// the steps grow without bound.
TEST(LockedMotion, FeetOnASlopeDoNotMoveAtAll) {
  const Study study = read_study(R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 0]
[[point]]
name = "q"
mass = 2
position = [0.8, 0.2]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "rod"
require = "distance(p, q) == sqrt(0.68)"
[[constraint]]
name = "slope_p"
require = "p.y >= p.x/4"
friction = 0.3
[[constraint]]
name = "slope_q"
require = "q.y >= q.x/4"
friction = 0.3
[observe]
moved = "abs(p.x) + abs(p.y) + abs(q.x - 0.8) + abs(q.y - 0.2)"
[time]
end = 10000
samples = 3
)toml",
                                 "slope.toml");
  by_both(study, [&](Backend& backend) {
    const BatchResults found = first_member(study, backend);
    EXPECT_EQ(found.status[0], Status::ok);
    for (const double moved : found.observables) EXPECT_LE(moved, 1e-15);
    EXPECT_LE(found.steps[0], 60);
  });
}

}  // namespace
}  // namespace zwang::locked_motion_test
