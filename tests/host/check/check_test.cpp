// `zwang check`: correct results pass, however a second implementation may differ in detail.
#include "host/check/check.h"

#include "host/check/record_reductions.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "host/study/label_formulas.h"
#include "host/study_file/load_study.h"
#include "src/system/system.h"
#include "tests/support/tampered_backend.h"

namespace zwang::check_test {
namespace {

std::vector<std::string> config_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ZWANG_SOURCE_DIR) + "/configs"))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Whether the reference says of itself that a motion depends too much on its start: two runs with tolerances
// close to each other end apart.
bool is_chaotic(const Study& study, unsigned long long member) {
  Study finer = study;
  finer.integrator.rtol *= 0.3;
  const std::vector<unsigned long long> numbers = {member};
  const auto end_of = [&](const Study& one) {
    BackendReference backend(one, check_threads);
    return backend.run(prepare_batch(one, numbers, 1), {.observables = false}).end_state;
  };
  const std::vector<double> a = end_of(study), b = end_of(finer);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > sensitivity_limit * std::max(std::abs(a[i]), std::abs(b[i]))) return true;
  return false;
}

std::size_t labels_in(const System& system) {
  return static_cast<std::size_t>(std::count_if(
      system.measures.begin(), system.measures.end(),
      [&](const Measure& measure) { return uses_label(*system.pool, system.reductions, measure.value); }));
}

class CheckEveryConfig : public testing::TestWithParam<std::string> {};

TEST_P(CheckEveryConfig, PassesOnTheReferenceItself) {
  const Study study = load_study(config_path(GetParam()));
  const CheckReport report = self_checked(study, 2);
  if (GetParam().starts_with("cone_apex")) {
    // A member at a singular position has no motion to compare, and the report says so.
    EXPECT_EQ(report.verdict(), CheckVerdict::undecided) << check_table(study, report);
    EXPECT_EQ(report.failed.size(), 1u);
    return;
  }
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
  // A chaotic motion now and then grazes a contact, where the two reference runs differ; no other is
  // undecided.
  EXPECT_LE(report.undecided_segments, report.segments >= 200 ? 1U : 0U);
  for (const UndecidedStretch& stretch : report.undecided) {
    EXPECT_EQ(stretch.cause, UndecidedCause::events) << stretch.reason;
    EXPECT_TRUE(is_chaotic(study, stretch.member)) << "member " << stretch.member;
  }
  // Only labels, which a member does not have by itself, and reductions over the rows of a chaotic motion,
  // which the two reference runs of the whole motion leave, are undecided.
  std::size_t allowed = 0;
  if (has_record_reductions(*study.system))
    for (const unsigned long long member : report.members)
      allowed += is_chaotic(study, member) ? study.system->measures.size() : labels_in(*study.system);
  EXPECT_LE(report.undecided_measures, allowed) << check_table(study, report);
  EXPECT_TRUE(report.failed.empty());
}

INSTANTIATE_TEST_SUITE_P(Configs, CheckEveryConfig, testing::ValuesIn(config_names()),
                         [](const auto& parameter) { return parameter.param; });

TEST(CheckTest, PassesABackendWithOtherThresholdsAndSteps) {
  // All permitted differences of a second implementation at once, on a chaotic motion with accumulations:
  // after ten seconds the two motions are unrelated, but each quarter second is correct.
  const Study study =
      load_study(config_path("double_string"), {"ensemble.members=3", "time.end=15", "time.samples=61"});
  Study other = study;
  other.integrator.rtol *= 0.3;
  other.integrator.max_step = 0.0137;
  other.integrator.contact_tolerance *= 3;
  other.integrator.rest_speed *= 0.5;
  other.integrator.accumulation_gap *= 10;
  BackendReference backend(other, check_threads);
  const CheckReport report = checked(study, backend, 3);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
  EXPECT_LE(report.undecided_segments, 2u);
}

// A stroboscope of a damped oscillator: every reduction over its rows is compared, and a wrong one is found.
const std::string recorded_oscillator = R"toml(title = "Stroboscope"
[parameters]
zeta = { uniform = [0.1, 0.2] }
[[coordinate]]
name = "x"
position = 1
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[system.force]
x = "-2*zeta*x' + cos(1.7*t)"
[ensemble]
members = 3
[time]
end = 200
samples = 21
[[record]]
name = "strobe"
every = "2*pi/1.7"
values = { x = "x", v = "x'" }
skip = 20
most = 24
[measure]
rows = "count(strobe)"
p = "period(strobe, 1e-2)"
last_x = "last(strobe.x)"
spread = "std(strobe.v)"
span = "maximum(strobe.x) - minimum(strobe.x)"
)toml";

