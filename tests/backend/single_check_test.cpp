// `check` with floats and coarse tolerances on ill-conditioned motions: members for which it once reported
// correct results as errors, and members for which the results were once wrong.
#include <gtest/gtest.h>

#include "host/backend/backend_cpu.h"
#include "host/backend/batch.h"
#include "host/check/member.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"

namespace zwang::single_check_test {
namespace {

MemberFindings found_in(const Study& study, unsigned long long member) {
  BackendCpu backend(study, *HostCompiler::find(), 1, LaneChoice::best);
  const Batch batch = prepare_batch(study, std::vector{member}, 1);
  const BatchResults results = backend.run(batch, {.observables = true, .states = true, .events = true});
  return check_member(study, motion_of(study, batch, results, 0), member);
}

MemberFindings found_in(const std::string& config, const std::vector<std::string>& settings,
                        unsigned long long member) {
  return found_in(load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + config + ".toml", settings),
                  member);
}

MemberFindings found_in_single(const std::string& config, unsigned long long member) {
  return found_in(config, {"integrator.precision=\"single\""}, member);
}

std::string worst(const MemberFindings& made) {
  return made.findings.worst().empty() ? "" : made.findings.worst().front().quantity;
}

// 288, 370, 626: rounding decides which of two balls is hit first. 648: rounding decides whether two hits
// fall within one instant. 774: a ball comes within 1e-7 of its neighbour, which in floats is a contact.
TEST(SingleCheck, DoesNotBlameFloatsForTheOrderOfHits) {
  for (const unsigned long long member : {288ULL, 370ULL, 626ULL, 648ULL, 774ULL}) {
    const MemberFindings made = found_in_single("newtons_cradle", member);
    EXPECT_EQ(made.findings.disagreements(), 0u) << member << " " << worst(made);
    EXPECT_GT(made.findings.comparisons(), 3000u);
    EXPECT_LT(made.undecided_segments, made.segments / 10);
  }
}

// The last hops are too low for floats and are completed at once; an output time lies between that time and
// their end.
TEST(SingleCheck, AHopTooLowToFollowIsClosedBeforeItIsListed) {
  const MemberFindings made = found_in_single("galton_board", 333);
  EXPECT_EQ(made.findings.disagreements(), 0u) << worst(made);
  EXPECT_GT(made.findings.comparisons(), 1000u);
}

// A knot between two strings that become taut at once receives two impulses that nearly cancel: its velocity
// is small, with the rounding error of the impulses. By that error a string that had just become taut once
// counted as separating, and became taut again a moment later.
TEST(SingleCheck, AStringDrawnTautByOpposingImpulsesStaysTaut) {
  for (const unsigned long long member : {76ULL, 148ULL, 266ULL, 286ULL, 322ULL}) {
    const MemberFindings made = found_in_single("rope_of_strings", member);
    EXPECT_EQ(made.findings.disagreements(), 0u) << member << " " << worst(made);
    EXPECT_GT(made.findings.comparisons(), 2000u);
  }
}

// tsit5 has no stage between a third and nine tenths of its step. A tension dips below zero there and
// returns.
TEST(CoarseCheck, ATensionThatDipsWhereNoStageLooksIsARelease) {
  for (const unsigned long long member : {1562ULL, 2031ULL, 3281ULL}) {
    const MemberFindings made =
        found_in("double_string", {"integrator.rtol=1e-5", "integrator.atol=1e-5"}, member);
    EXPECT_EQ(made.findings.disagreements(), 0u) << member << " " << worst(made);
    EXPECT_GT(made.findings.comparisons(), 2000u);
  }
}

// The last hop before two strings stay taut, 3.7 ms of slack, is too low for floats; doubles resolve it.
TEST(SingleCheck, ExcusesTheLengthOfHopsTooLowForFloats) {
  const MemberFindings made =
      found_in("double_string",
               {"integrator.precision=\"single\"", "integrator.rtol=1e-5", "integrator.atol=1e-5"}, 4062);
  EXPECT_EQ(made.findings.disagreements(), 0u) << worst(made);
  EXPECT_GT(made.findings.comparisons(), 2000u);
}

// A hit so near the end time that rounding decides on which side it falls: the reference runs beyond the end
// too.
TEST(SingleCheck, LooksBehindAHitAtTheEnd) {
  for (const char* wall : {"19.9997", "19.99995"}) {
    const Study study = read_study(R"toml(
title = "A point comes to a wall"
[parameters]
wall = 20
[[point]]
name = "p"
mass = 1
position = [0, 0]
velocity = [1, 0]
[[constraint]]
name = "stop"
require = "p.x <= wall"
restitution = 1
[time]
end = 20
samples = 41
[integrator]
precision = "single"
rtol = 1e-5
atol = 1e-5
)toml",
                                   "wall.toml", {std::string("parameters.wall=") + wall});
    const MemberFindings made = found_in(study, 0);
    EXPECT_EQ(made.findings.disagreements(), 0u) << wall << " " << worst(made);
    EXPECT_GT(made.findings.comparisons(), 200u);
  }
}

// Where a heavy knot pulls a light one, the threshold of zero for a tension corresponds to a long time: a
// release is searched for far below it.
TEST(CoarseCheck, AReleaseBetweenUnequalMassesIsNotLate) {
  const Study study = read_study(R"toml(
title = "A heavy and a light knot between two hooks"
[parameters]
s = { uniform = [-1, 1] }
[[anchor]]
name = "p"
position = [-1, 0]
[[anchor]]
name = "q"
position = [1, 0]
[[point]]
name = "heavy"
mass = 100
position = [-0.4, 0]
velocity = ["s", 0]
[[point]]
name = "light"
mass = 0.01
position = [0.4, 0.1]
velocity = [0, 3]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "c1"
require = "distance(heavy, p) <= 1"
[[constraint]]
name = "c2"
require = "distance(light, heavy) <= 1"
[[constraint]]
name = "c3"
require = "distance(light, q) <= 1"
[ensemble]
members = 60
[time]
end = 2
samples = 9
)toml",
                                 "knots.toml");
  for (const unsigned long long member : {8ULL, 20ULL}) {
    const MemberFindings made = found_in(study, member);
    EXPECT_EQ(made.findings.disagreements(), 0u) << member << " " << worst(made);
  }
}

}  // namespace
}  // namespace zwang::single_check_test
