// Sampler::prepare gives the same verdicts and projections as the reference does one member at a time, and is
// fast.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>

#include "host/sample/member.h"
#include "host/sample/sample.h"
#include "host/sample/sampler.h"
#include "host/study_file/load_study.h"
#include "src/base/error.h"

namespace zwang::prepare_member_test {
namespace {

// A pendulum with some starts off its rod, a wall with some starts behind it, a rail imposed at the start or
// later, a line that is lifted at the start or later, and a speed limit.
const std::string crowded = R"(
[parameters]
L = { uniform = [0.9, 1.1] }
v = { normal = { mean = 0, std = 1 } }
wall = { choice = [-2, 0.5] }
later = { choice = [0, 1] }
lift = { choice = [0, 5] }
[[point]]
name = "a"
mass = 1
position = [{ choice = [0, 0.3] }, "-1"]
velocity = ["v", 0]
[[point]]
name = "b"
mass = "1 + L"
position = [{ uniform = [-1, 2] }, 0]
velocity = [{ choice = [0, 1] }, { choice = [0, 0.5] }]
[[constraint]]
name = "rod"
require = "norm(a) == 1"
[[constraint]]
name = "wall"
require = "b.x >= wall"
[[constraint]]
name = "rail"
require = "b.y == 0"
from = "later"
[[constraint]]
name = "line"
require = "a.x == 0"
until = "lift"
[[constraint]]
name = "limit"
require = "b.x' + a.x' <= 1.5"
[ensemble]
members = 300
[time]
end = 1
)";

Study crowded_study(const std::string& consistency) {
  return read_study(crowded, "crowded.toml", {"ensemble.consistency=\"" + consistency + "\""});
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PrepareMembers, StartsAreJudgedAndMovedAsOneAtATime) {
  const Study study = crowded_study("project");
  const Sampler sampler(study);
  Sampler::Scratch scratch;
  PreparedMember made;
  int consistent = 0, moved_position = 0, moved_velocity_only = 0;
  for (unsigned long long k = 0; k < 300; ++k) {
    sampler.prepare(k, scratch, made);
    const MemberInputs inputs = draw_member(study, k);
    State state = inputs.start;
    const Start expected =
        prepare_start(Equations(*study.system, inputs.parameters), study.integrator, state);
    EXPECT_EQ(made.inputs.parameters, inputs.parameters);
    EXPECT_EQ(made.inputs.start.q, inputs.start.q);
    EXPECT_EQ(made.preparation.status, expected.status);
    EXPECT_EQ(made.preparation.consistent, expected.consistent);
    EXPECT_EQ(made.preparation.position_moved, expected.position_moved);
    EXPECT_EQ(made.preparation.velocity_moved, expected.velocity_moved);
    EXPECT_EQ(made.start.q, state.q);
    EXPECT_EQ(made.start.v, state.v);
    EXPECT_EQ(made.attempts, 1U);
    consistent += expected.consistent;
    moved_position += expected.position_moved > 0;
    moved_velocity_only += expected.position_moved == 0 && expected.velocity_moved > 0;
  }
  // The study covers every branch.
  EXPECT_GT(consistent, 5);
  EXPECT_GT(moved_position, 100);
  EXPECT_GT(moved_velocity_only, 5);
}

TEST(PrepareMembers, RejectDrawsUntilTheStartIsConsistent) {
  const Study study = crowded_study("reject");
  const Sampler sampler(study);
  Sampler::Scratch scratch;
  PreparedMember made;
  unsigned long long attempts = 0;
  for (unsigned long long k = 0; k < 300; ++k) {
    sampler.prepare(k, scratch, made);
    ASSERT_EQ(made.preparation.status, Status::ok);
    EXPECT_TRUE(made.preparation.consistent);
    EXPECT_EQ(made.preparation.position_moved, 0);
    EXPECT_EQ(made.inputs.parameters, draw_member(study, k, made.attempts - 1).parameters);
    State state = made.start;
    const Equations equations(*study.system, made.inputs.parameters);
    EXPECT_TRUE(prepare_start(equations, study.integrator, state).consistent);
    if (made.attempts > 1) {
      const MemberInputs refused = draw_member(study, k, made.attempts - 2);
      state = refused.start;
      const Equations before(*study.system, refused.parameters);
      EXPECT_FALSE(prepare_start(before, study.integrator, state).consistent);
    }
    attempts += made.attempts;
  }
  EXPECT_GT(attempts, 600U);
}

TEST(PrepareMembers, RejectGivesUpWithAStatusAndTheDrawnStart) {
  const Study study = read_study(R"(
[parameters]
L = { uniform = [2, 3] }
[[coordinate]]
name = "x"
position = "L"
velocity = 0
[system]
kinetic = "0.5*x'^2"
[[constraint]]
name = "wall"
require = "x <= 1"
[ensemble]
members = 2
include_nominal = true
consistency = "reject"
[time]
end = 1
)",
                                 "hopeless.toml");
  for (const unsigned long long k : {0ULL, 1ULL}) {
    const PreparedMember made = prepare_member(study, k);
    EXPECT_EQ(made.preparation.status, Status::inconsistent_start);
    EXPECT_FALSE(made.preparation.consistent);
    EXPECT_EQ(made.attempts, k == 0 ? 1U : 1000U) << "the nominal member is always the same";
    EXPECT_EQ(made.start.q(0), made.inputs.parameters[0]);
  }
}