TEST(CheckTest, ComparesReductionsOverRecords) {
  const Study study = read_study(recorded_oscillator, "strobe.toml");
  const CheckReport report = self_checked(study, 3);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
  EXPECT_EQ(report.undecided_measures, 0u) << check_table(study, report);
  // A backend that records one row too late.
  const Study other = read_study(recorded_oscillator, "strobe.toml", {"record.0.skip=19"});
  BackendReference backend(other, check_threads);
  EXPECT_EQ(checked(study, backend, 3).verdict(), CheckVerdict::disagree);
}

TEST(CheckTest, TakesTheShocksAtTheEndOfABurstForOneAccumulation) {
  // 24 bounces are listed with one threshold, 45 with the other.
  const Study study = load_study(config_path("bouncing_ball"));
  Study other = study;
  other.integrator.accumulation_gap = 1e-6;
  BackendReference backend(other, check_threads);
  const CheckReport report = checked(study, backend, 1);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
}

// There is no state before the start to compare with, and the state after the event belongs to another
// motion.
TEST(CheckTest, AContactRightAfterTheStartIsNoReasonToDoubtTheStart) {
  const Study study = read_study(R"toml(
[[point]]
name = "ball"
mass = 1
position = [1e-8]
velocity = [-1]
[system]
gravity = [-9.81]
[[constraint]]
name = "floor"
require = "ball.x >= 0"
restitution = 0.5
[ensemble]
members = 1
[time]
end = 0.05
samples = 6
[integrator]
rtol = 1e-6
atol = 1e-7
)toml",
                                 "study.toml");
  const CheckReport report = self_checked(study, 1);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
}

TEST(CheckTest, AWatchedVelocityAtRestKeepsTheSideItCameFrom) {
  // The ball falls, lies on the floor over several output times and is thrown up. Its velocity has changed
  // from below zero to above zero, which is an event even if the reference restarts while the ball lies on
  // the floor.
  const Study study = read_study(R"toml(
[[point]]
name = "ball"
mass = 1
position = [0.5]
[system]
gravity = [-9.81]
[[constraint]]
name = "floor"
require = "ball.x >= 0"
[[impulse]]
at = 0.8
on = "ball"
velocity = [2]
[[event]]
name = "rises"
when = "ball.x'"
direction = 1
[ensemble]
members = 1
[time]
end = 1
samples = 21
)toml",
                                 "study.toml");
  const CheckReport report = self_checked(study, 1);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
}

TEST(CheckTest, AcceptsEitherSideOfAnEventAtAnOutputTime) {
  // The ball lands at t = 2 exactly, which is an output time and, in the second study, the end.
  for (const char* times : {"at = [1, 2, 3]", "at = [1, 2]"}) {
    const Study study = read_study(std::string(R"toml(
[[point]]
name = "ball"
mass = 1
position = [2]
[system]
gravity = [-1]
[[constraint]]
name = "ground"
require = "ball.x >= 0"
restitution = 0.5
[observe]
rate = "ball.x'"
[measure]
hits = "count(shock(ground))"
final_rate = "final(ball.x')"
[time]
)toml") + times + "\n",
                                   "landing.toml");
    const auto values_before = [](BatchResults& results) {
      results.states[1 * 4 + 1] = -2;
      results.observables[1] = -2;
    };
    TamperedBackend backend(study, values_before);
    const CheckReport report = checked(study, backend, 1);
    EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
    // A velocity that belongs to neither side is wrong.
    TamperedBackend wrong(study, [](BatchResults& results) { results.states[1 * 4 + 1] = 0.3; });
    EXPECT_EQ(checked(study, wrong, 1).verdict(), CheckVerdict::disagree);
  }
}

TEST(CheckTest, LooksOutsideTheInstantOfAnEventHoweverCoarseTheTolerance) {
  // Held until t = 1.5, an output time. At 1e-5 an instant is as wide as a quarter of the interval examined
  // around an output time: the two sides must still lie outside the instant.
  const Study study = read_study(R"toml(
[[point]]
name = "puck"
mass = 1
position = [0]
velocity = [0.3]
[system]
gravity = [0.2]
[[constraint]]
name = "brake"
require = "puck.x' <= 0.3"
until = 1.5
[time]
end = 4
samples = 9
[integrator]
rtol = 1e-5
atol = 1e-5
)toml",
                                 "brake.toml");
  const CheckReport report = self_checked(study, 1);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
  // x, x', multiplier and flag. Their values before the event are correct too; a mixture, or a velocity of
  // neither side, is not.
  const auto told_as = [&](double velocity, double multiplier, double closed) {
    TamperedBackend backend(study, [&](BatchResults& results) {
      const double told[] = {velocity, multiplier, closed};
      std::copy(std::begin(told), std::end(told), results.states.begin() + 3 * 4 + 1);
    });
    return checked(study, backend, 1).verdict();
  };
  EXPECT_EQ(told_as(0.3, 0.2, 1), CheckVerdict::pass);
  EXPECT_EQ(told_as(0.3, 0.2, 0), CheckVerdict::disagree);
  EXPECT_EQ(told_as(0.31, 0, 0), CheckVerdict::disagree);
}

