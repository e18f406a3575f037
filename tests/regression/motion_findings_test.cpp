// Motions that were once computed wrongly, each as a small study, in the reference and in the kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/check/check.h"
#include "host/study_file/load_study.h"
#include "tests/support/batch_runs.h"

namespace zwang::motion_findings_test {
namespace {

// The largest value of the first measure over all members; infinite where one of them failed.
double largest_measure(const Study& study, Backend& backend, std::size_t count) {
  const BatchResults results = run_members(study, backend, count);
  const std::size_t measures = study.system->measures.size();
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < count; ++k) {
    if (results.status[k] != Status::ok) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, results.measures[k * measures]);
  }
  return largest;
}

Study board(const std::string& radius) {
  return read_study(R"toml(
title = "Balls dropped through rows of pegs that repeat without end"
[parameters]
a = 0.03
h = 0.026
r = )toml" + radius + R"toml(
[[point]]
name = "ball"
mass = 0.005
position = [{ uniform = [-0.004, 0.004] }, "0.6*h"]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "even"
require = "hypot(wrap(ball.x, a), wrap(ball.y, 2*h)) >= r"
restitution = { uniform = [0.3, 0.6] }
[[constraint]]
name = "odd"
require = "hypot(wrap(ball.x - a/2, a), wrap(ball.y - h, 2*h)) >= r"
restitution = 0.5
[ensemble]
members = 1000
[time]
end = 1.5
samples = 3
[measure]
inside = "maximum(max(value(even), value(odd)))"
)toml",
                    "board.toml");
}

// The step of a ball at rest was not bounded, since only rates at the start of the step were used. A peg that
// is thin compared with the step makes the event function so sharp that parabolas through its samples missed
// it.
TEST(MotionFindings, NoBallFallsThroughAPegWithoutAStepBound) {
  // The depth of a graze that may be missed: far below the accuracy to which contacts are located.
  constexpr double through = 1e-9;
  for (const std::string radius : {"0.008", "0.001"}) {
    SCOPED_TRACE("radius " + radius);
    const Study study = board(radius);
    BackendReference reference(study, 2);
    BackendCpu cpu(study, *HostCompiler::find(), 2);
    EXPECT_LT(largest_measure(study, reference, 12), through);
    EXPECT_LT(largest_measure(study, cpu, 400), through);
  }
}

// The method is exact in free flight: a step of any length satisfies the tolerance, even one across an
// obstacle.
TEST(MotionFindings, ABumpInTheGroundIsNotLeaptOver) {
  const Study study = read_study(R"toml(
title = "A bead flies over a plain with one narrow bump"
[[point]]
name = "bead"
mass = 1
position = [-8, 0.05]
velocity = [{ uniform = [1, 3] }, 0]
[[auxiliary]]
name = "phase"
initial = 0
rate = "20"
[[constraint]]
name = "bump"
require = "bead.y >= 0.2*exp(-(bead.x/0.2)^2)"
restitution = 1
[[event]]
name = "beat"
when = "sin(phase) - 0.999"
direction = 1
[ensemble]
members = 200
[time]
end = 6
samples = 2
[measure]
inside = "maximum(value(bump))"
hits = "count(shock(bump))"
beats = "count(event(beat))"
)toml",
                                 "bump.toml");
  // The place where the bump is as high as the flight of the bead.
  const double way = 8 - 0.2 * std::sqrt(std::log(4.0));
  BackendReference reference(study, 2);
  BackendCpu cpu(study, *HostCompiler::find(), 2);
  const std::pair<Backend*, std::size_t> backends[] = {{&reference, 12}, {&cpu, 200}};
  for (const auto& [backend, count] : backends) {
    SCOPED_TRACE(backend->name());
    const BatchResults results = run_members(study, *backend, count);
    for (std::size_t k = 0; k < count; ++k) {
      const double speed = prepare_batch(study, std::vector<unsigned long long>{k}, 1).starts[2];
      EXPECT_LT(results.measures[3 * k], 1e-9);
      EXPECT_EQ(results.measures[3 * k + 1], speed * 6 > way ? 1 : 0) << "speed " << speed;
      EXPECT_EQ(results.measures[3 * k + 2], 19);  // 120 radians
    }
  }
}

