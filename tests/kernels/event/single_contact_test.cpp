// Three ways to handle an event give one answer: in registers (kernels/lanes/fast_event.h), without a
// quadratic program (kernels/event/single_contact.h, initial_active_set.h) and in general
// (kernels/event/dispatch.h). Programs without the faster ways give the same members, and events that they do
// not cover are left to the general one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/backend/backend_cpu.h"
#include "host/backend/batch.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/layout.h"

namespace zwang::single_contact_test {
namespace {

struct Ways {
  BatchResults fast, single, general;
};

void replace(KernelProgram& program, const std::string& file, const std::string& text,
             const std::string& by) {
  std::string& source = program.text.sources.at("kernels/" + file);
  const std::size_t place = source.find(text);
  ASSERT_NE(place, std::string::npos) << text;
  source.replace(place, text.size(), by);
}

Ways all_ways(const Study& study, std::size_t count) {
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 2);
  KernelProgram program = cpu_program(study, LaneChoice::best);
  BackendCpu fast(study, program, *HostCompiler::find(), 2);
  replace(program, "lanes/fast_event.h", "PointKind::possible && ", "false && ");
  replace(program, "lanes/fast_event.h", "(Model::signals > 0) && knows_signals", "false && knows_signals");
  BackendCpu single(study, program, *HostCompiler::find(), 2);
  replace(program, "event/single_contact.h", "if constexpr (SingleContactSolver<M>::possible) {",
          "if constexpr (false) {");
  replace(program, "event/initial_active_set.h", "if (!(next_scheduled_event(me) > now)) return false;",
          "return false;");
  BackendCpu general(study, program, *HostCompiler::find(), 2);
  Wanted wanted;
  wanted.events = true;
  return {fast.run(batch, wanted), single.run(batch, wanted), general.run(batch, wanted)};
}

// Without the last hops before an accumulation: rounding decides which of them is too low to be followed.
MemberEvents without_last_hops(const MemberEvents& all) {
  MemberEvents made;
  for (const auto& event : all) {
    const bool is_hop = event.kind == EventKind::contact || event.kind == EventKind::shock;
    const bool accumulates = std::any_of(all.begin(), all.end(), [&](const auto& other) {
      return other.kind == EventKind::accumulation && other.t >= event.t && other.t - event.t < 2e-6;
    });
    if (!is_hop || !accumulates) made.push_back(event);
  }
  return made;
}

// Events of the same kinds and conditions, at the same times and with the same loss of energy to rounding.
void expect_same_events(const MemberEvents& first, const MemberEvents& second, std::size_t member) {
  const MemberEvents a = without_last_hops(first), b = without_last_hops(second);
  ASSERT_EQ(a.size(), b.size()) << "member " << member;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].kind, b[i].kind) << "member " << member << ", event " << i;
    EXPECT_EQ(a[i].constraints, b[i].constraints) << "member " << member << ", event " << i;
    EXPECT_NEAR(a[i].t, b[i].t, 1e-9) << "member " << member << ", event " << i;
    EXPECT_NEAR(a[i].energy_lost, b[i].energy_lost, 1e-8) << "member " << member << ", event " << i;
  }
}

class SingleContact : public testing::TestWithParam<std::string> {};

TEST_P(SingleContact, GivesTheEventsOfTheGeneralWay) {
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + GetParam() + ".toml");
  const std::size_t count = 24;
  const Ways ways = all_ways(study, count);
  EXPECT_EQ(ways.fast.status, ways.general.status);
  EXPECT_EQ(ways.single.status, ways.general.status);
  long long events = 0;
  for (std::size_t m = 0; m < count; ++m) {
    expect_same_events(ways.fast.events.at(m), ways.general.events.at(m), m);
    expect_same_events(ways.single.events.at(m), ways.general.events.at(m), m);
    events += static_cast<long long>(ways.single.events.at(m).size());
  }
  EXPECT_GT(events, 0) << "a study without events proves nothing";
}