// --- How members end ------------------------------------------------------------------------------------

TEST(CheckTest, PassesMembersThatStopAndFindsOneThatStopsElsewhere) {
  const Study study =
      load_study(config_path("slung_load"),
                 {"ensemble.members=4", "time.end=3", "time.samples=31", "time.stop=\"load.z > -1.5\""});
  const CheckReport report = self_checked(study, 4);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
  EXPECT_TRUE(report.failed.empty());
  TamperedBackend late(study, [](BatchResults& r) {
    ASSERT_EQ(r.status[1], Status::stopped);
    r.end_state[1 * 6 + 2] += 1e-5;
  });
  EXPECT_EQ(checked(study, late, 4).verdict(), CheckVerdict::disagree);
}

TEST(CheckTest, ListsMembersThatFailAndPassesWhenTheReferenceFailsAlike) {
  const Study study =
      load_study(config_path("slung_load"), {"ensemble.members=2", "time.end=3", "integrator.max_steps=40"});
  const CheckReport report = self_checked(study, 2);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
  ASSERT_EQ(report.failed.size(), 2u);
  EXPECT_EQ(report.failed[1].status, Status::step_limit);
  EXPECT_NE(check_table(study, report).find("failed members"), std::string::npos);
}

TEST(CheckTest, AgreesAboutABreakdownOfTheMechanics) {
  // At t = 1 the point reaches a position where the force is not a number.
  const Study study = read_study(R"toml(
[[point]]
name = "p"
mass = 1
position = [1]
velocity = [-1]
[system.force]
"p.x" = "0.1*sqrt(p.x)"
[time]
at = [0, 0.5, 3]
)toml",
                                 "breakdown.toml");
  const CheckReport report = self_checked(study, 1);
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
}

TEST(CheckTest, AgreesAboutStartsThatCannotBeMade) {
  const Study study = read_study(R"toml(
[[point]]
name = "p"
mass = 1
position = [0]
[[constraint]]
name = "left"
require = "p.x <= -1"
[[constraint]]
name = "right"
require = "p.x >= 1"
[ensemble]
consistency = "project"
[time]
at = [1]
)toml",
                                 "impossible.toml");
  const CheckReport report = self_checked(study, 1);
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed[0].status, Status::inconsistent_start);
  EXPECT_EQ(report.findings.disagreements(), 0u);
}

TEST(CheckTest, ReportsAMemberThatIsInaccurateByItsOwnAudit) {
  const Study study = SlungLoad::study();
  TamperedBackend backend(study, [](BatchResults& results) { results.status[2] = Status::inaccurate; });
  const CheckReport report = checked(study, backend, SlungLoad::members);
  EXPECT_EQ(report.verdict(), CheckVerdict::disagree);
  EXPECT_EQ(disagreement(report, 2, "status").backend_word, "inaccurate");
  EXPECT_EQ(report.findings.disagreements(), 1u) << check_table(study, report);
}

// --- What cannot be decided -----------------------------------------------------------------------------

// Thrown up so that it just reaches the ceiling, or just misses it.
std::string grazing_text(const std::string& times) {
  return R"toml(
title = "A graze"
[[point]]
name = "ball"
mass = 1
position = [0, 0]
velocity = [1, 2]
[system]
gravity = [0, -1]
[[constraint]]
name = "ceiling"
require = "ball.y <= 2 + 1e-10"
[measure]
touches = "count(contact(ceiling))"
[time]
)toml" + times +
         "\n";
}

TEST(CheckTest, CountsAGrazeAsUndecidedAndJudgesTheRest) {
  const Study study = read_study(grazing_text("end = 10\nsamples = 11"), "graze.toml");
  const CheckReport report = self_checked(study, 1);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
  EXPECT_EQ(report.undecided_segments, 1u);
  EXPECT_EQ(report.undecided_measures, 1u);
}

TEST(CheckTest, DoesNotPassWhenNothingCouldBeDecided) {
  const Study study = read_study(grazing_text("at = [10]"), "graze.toml");
  const CheckReport report = self_checked(study, 1);
  EXPECT_EQ(report.findings.disagreements(), 0u);
  EXPECT_EQ(report.verdict(), CheckVerdict::undecided);
}