TEST(PrepareMembers, ErrorNamesTheMemberAndTheCondition) {
  const Study study = crowded_study("error");
  const Sampler sampler(study);
  Sampler::Scratch scratch;
  PreparedMember made;
  std::string error;
  for (unsigned long long k = 0; error.empty() && k < 300; ++k) {
    error = error_of([&] { sampler.prepare(k, scratch, made); });
    EXPECT_EQ(error.empty(), made.preparation.consistent && error.empty());
  }
  EXPECT_NE(error.find("violates the constraint '"), std::string::npos) << error;
  EXPECT_NE(error.find("member " + std::to_string(made.number)), std::string::npos) << error;
}

Study ball_on_rod(const std::string& position, const std::string& velocity) {
  return read_study(R"(
[parameters]
L = 1
far = { uniform = [10, 20] }
[[anchor]]
name = "nail"
position = [0, 0]
[[point]]
name = "ball"
mass = 1
position = )" + position +
                        "\nvelocity = " + velocity + R"(
[[constraint]]
name = "rod"
require = "distance(ball, nail) == L"
[ensemble]
members = 3
[time]
end = 1
)",
                    "rod.toml");
}

// The default rule: 1e-6 of the largest term divides rounding from mistakes.
TEST(PrepareMembers, StartsOffByRoundingAreProjectedAndOthersAreRefused) {
  const auto refusal = [](const std::string& position, const std::string& velocity) {
    const Study study = ball_on_rod(position, velocity);
    EXPECT_EQ(study.ensemble.consistency, Consistency::error);
    return error_of([&] { prepare_member(study, 0); });
  };
  EXPECT_EQ(refusal("[1, 0]", "[0, 1]"), "");
  EXPECT_EQ(refusal("[1.0000001, 0]", "[0, 1]"), "");
  EXPECT_EQ(refusal("[\"sin(pi)\", \"cos(pi)\"]", "[1, \"sin(pi)\"]"), "");
  EXPECT_EQ(refusal("[1, 0]", "[1e-17, 1]"), "") << "noise beside the other velocity";
  EXPECT_NE(refusal("[1.00001, 0]", "[0, 1]"), "");
  EXPECT_NE(refusal("[1, 0]", "[1e-4, 1]"), "");
  EXPECT_NE(refusal("[1, 0]", "[1e-9, 0]"), "") << "no other velocity gives the scale";
  const std::string error = refusal("[3, 0]", "[0, 0]");
  EXPECT_NE(error.find("the start of member 0 violates the constraint 'rod'"), std::string::npos) << error;
  EXPECT_NE(error.find("f = 4"), std::string::npos) << error;
  EXPECT_NE(error.find("is 2 away in positions"), std::string::npos) << error;
}

TEST(PrepareMembers, AProjectedMemberNamesTheDrawnValueThatChangedMost) {
  Study study = ball_on_rod("[\"far\", 0]", "[0, 1]");
  study.ensemble.consistency = Consistency::project;
  const PreparedMember made = prepare_member(study, 1);
  const double far = made.inputs.start.q(0);
  EXPECT_EQ(made.drawn_change_of, 0);
  EXPECT_NEAR(made.drawn_change, (far - 1) / far, 1e-12);
  Study fixed = ball_on_rod("[3, 0]", "[0, 1]");
  fixed.ensemble.consistency = Consistency::project;
  EXPECT_EQ(prepare_member(fixed, 1).drawn_change_of, -1) << "3 is no drawn value";
}

// Prints the rate. The bound is two orders of magnitude below the rate of an unloaded core, so that only
// compiling programs per member again (30 microseconds and more), in a slow build, would come near it.
TEST(PrepareMembers, AreManyPerSecond) {
  constexpr unsigned long long members = 20'000;
  for (const std::string config : {"slung_load", "double_string"})
    for (const std::string sampler : {"random", "latin-hypercube", "sobol"}) {
      const Study study = load_study(ZWANG_SOURCE_DIR "/configs/" + config + ".toml",
                                     {"ensemble.sampler=\"" + sampler + "\"", "ensemble.members=20000"});
      const Sampler made_once(study);
      Sampler::Scratch scratch;
      PreparedMember made;
      const auto before = std::chrono::steady_clock::now();
      for (unsigned long long k = 0; k < members; ++k) made_once.prepare(k, scratch, made);
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - before;
      const double rate = static_cast<double>(members) / spent.count();
      std::printf("%s, %s: %.0f members per second\n", config.c_str(), sampler.c_str(), rate);
      EXPECT_GT(rate, 5000);
    }
}

}  // namespace
}  // namespace zwang::prepare_member_test