// Strings that go slack and taut, hops off a moving floor, a rebound, several bodies, equations beside
// inequalities; rebounds with friction, of a disc and of a frame of rods.
INSTANTIATE_TEST_SUITE_P(Configs, SingleContact,
                         testing::Values("string_pendulum", "bouncing_ball", "slung_load", "three_balls",
                                         "shaken_table", "crane_slings", "impact_oscillator", "gate_stops",
                                         "oblique_ball", "tumbling_box"),
                         [](const auto& name) { return name.param; });

// Rebounds in free flight among more conditions than a lane handles otherwise (kernels/lanes/free_impact.h):
// two disks of different masses in a box with a peg, under gravity; formulas at shocks and contacts. Beside
// them watched functions and the kink of an integrand (kernels/lanes/signal_point.h).
TEST(FreeImpactsAndSignals, GiveTheEventsAndMeasuresOfTheGeneralWay) {
  const Study study = read_study(R"toml(
[parameters]
u = { uniform = [-2, 2] }
w = { uniform = [-2, 2] }
x = { uniform = [0.3, 0.8] }
[[point]]
name = "a"
mass = 1
position = ["x", 1.6]
velocity = ["u", "w"]
[[point]]
name = "b"
mass = 3
position = ["x + 1.2", 0.7]
velocity = ["w", "-u"]
[[anchor]]
name = "peg"
position = [1.5, 1.7]
[system]
gravity = [0, -1]
[[constraint]]
name = "pair"
require = "distance(a, b) >= 0.5"
restitution = 0.9
[[constraint]]
name = "left"
require = "a.x >= 0"
restitution = 0.8
[[constraint]]
name = "right"
require = "b.x <= 2.5"
restitution = 1
[[constraint]]
name = "floor_a"
require = "a.y >= 0"
restitution = 0.7
[[constraint]]
name = "floor_b"
require = "b.y >= 0.02*sin(9*t)"
restitution = 0.95
[[constraint]]
name = "peg_a"
require = "distance(a, peg) >= 0.2"
restitution = 0.6
[ensemble]
members = 64
[time]
end = 2.5
samples = 4
[[event]]
name = "middle"
when = "a.x - 1.0"
[[event]]
name = "rise"
when = "b.y - 0.5"
direction = 1
[measure]
crossings = "count(event(middle))"
risen = "last(event(rise))"
sideways = "at(event(middle), a.y' + 0.1*b.x)"
path = "integral(abs(a.x'))"
speed = "at(shock(floor_a), a.y')"
before = "at(contact(floor_b), b.y')"
hit = "at(shock(pair), (a.x' - b.x')^2 + t)"
kick = "total(impulse(pair))"
)toml",
                                 "box.toml");
  const std::size_t count = 64;
  const Ways ways = all_ways(study, count);
  EXPECT_EQ(ways.fast.status, ways.general.status);
  std::size_t events = 0, measured = 0;
  for (std::size_t m = 0; m < count; ++m) {
    expect_same_events(ways.fast.events.at(m), ways.general.events.at(m), m);
    events += ways.fast.events.at(m).size();
  }
  constexpr std::size_t measures = 8;
  ASSERT_EQ(ways.fast.measures.size(), measures * count);
  for (std::size_t i = 0; i < measures * count; ++i) {
    const double fast = ways.fast.measures[i], general = ways.general.measures[i];
    EXPECT_EQ(std::isnan(fast), std::isnan(general))
        << "member " << i / measures << ", measure " << i % measures;
    if (std::isnan(general)) continue;
    EXPECT_NEAR(fast, general, 1e-8) << "member " << i / measures << ", measure " << i % measures;
    measured += general != 0;
  }
  EXPECT_GT(events, 4 * count);
  EXPECT_GT(measured, 3 * count);
}

