// Errors found by the soak test in studies with friction and limits, each as the smallest study that shows it, in the
// reference and in the kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/check/backend_motion.h"
#include "host/check/check.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"

namespace zwang {
namespace {

// The first member's events of a kind, by either backend.
std::vector<Event> events_of(const Study& study, Backend& backend, EventKind kind) {
  const std::vector<unsigned long long> first = {0};
  const Batch batch = prepare_batch(study, first, 1);
  const BatchResults results = backend.run(batch, {.observables = true, .states = true, .events = true});
  EXPECT_EQ(results.status[0], Status::ok);
  std::vector<Event> found = motion_of(study, batch, results, 0).events;
  std::erase_if(found, [&](const Event& event) { return event.kind != kind; });
  return found;
}

template <class Visit>
void by_reference_and_kernels(const std::string& text, const Visit& visit) {
  const Study study = read_study(text, "finding.toml");
  BackendReference reference(study, 1);
  BackendCpu cpu(study, *HostCompiler::find(), 1);
  for (Backend* backend : {static_cast<Backend*>(&reference), static_cast<Backend*>(&cpu)}) {
    SCOPED_TRACE(backend->name());
    visit(study, *backend);
  }
  EXPECT_EQ(check(study, cpu, {.sample = 1, .threads = 1}).verdict(), CheckVerdict::pass);
}

// The kernels took the second slip, within rounding of zero, for one that had begun a moment ago, and let it go on.
TEST(FrictionFindings, FeetJoinedByARodComeToRestTogether) {
  by_reference_and_kernels(R"toml(
title = "Two feet and a rod slide on a floor"
[[point]]
name = "a"
mass = 1
position = [0, 0]
velocity = [2, 0]
[[point]]
name = "b"
mass = 3
position = [1, 0]
velocity = [2, 0]
[system]
gravity = [0, -10]
[[constraint]]
name = "rod"
require = "distance(a, b) == 1"
[[constraint]]
name = "left"
require = "a.y >= 0"
friction = 0.2
[[constraint]]
name = "right"
require = "b.y >= 0"
friction = 0.4
[time]
end = 1
samples = 3
)toml",
                           [](const Study& study, Backend& backend) {
                             const std::vector<Event> found = events_of(study, backend, EventKind::stick);
                             ASSERT_EQ(found.size(), 1u);
                             // (0.2 m_a + 0.4 m_b) g of 4 kg: 3.5 m/s^2 from 2 m/s.
                             EXPECT_NEAR(found[0].t, 2 / 3.5, 1e-9);
                             EXPECT_EQ(found[0].constraints.size(), 2u);
                           });
}

// The reference measured the energy of the rebound in a frame between the floor and the speed limit, and reduced it.
TEST(FrictionFindings, ASpeedLimitHasNoPartInTheReboundOfAFloor) {
  by_reference_and_kernels(R"toml(
title = "A ball falls at its largest speed and bounces"
[[point]]
name = "ball"
mass = 0.3
position = [0, 10]
velocity = [3, -9.6]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "slowly"
require = "ball.y' >= -12"
[[constraint]]
name = "floor"
require = "ball.y >= 0"
restitution = 0.8
friction = 0.56
[time]
end = 1.2
samples = 3
)toml",
                           [](const Study& study, Backend& backend) {
                             const std::vector<Event> found = events_of(study, backend, EventKind::shock);
                             ASSERT_FALSE(found.empty());
                             EXPECT_NEAR(found[0].velocity_after(1), 0.8 * 12, 1e-12);
                             EXPECT_NEAR(found[0].impulses[0], 1.8 * 12 * 0.3, 1e-12);
                           });
}

// One program for all of them: the limit is a parameter.
std::string taut_string(const std::string& impulse_limit) {
  return "title = \"A string that may break snaps taut and rebounds\"\n[parameters]\nmost = " +
         impulse_limit +
         R"toml(
[[anchor]]
name = "hook"
position = [0, 0]
[[point]]
name = "p"
mass = 1
position = [0.5, 0]
velocity = [2, 0]
[[constraint]]
name = "string"
require = "distance(hook, p) <= 1"
restitution = 0.5
limit = 100
breaks = true
impulse_limit = "most"
[time]
end = 0.5
samples = 3
)toml";
}

