// Errors found by the soak test (tests/soak), each as the smallest study that shows it, in the reference and
// in the kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/check/check.h"
#include "host/study_file/load_study.h"

namespace zwang::soak_findings_test {
namespace {

constexpr std::size_t by_reference = 24;  // slow

struct Seen {
  std::size_t lost = 0;        // members that failed
  double energy = 0;           // largest drift, as a share of the energy
  long long most_watched = 0;  // most events of one member
};

Seen findings(const Study& study, Backend& backend, std::size_t count) {
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const BatchResults results = backend.run(prepare_batch(study, numbers, 2), {});
  Seen made;
  for (std::size_t k = 0; k < count; ++k) {
    if (results.status[k] != Status::ok) ++made.lost;
    made.energy = std::max(made.energy, results.audits[k].energy_drift / results.audits[k].energy_size);
    made.most_watched =
        std::max(made.most_watched,
                 results.event_counts[k * event_kinds + static_cast<std::size_t>(EventKind::event)]);
  }
  return made;
}

// A watched function at rest at zero crossed it by rounding; such a crossing, located later in the step than
// estimated, hid the contacts before it, and the ball fell through the floor.
TEST(SoakFindings, WhatRestsAtZeroDoesNotCrossItAndHidesNoContact) {
  const Study study = read_study(R"toml(
title = "One end of a rod rests on the table and is watched, while a ball bounces beside it"
[[point]]
name = "a"
mass = 1.3
position = [0, 0.15]
velocity = [{ uniform = [0.3, 0.9] }, { uniform = [-0.3, 0.3] }]
[[point]]
name = "b"
mass = 2.1
position = [0.6, 0.9]
velocity = [{ uniform = [-0.9, 0.9] }, { uniform = [-0.3, 0.3] }]
[[point]]
name = "ball"
mass = 1
position = [0, 1]
[system]
gravity = [0, -9.81]
potential = "20*b.x^2"
[[constraint]]
name = "rod"
require = "distance(a, b) == 0.96"
[[constraint]]
name = "table"
require = "a.y >= 0"
[[constraint]]
name = "floor"
require = "ball.y >= 0"
restitution = 0.95
[[event]]
name = "turn"
when = "a.y'"
[[event]]
name = "level"
when = "a.y"
[ensemble]
consistency = "project"
members = 256
[time]
end = 2
samples = 5
[integrator]
rtol = 1e-10
atol = 1e-12
)toml",
                                 "rest.toml");
  BackendReference reference(study, 2);
  BackendCpu cpu(study, *HostCompiler::find(), 2);
  const std::pair<Backend*, std::size_t> backends[] = {{&reference, by_reference}, {&cpu, 256}};
  for (const auto& [backend, count] : backends) {
    SCOPED_TRACE(backend->name());
    const Seen found = findings(study, *backend, count);
    EXPECT_EQ(found.lost, 0u);
    EXPECT_LT(found.energy, 1e-8);
    // The end reverses at most once while it rises, and once more when it is lifted and comes down.
    EXPECT_LE(found.most_watched, 4);
  }
  EXPECT_EQ(check(study, cpu, {.sample = 6, .threads = 2}).verdict(), CheckVerdict::pass);
}

// The maximum of the tension lies shortly after the end of a step. By a parabola through three points of the
// next step the tension was falling there, and the maximum was not searched for.
TEST(SoakFindings, AMaximumBesideTheEndOfAStepIsFound) {
  const Study study = read_study(R"toml(
title = "Three points on a rod and two strings"
[[anchor]]
name = "hook6"
position = [0.00822900431, 0.505124899]
[[point]]
name = "p7"
mass = 0.0961087812
position = [-0.0727125618, 0.362050847]
velocity = [{ normal = { mean = 1.86783202, std = 0.725379327 } }, { normal = { mean = 2.23104957, std = 0.725379327 } }]
[[point]]
name = "p9"
mass = 0.0238967545
position = [-0.0574465423, 0.526883262]
velocity = [{ normal = { mean = 1.92462647, std = 0.725379327 } }, 0]
[[point]]
name = "p11"
mass = 0.273324704
position = [-0.0542485482, 0.668345078]
velocity = [{ uniform = [0.96987428, 2.42063293] }, { uniform = [0.373753591, 1.82451225] }]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "rod"
require = "distance(hook6, p7) == 0.164382851"
[[constraint]]
name = "upper"
require = "distance(p7, p9) <= 0.177286157"
restitution = 0.2
[[constraint]]
name = "lower"
require = "distance(p9, p11) <= 0.14149796"
[ensemble]
consistency = "project"
members = 256
[time]
end = 0.6
[integrator]
rtol = 1e-6
atol = 2.6487216e-7
[measure]
pull = "maximum(reaction(lower))"
)toml",
                                 "chain.toml");
  BackendReference reference(study, 2);
  BackendCpu cpu(study, *HostCompiler::find(), 2);
  std::vector<unsigned long long> numbers(128);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 2);
  const std::vector<double> truth = reference.run(batch, {}).measures, found = cpu.run(batch, {}).measures;
  // They agree to 4e-5; maxima that were missed were up to 2.6e-3 higher.
  for (std::size_t k = 0; k < truth.size(); ++k) EXPECT_NEAR(found[k], truth[k], 1e-4 * truth[k]) << k;
}

// A force that begins at an event and decreases from then on: its maximum is its first value, at which no
// step ends. x' = 3 t - t^2/2 reaches 1 at t = 3 - sqrt(7), where the limit has to hold 3 - t; so has the
// floor when y lands.
TEST(SoakFindings, AForceThatIsLargestAtTheEventThatBringsItIsSeen) {
  const Study study = read_study(R"toml(
title = "A limit on a speed and a floor, under forces that fade"
[[coordinate]]
name = "x"
position = 0
velocity = 0
[[coordinate]]
name = "y"
position = 1
velocity = 0
[system]
kinetic = "0.5*(x'^2 + y'^2)"
[system.force]
x = "3 - t"
y = "t - 3"
[[constraint]]
name = "limit"
require = "x' <= 1"
[[constraint]]
name = "floor"
require = "y >= 0"
[ensemble]
members = 1
[time]
end = 1.5
samples = 2
[integrator]
rtol = 1e-9
atol = 1e-9
[measure]
held = "maximum(reaction(limit))"
carried = "maximum(reaction(floor))"
landed = "first(contact(floor))"
)toml",
                                 "fading.toml");
  BackendReference reference(study, 1);
  BackendCpu cpu(study, *HostCompiler::find(), 1);
  const std::vector<unsigned long long> numbers = {0};
  const Batch batch = prepare_batch(study, numbers, 1);
  Backend* const backends[] = {&reference, &cpu};
  for (Backend* backend : backends) {
    SCOPED_TRACE(backend->name());
    const std::vector<double> found = backend->run(batch, {}).measures;
    EXPECT_NEAR(found[0], std::sqrt(7.0), 1e-8);
    EXPECT_NEAR(found[1], 3 - found[2], 1e-8);
  }
}

}  // namespace
}  // namespace zwang::soak_findings_test