// A point in a corner, where it may rest, slide, separate or strike, on a string that may be taut, under
// gravity in any direction; `more` are further constraints.
Study corner(const std::string& more) {
  return read_study(R"toml(
title = "Starts in a corner"
[parameters]
x0 = { choice = [0.0, 0.6] }
y0 = { choice = [0.0, 0.8] }
vx = { choice = [-0.5, 0.0, 0.8] }
vy = { choice = [-0.6, 0.0, 0.5] }
gx = { choice = [-1.0, 0.0, 1.0] }
gy = { choice = [-1.0, 0.0, 1.0] }
[[anchor]]
name = "nail"
position = [0, 0]
[[point]]
name = "p"
mass = 2
position = ["x0", "y0"]
velocity = ["vx", "vy"]
[system]
gravity = ["gx", "gy"]
[[constraint]]
name = "floor"
require = "p.y >= 0"
[[constraint]]
name = "wall"
require = "p.x >= 0"
restitution = 0.5
[[constraint]]
name = "string"
require = "distance(p, nail) <= 1"
)toml" + more + R"toml(
[ensemble]
members = 600
seed = 3
[time]
end = 0.4
samples = 3
)toml",
                    "corner.toml");
}

void expect_same_starts(const Study& study) {
  const std::size_t count = 600;
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 2);
  KernelProgram program = cpu_program(study, LaneChoice::best);
  BackendCpu single(study, program, *HostCompiler::find(), 2);
  replace(program, "event/initial_active_set.h", "if (!(next_scheduled_event(me) > now)) return false;",
          "return false;");
  BackendCpu general(study, program, *HostCompiler::find(), 2);
  const Wanted wanted{.states = true, .events = true};
  const BatchResults a = single.run(batch, wanted), b = general.run(batch, wanted);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.redundant, b.redundant);
  ASSERT_EQ(a.states.size(), b.states.size());
  const std::size_t row = a.states.size() / count;
  for (std::size_t m = 0; m < count; ++m) {
    expect_same_events(a.events.at(m), b.events.at(m), m);
    for (std::size_t i = 0; i < row; ++i)
      EXPECT_NEAR(a.states[m * row + i], b.states[m * row + i], 1e-8) << "member " << m << ", number " << i;
  }
}

TEST(InitialActiveSet, IsThatOfTheGeneralWay) { expect_same_starts(corner("")); }
TEST(InitialActiveSet, IsLeftToTheGeneralWayWithDependentConditions) {
  expect_same_starts(corner("[[constraint]]\nname = \"floor_again\"\nrequire = \"3*p.y >= 0\"\n"));
}
TEST(InitialActiveSet, IsLeftToTheGeneralWayWithScheduledEvents) {
  expect_same_starts(
      corner("[[constraint]]\nname = \"lid\"\nrequire = \"p.y <= 0.8\"\nfrom = 0\nuntil = 0.2\n"));
}

// A truncated step ends a little before the crossing or a little beyond it
// (kernels/rootfinding/step_length_search.h). Output times in between are as accurate as any: sin t, mirrored
// at the wall again and again, at twenty thousand times.
TEST(StepsThatEndAtAnEvent, GiveOutputTimesTheStateOfTheirOwnSide) {
  const Study study = read_study(R"toml(
title = "An oscillator mirrored at a wall"
[parameters]
wall = { uniform = [0.3, 0.9] }
[[coordinate]]
name = "x"
position = 0
velocity = 1
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[[constraint]]
name = "stopper"
require = "x <= wall"
restitution = 1.0
[ensemble]
members = 16
[time]
end = 10
samples = 20001
[observe]
x = "x"
[integrator]
rtol = 1e-6
atol = 1e-6
)toml",
                                 "mirrored.toml");
  const std::size_t count = 16, outputs = study.time.outputs.size();
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 2);
  BackendCpu backend(study, *HostCompiler::find(), 2);
  const BatchResults results = backend.run(batch, {});
  for (std::size_t m = 0; m < count; ++m) {
    // From the wall back to the wall the phase runs from pi - arcsin(wall) to arcsin(wall) + 2 pi.
    const double wall = batch.parameters.at(m), contact = std::asin(wall), pi = std::acos(-1.0);
    const double lap = pi + 2 * contact;
    for (std::size_t i = 0; i < outputs; ++i) {
      const double t = study.time.outputs[i];
      const double phase = t < contact ? t : pi - contact + std::fmod(t - contact, lap);
      ASSERT_NEAR(results.observables[m * outputs + i], std::sin(phase), 3e-5)
          << "member " << m << ", t = " << t;
    }
  }
}

}  // namespace
}  // namespace zwang::single_contact_test