// The reference left the restitution out where the rebound is beyond the impulse the string bears.
TEST(FrictionFindings, AStringReboundsAsFarAsItsImpulseReaches) {
  const auto ends_with = [](double speed, std::size_t broken) {
    return [=](const Study& study, Backend& backend) {
      const std::vector<Event> found = events_of(study, backend, EventKind::shock);
      ASSERT_EQ(found.size(), 1u);
      EXPECT_NEAR(found[0].velocity_after(0), speed, 1e-12);
      EXPECT_EQ(events_of(study, backend, EventKind::breaks).size(), broken);
    };
  };
  by_reference_and_kernels(taut_string("3.5"), ends_with(-1, 0));
  by_reference_and_kernels(taut_string("2.5"), ends_with(-0.5, 1));
  by_reference_and_kernels(taut_string("1.5"), ends_with(0.5, 1));
}

// The reference did not list it.
TEST(FrictionFindings, ARodOverloadedAtTheStartBreaksThere) {
  by_reference_and_kernels(R"toml(
title = "A mass hangs on a rod that is too weak"
[[anchor]]
name = "hook"
position = [0, 0]
[[point]]
name = "p"
mass = 1
position = [0, -1]
[system]
gravity = [0, -10]
[[constraint]]
name = "rod"
require = "distance(hook, p) == 1"
limit = 9
breaks = true
impulse_limit = inf
[time]
end = 0.5
samples = 3
[measure]
failure = "first(breaks(rod))"
)toml",
                           [](const Study& study, Backend& backend) {
                             const std::vector<Event> found = events_of(study, backend, EventKind::breaks);
                             ASSERT_EQ(found.size(), 1u);
                             EXPECT_EQ(found[0].t, 0);
                           });
}

// The reference stopped it by a shock at the start, which nothing caused.
TEST(FrictionFindings, ABrakeThatSlipsAtTheStartBrakesByItsForce) {
  by_reference_and_kernels(R"toml(
title = "A wheel turns in a brake that bears impulses"
[[coordinate]]
name = "phi"
position = 0
velocity = 3
[system]
kinetic = "0.5*phi'^2"
[[constraint]]
name = "brake"
require = "phi' == 0"
limit = 2
impulse_limit = 10
[time]
end = 2
samples = 3
)toml",
                           [](const Study& study, Backend& backend) {
                             EXPECT_TRUE(events_of(study, backend, EventKind::shock).empty());
                             const std::vector<Event> found = events_of(study, backend, EventKind::lock);
                             ASSERT_EQ(found.size(), 1u);
                             EXPECT_NEAR(found[0].t, 1.5, 1e-12);
                           });
}

// Events of friction and limits in floats, at the tolerance that floats have.
TEST(FrictionFindings, SinglePrecisionAgreesWithTheReference) {
  for (const std::string name : {"belt_oscillator", "breaking_cable"}) {
    SCOPED_TRACE(name);
    const Study study =
        load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + name + ".toml",
                   {"integrator.precision=single", "integrator.rtol=1e-5", "integrator.atol=1e-5"});
    BackendCpu cpu(study, *HostCompiler::find(), 1);
    EXPECT_EQ(check(study, cpu, {.sample = 4, .threads = 1}).verdict(), CheckVerdict::pass);
  }
}

// The kernels compared motions without any force by shares of their forces, which were rounding: `ambiguous`.
TEST(FrictionFindings, BallsThatMeetInTheAirFallTogether) {
  by_reference_and_kernels(R"toml(
title = "Two balls meet in the air, stick together and fall beside a wall"
[[point]]
name = "a"
mass = 1.3
position = [0, 0]
velocity = [0, 5]
[[point]]
name = "b"
mass = 2.1
position = [0.3, 2]
velocity = [0, -3]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "wall"
require = "b.x <= 0.3"
[[constraint]]
name = "apart"
require = "distance(a, b) >= 1"
friction = 2
[time]
end = 0.5
samples = 6
)toml",
                           [](const Study& study, Backend& backend) {
                             const std::vector<Event> found = events_of(study, backend, EventKind::shock);
                             ASSERT_EQ(found.size(), 1u);
                             // They stick: one velocity after the shock.
                             EXPECT_NEAR(found[0].velocity_after(1), found[0].velocity_after(3), 1e-12);
                           });
}