// A body balanced on a ridge to a tenth of the tolerance: the reference runs roll down on different sides.
TEST(CheckTest, CountsASegmentInWhichTheReferenceRunsPartAsUndecided) {
  const Study study = read_study(R"toml(
[[point]]
name = "p"
mass = 1
position = [0]
velocity = [1e-10]
[system]
potential = "-0.5*100*p.x^2"
[time]
at = [2]
)toml",
                                 "ridge.toml");
  const CheckReport report = self_checked(study, 1);
  EXPECT_EQ(report.findings.disagreements(), 0u);
  ASSERT_EQ(report.undecided.size(), 1u);
  EXPECT_EQ(report.undecided[0].cause, UndecidedCause::chaos);
  EXPECT_EQ(report.verdict(), CheckVerdict::undecided);
}

TEST(CheckTest, SaysWhyNothingCouldBeDecidedWhereEveryMemberFails) {
  const Study study = read_study(R"toml(
[[point]]
name = "p"
mass = 1
position = [0]
[system.force]
"p.x" = "1/p.x"
[ensemble]
members = 3
[time]
end = 1
samples = 3
)toml",
                                 "fails.toml");
  const CheckReport report = self_checked(study, 3);
  EXPECT_EQ(report.verdict(), CheckVerdict::undecided);
  EXPECT_EQ(report.verdict_text(),
            "undecided: every member failed before there was any motion to compare: not_finite at t = 0");
}

TEST(CheckTest, SaysWhenMuchIsUndecided) {
  const Study study = read_study(grazing_text("end = 10\nsamples = 3"), "graze.toml");
  const CheckReport report = self_checked(study, 1);
  ASSERT_EQ(report.verdict(), CheckVerdict::pass);
  EXPECT_NE(report.verdict_text().find("% of the segments are undecided"), std::string::npos)
      << report.verdict_text();
}

// --- What is printed ------------------------------------------------------------------------------------

TEST(CheckTest, SpreadsItsSampleEvenlyOverTheMembers) {
  EXPECT_EQ(sampled_members(10, 5), (std::vector<unsigned long long>{0, 2, 4, 6, 8}));
  EXPECT_EQ(sampled_members(3, 64), (std::vector<unsigned long long>{0, 1, 2}));
  EXPECT_EQ(sampled_members(10, 3), (std::vector<unsigned long long>{0, 3, 6}));
  const auto many = sampled_members(9'000'000'000'000'000'000LL, 7);
  EXPECT_EQ(many.size(), 7u);
  EXPECT_LT(many.back(), 9'000'000'000'000'000'000ULL);
  EXPECT_TRUE(std::is_sorted(many.begin(), many.end()));
}

TEST(CheckTest, WritesTheVerdictAndTheWorstCasesAsJson) {
  const Study study = SlungLoad::study();
  TamperedBackend backend(study, [](BatchResults& r) {
    SlungLoad::state(r, 2, 7, 1) += 1e-6;
    r.status[0] = Status::singular;
  });
  const auto json = nlohmann::json::parse(check_json(study, checked(study, backend, 4)));
  EXPECT_EQ(json["verdict"], "disagree");
  EXPECT_EQ(json["backend"]["name"], "tampered");
  EXPECT_EQ(json["members"].size(), 4u);
  EXPECT_EQ(json["undecided_segments"], 0);
  EXPECT_EQ(json["failed_members"][0]["status"], "singular");
  bool found = false;
  for (const auto& one : json["worst_cases"])
    if (one["quantity"] == "load.y" && one["member"] == 2 && !one["agrees"].get<bool>()) {
      found = true;
      EXPECT_NEAR(one["backend_value"].get<double>() - one["reference_value"].get<double>(), 1e-6, 1e-8);
      EXPECT_LT(one["allowed"].get<double>(), 1e-6);
    }
  EXPECT_TRUE(found) << json.dump(1);
}

TEST(CheckTest, IsTheSameWhateverTheNumberOfThreads) {
  const Study study = SlungLoad::study();
  const auto text = [&](unsigned count) {
    BackendReference backend(study, 1);
    return check_json(study, check(study, backend, {.sample = 3, .threads = count}));
  };
  EXPECT_EQ(text(1), text(3));
}

int exit_code(const std::string& arguments) {
  const std::string command = std::string(ZWANG_PROGRAM) + " check " + arguments + " > /dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CheckCommandTest, EndsWithTheExitCodeOfItsVerdict) {
  EXPECT_EQ(exit_code(config_path("string_jerk") + " --backend reference --sample 1 --threads 1"), 0);
  EXPECT_EQ(exit_code(config_path("string_jerk") + " --backend reference --reverse --set parameters.e=1"), 0);
  EXPECT_EQ(exit_code(config_path("string_jerk") + " --backend reference --reverse"), 3);  // all left out
  EXPECT_EQ(exit_code(config_path("slung_load") + " --backend reference --reverse --sample 1"),
            1);  // refused
  EXPECT_EQ(exit_code("nowhere.toml"), 1);
  EXPECT_EQ(exit_code(config_path("string_jerk") + " --sample 0"), 1);
}

}  // namespace
}  // namespace zwang::check_test
