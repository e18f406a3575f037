// Motions that once went wrong, each as a small study, on the reference and in the kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "host/backend_cpu.h"
#include "host/backend_reference.h"
#include "host/batch.h"
#include "host/check.h"

namespace zwang {
namespace {

BatchResults run_members(const Study& study, Backend& backend, std::size_t count) {
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  return backend.run(prepare_batch(study, numbers, 2), {});
}

// The largest value of the first measure over all members; infinite where one of them did not end well.
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

// A ball at rest was allowed any step, whatever it would fall over: only rates at the step's start were looked at. A peg
// thin against the step makes a curve so sharp that parabolas through its samples did not see it.
TEST(MotionFindings, NoBallFallsThroughAPegWithoutAStepBound) {
  // What a graze still unseen could be: far below the accuracy to which the contact is worth locating.
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

// Free flight is exact for the method: a step of any length passes the tolerance, and with it over any hill.
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
  // To where the bump is as high as the bead flies.
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

// The step's own error is kept to tolerance; that of dop853's interpolant is not, and outputs came from it.
TEST(MotionFindings, OutputsInsideALongStepAreAsExactAsTheStep) {
  Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/falling_chain.toml",
                           {"integrator.method=dop853", "time.end=0.1", "time.samples=5"});
  BackendCpu cpu(study, *HostCompiler::find(), 2);
  EXPECT_EQ(check(study, cpu, {.sample = 16, .threads = 2}).verdict(), CheckVerdict::pass);
}

}  // namespace
}  // namespace zwang