// With dependent rows in force elsewhere the kernels' forces at outputs had the direction of the slip at the step's start.
TEST(FrictionFindings, ATetheredPuckPullsByItsSpeedBesideFeetAtRest) {
  by_reference_and_kernels(R"toml(
title = "A puck on a tether slows down on a table, on which a frame stands"
[[anchor]]
name = "hook"
position = [0, 0, 0]
[[point]]
name = "puck"
mass = 1
position = [1, 0, 0]
velocity = [0, 3, 0]
[[point]]
name = "left"
mass = 1
position = [5, 0, 0]
[[point]]
name = "right"
mass = 1
position = [6, 0, 0]
[system]
gravity = [0, 0, -10]
[[constraint]]
name = "tether"
require = "distance(hook, puck) == 1"
[[constraint]]
name = "rod"
require = "distance(left, right) == 1"
[[constraint]]
name = "table"
require = "puck.z >= 0"
friction = 0.2
[[constraint]]
name = "foot"
require = "left.z >= 0"
friction = 0.4
[[constraint]]
name = "other"
require = "right.z >= 0"
friction = 0.4
[time]
end = 1
samples = 11
[observe]
pull = "reaction(tether)"
)toml",
                           [](const Study& study, Backend& backend) {
                             const std::vector<unsigned long long> first = {0};
                             const BatchResults results =
                                 backend.run(prepare_batch(study, first, 1), {.observables = true});
                             ASSERT_EQ(results.observables.size(), study.time.outputs.size());
                             for (std::size_t j = 0; j < study.time.outputs.size(); ++j) {
                               const double speed = 3 - 2 * study.time.outputs[j];
                               EXPECT_NEAR(results.observables[j], speed * speed, 1e-7) << j;
                             }
                           });
}

// The kernels let a rod that bears impulses take no part in an impulse from outside. Of masses 1 and 3 joined along the
// impulse it transmits 3/4 of it, up to its bound, beside a foot that rests with friction.
TEST(FrictionFindings, ARodThatBearsImpulsesTransmitsOneFromOutside) {
  const auto study_with = [](const std::string& limit) {
    return R"toml(
[[point]]
name = "a"
mass = 1
position = [0, 1]
velocity = [0, 0]
[[point]]
name = "b"
mass = 3
position = [1, 1]
velocity = [0, 0]
[[point]]
name = "foot"
mass = 1
position = [3, 0]
velocity = [0, 0]
[system]
gravity = [0, -10]
[[constraint]]
name = "rod"
require = "distance(a, b) == 1"
limit = 50
)toml" + limit +
           R"toml(
[[constraint]]
name = "floor"
require = "foot.y >= 0"
friction = 0.3
[[impulse]]
at = 0.1
on = "a"
velocity = [2, 0]
[time]
end = 0.15
samples = 2
)toml";
  };
  for (const auto& [limit, transmitted] :
       {std::pair{"impulse_limit = 2", 1.5}, std::pair{"impulse_limit = 1", 1.0}}) {
    by_reference_and_kernels(study_with(limit), [&](const Study& study, Backend& backend) {
      const std::vector<Event> impulses = events_of(study, backend, EventKind::impulse);
      ASSERT_EQ(impulses.size(), 1u);
      ASSERT_FALSE(impulses[0].impulses.empty());
      EXPECT_NEAR(std::abs(impulses[0].impulses[0]), transmitted, 1e-12);
    });
  }
}

// The kernels counted the force beyond the limit, under which the string breaks at once, as a maximum of its force.
TEST(FrictionFindings, AForceUnderWhichAStringBreaksAtOnceNeverActs) {
  by_reference_and_kernels(R"toml(
[[point]]
name = "p"
mass = 1
position = [0, -0.5]
velocity = [6, 0]
[system]
gravity = [0, -10]
[[constraint]]
name = "string"
require = "norm(p) <= 1"
limit = 5
breaks = true
impulse_limit = inf
[measure]
largest = "maximum(reaction(string))"
[time]
end = 1
samples = 2
)toml",
                           [](const Study& study, Backend& backend) {
                             EXPECT_EQ(events_of(study, backend, EventKind::breaks).size(), 1u);
                             const std::vector<unsigned long long> first = {0};
                             const BatchResults results = backend.run(prepare_batch(study, first, 1), {});
                             EXPECT_EQ(results.measures[0], 0);
                           });
}

// A grip across a wall on which a point slides: what holds decides its motion, kappa is 0/0, and a grip at its limit would
// press the point against the wall by as much as it bears. The reference ended the member.
TEST(FrictionFindings, AGripAcrossAWallDoesNotPressAgainstIt) {
  by_reference_and_kernels(R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 0]
velocity = [0, 3]
[system]
gravity = [0, -10]
[[constraint]]
name = "wall"
require = "p.x >= 0"
friction = 0.4
[[constraint]]
name = "grip"
require = "p.x' == 0"
from = 0.05
until = 0.15
limit = 60
breaks = true
impulse_limit = 2
[time]
end = 0.2
samples = 3
)toml",
                           [](const Study& study, Backend& backend) {
                             const std::vector<unsigned long long> first = {0};
                             const BatchResults results = backend.run(prepare_batch(study, first, 1), {});
                             ASSERT_EQ(results.status[0], Status::ok);
                             EXPECT_NEAR(results.end_state[3], 3 - 10 * 0.2, 1e-9);  // p.y'
                           });
}

}  // namespace
}  // namespace zwang
