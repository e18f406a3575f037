// What the soak (tests/soak) has found, each as the smallest study that showed it; on the reference and in the kernels.
#include <gtest/gtest.h>

#include <numeric>

#include "host/backend_cpu.h"
#include "host/backend_reference.h"
#include "host/batch.h"
#include "host/check.h"

namespace zwang {
namespace {

constexpr std::size_t by_reference = 24;  // slow

struct Seen {
  std::size_t lost = 0;        // members that did not end well
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

// Watched functions that rest at zero crossed it with every rounding; each crossing, located later in the step than
// guessed, hid contacts before it, and the ball went through the floor.
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
    // The end turns at most once on its way up, and once again when it is lifted and comes down.
    EXPECT_LE(found.most_watched, 4);
  }
  EXPECT_EQ(check(study, cpu, {.sample = 6, .threads = 2}).verdict(), CheckVerdict::pass);
}

}  // namespace
}  // namespace zwang
