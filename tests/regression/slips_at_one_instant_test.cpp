// Slips of several contacts at one instant: errors found by the soak test.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/program/host_compiler.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/both_backends.h"

namespace zwang::slips_at_one_instant_test {
namespace {

// A rod slides with one end on a floor and the other at a wall, the lower end towards the wall. It has one degree of freedom,
// so both slips vanish at one instant, and friction holds it there: the slopes of its forces at both ends lie inside the
// cones.
const char* const rod_at_a_wall = R"toml(
[[point]]
name = "a"
mass = 1
position = [100.6, 0]
velocity = [{uniform = [-2, -0.1]}, 0]
[[point]]
name = "b"
mass = 2
position = [100, 0.8]
velocity = [0, 0]
[system]
gravity = [0, -3]
[[constraint]]
name = "rod"
require = "distance(a, b) == 1"
[[constraint]]
name = "floor"
require = "a.y >= 0"
friction = 0.9
[[constraint]]
name = "wall"
require = "b.x >= 100"
friction = 0.6
[time]
end = 2
samples = 2
[ensemble]
members = 1000
consistency = "project"
[measure]
sticks_floor = "first(sticks(floor))"
sticks_wall = "first(sticks(wall))"
reverses = "count(reverses(floor)) + count(reverses(wall))"
)toml";

// What was left of one slip was that of the other too, and its rounding a slip the other way. The reference listed one
// `reverse` a rod, and its ends stopped 0.04 s apart on average; in the kernels that was so for a few of the 1000 rods (soak
// with friction, seed 71172).
void expect_common_stop(const Study& study, Backend& backend, unsigned long long count) {
  std::vector<unsigned long long> members(count);
  std::iota(members.begin(), members.end(), 0);
  const BatchResults results = backend.run(prepare_batch(study, members, 1), {});
  for (std::size_t k = 0; k < count; ++k) {
    ASSERT_EQ(results.status[k], Status::ok) << k;
    const double* measures = &results.measures[3 * k];
    EXPECT_EQ(measures[0], measures[1]) << k;
    EXPECT_EQ(measures[2], 0) << k;
  }
}

TEST(SlipsAtOneInstant, BothEndsOfARodStickAtOneInstantInKernels) {
  const Study study = read_study(rod_at_a_wall, "rod_at_a_wall.toml");
  BackendCpu cpu(study, *HostCompiler::find(), 1);
  expect_common_stop(study, cpu, 1000);
}

TEST(SlipsAtOneInstant, BothEndsOfARodStickAtOneInstantInTheReference) {
  const Study study = read_study(rod_at_a_wall, "rod_at_a_wall.toml");
  BackendReference reference(study, 1);
  expect_common_stop(study, reference, 40);
}

// A point is pushed into a corner of a wall and a floor with friction. Its forces are not unique; of least norm are those with
// the friction of the floor on its cone. It sticks nevertheless, also when a block elsewhere begins to slide: the reference
// listed both, because all contacts at their cones were taken to slide (soak with friction, seed 60328).
TEST(SlipsAtOneInstant, AContactOnItsConeByChoiceSticksWhereAnotherSlides) {
  const Study study = read_study(R"toml(
[[point]]
name = "a"
mass = 1
position = [0, 0]
[[point]]
name = "b"
mass = 1
position = [5, 0]
[system]
gravity = [0, -10]
[system.force]
"a.x" = -20
"b.x" = "6*sin(t)"
[[constraint]]
name = "wall"
require = "a.x >= 0"
[[constraint]]
name = "corner"
require = "a.y >= 0"
friction = 0.2
[[constraint]]
name = "floor"
require = "b.y >= 0"
friction = 0.5
[time]
end = 1.2
samples = 2
[measure]
slides = "count(slides(corner))"
sticks = "final(sticking(corner))"
begins = "first(slides(floor))"
)toml",
                                 "corner.toml");
  by_both(study, [&](Backend& backend) {
    const BatchResults results = first_member(study, backend);
    ASSERT_EQ(results.status[0], Status::ok);
    EXPECT_EQ(results.measures[0], 0);
    EXPECT_EQ(results.measures[1], 1);
    EXPECT_NEAR(results.measures[2], std::asin(5.0 / 6), 1e-9);
  });
}

}  // namespace
}  // namespace zwang::slips_at_one_instant_test