// Hops in a bowl push the ball against a velocity limit. Completing the accumulation left the velocity below
// the limit by the rest of the hops, and for that moment the reaction of the bowl was larger than its true
// maximum.
TEST(MotionFindings, TheEndOfHopsLeavesAVelocityLimitClosed) {
  const auto study_with = [](const std::string& gap) {
    return read_study(R"toml(
title = "Hopping in a bowl at a velocity limit"
[[point]]
name = "ball"
mass = 0.002
position = [-11, 6, 51]
velocity = [{ normal = { mean = -15, std = 5 } }, 1, { uniform = [-16, -6] }]
[system]
gravity = [0, 0, -9.81]
[[constraint]]
name = "belt"
require = "ball.x' <= 9.8"
[[constraint]]
name = "bowl"
require = "ball.z >= -27 + 0.02*ball.x^2"
restitution = { uniform = [0.3, 0.6] }
[ensemble]
members = 40
[time]
end = 5.3
samples = 2
[integrator]
rtol = 1e-8
atol = 1e-8
accumulation_gap = )toml" +
                          gap + R"toml(
[measure]
peak = "maximum(reaction(bowl))"
touches = "count(contact(belt))"
ends = "count(accumulation(bowl))"
)toml",
                      "belt.toml");
  };
  const Study coarse = study_with("1e-6"), fine = study_with("1e-9");
  BackendReference with_coarse(coarse, 2), with_fine(fine, 2);
  BackendCpu cpu(coarse, *HostCompiler::find(), 2);
  const BatchResults a = run_members(coarse, with_coarse, 40), b = run_members(fine, with_fine, 40);
  const BatchResults c = run_members(coarse, cpu, 40);
  double ends = 0;
  for (std::size_t k = 0; k < 40; ++k) {
    SCOPED_TRACE("member " + std::to_string(k));
    EXPECT_NEAR(a.measures[3 * k], b.measures[3 * k], 1e-5 * b.measures[3 * k]);
    EXPECT_NEAR(c.measures[3 * k], b.measures[3 * k], 1e-5 * b.measures[3 * k]);
    // The limit is reached during the hops and not left again.
    for (const BatchResults* results : {&a, &b, &c})
      EXPECT_EQ(results->event_counts[k * event_kinds + static_cast<std::size_t>(EventKind::touch)], 0);
    ends += b.measures[3 * k + 2];
  }
  EXPECT_GT(ends, 10);
}

// For a state at rest at zero, size and rate are rounding errors; the first step was computed from their
// ratio.
TEST(MotionFindings, WhatRestsAtExactlyZeroGoesOnResting) {
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/gate_stops.toml",
                                 {"parameters.shut_at=0", "time.samples=25"});
  BackendReference reference(study, 2);
  EXPECT_EQ(check(study, reference, {.sample = 4, .threads = 2}).verdict(), CheckVerdict::pass);
  BackendCpu cpu(study, *HostCompiler::find(), 2);
  EXPECT_EQ(check(study, cpu, {.sample = 8, .threads = 2}).verdict(), CheckVerdict::pass);
}

// Floats: outputs shortly before an event, within 1/2000 of the time, had the values at the event; a cable
// that was slack for less than a step was not detected as taut again; hops and accumulations end earlier than
// in doubles.
TEST(MotionFindings, SinglePrecisionAgreesWithTheReference) {
  for (const std::string name :
       {"bouncing_ball", "impact_oscillator", "double_string", "slung_load", "gate_stops"}) {
    SCOPED_TRACE(name);
    const Study study =
        load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + name + ".toml",
                   {"integrator.precision=single", "integrator.rtol=1e-5", "integrator.atol=1e-5"});
    BackendCpu cpu(study, *HostCompiler::find(), 2);
    EXPECT_EQ(check(study, cpu, {.sample = 8, .threads = 2}).verdict(), CheckVerdict::pass);
  }
}

// In floats t + h is rounded, but the motion advanced by the unrounded h.
TEST(MotionFindings, TheClockOfFloatsKeepsPaceWithTheMotion) {
  const Study study = read_study(R"toml(
title = "Two hundred radians of an oscillator in steps of a thousandth"
[[coordinate]]
name = "x"
position = 1
velocity = 0
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[ensemble]
members = 1
[time]
end = 200
samples = 2
[integrator]
method = "rk4"
step = 1e-3
precision = "single"
[measure]
late = "final(atan2(x*sin(t) + x'*cos(t), x*cos(t) - x'*sin(t)))"
)toml",
                                 "clock.toml");
  BackendCpu cpu(study, *HostCompiler::find(), 1);
  const BatchResults results = run_members(study, cpu, 1);
  ASSERT_EQ(results.status[0], Status::ok);
  // Rounding of 200 000 steps: about the square root of their number times 6e-8. The error was 0.45 before.
  EXPECT_LT(std::abs(results.measures[0]), 1e-3);
}

// The tolerance applies to the step, not to dop853's interpolant, from which outputs were taken.
TEST(MotionFindings, OutputsInsideALongStepAreAsExactAsTheStep) {
  Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/falling_chain.toml",
                           {"integrator.method=dop853", "time.end=0.1", "time.samples=5"});
  BackendCpu cpu(study, *HostCompiler::find(), 2);
  EXPECT_EQ(check(study, cpu, {.sample = 16, .threads = 2}).verdict(), CheckVerdict::pass);
}

// Two corners of the box reach the floor within 20 microseconds, and the search over the step length ended at the
// later one: the first was then 56 micrometres below the floor.
TEST(CloseContacts, AreTakenInTheirOrder) {
  const Study study =
      load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/tumbling_box.toml", {"ensemble.members=131072"});
  const std::vector<unsigned long long> numbers{3987};
  const Batch batch = prepare_batch(study, numbers, 1);
  BackendCpu cpu(study, *HostCompiler::find(), 1);
  BackendReference reference(study, 1);
  const BatchResults kernels = cpu.run(batch, {}), judged = reference.run(batch, {});
  EXPECT_EQ(kernels.status[0], Status::ok);
  EXPECT_EQ(kernels.event_counts, judged.event_counts);
}

}  // namespace
}  // namespace zwang::motion_findings_test
