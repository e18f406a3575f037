// `zwang check --reverse`: round trips (mechanics section 7).
#include "host/study_file/load_study.h"
#include "src/base/error.h"
#include "tests/support/tampered_backend.h"

namespace zwang::reverse_test {
namespace {

const Study& pendulum() {
  // Two rods swinging widely without losses. Members differ in their start.
  static const Study study = read_study(R"toml(
[parameters]
kick = { uniform = [0, 1] }
[[anchor]]
name = "nail"
position = [0, 0]
[[point]]
name = "a"
mass = 1
position = [0, -1]
velocity = ["kick", 0]
[[point]]
name = "b"
mass = 1
position = [1, -1]
velocity = ["kick", 0]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "upper"
require = "distance(a, nail) == 1"
[[constraint]]
name = "lower"
require = "distance(a, b) == 1"
[ensemble]
members = 6
[time]
end = 2
samples = 5
)toml",
                                        "pendulum.toml");
  return study;
}

CheckReport there_and_back(const Study& study, Backend& backend) {
  return check_reverse(study, backend, {.sample = 6, .threads = check_threads});
}

TEST(CheckReverseTest, PassesAMotionThatRetracesItsPath) {
  BackendReference backend(pendulum(), check_threads);
  const CheckReport report = there_and_back(pendulum(), backend);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(pendulum(), report);
  EXPECT_EQ(report.segments, 6u);
  EXPECT_EQ(report.undecided_segments, 0u);
  ASSERT_FALSE(report.findings.worst().empty());
  EXPECT_LT(report.findings.worst().front().difference(), 1e-6);
}

TEST(CheckReverseTest, FindsABackendThatLosesItsWay) {
  // Member 2 returns slightly displaced; the first run is the forward motion, the second the return.
  int runs = 0;
  TamperedBackend backend(pendulum(), [&](BatchResults& results) {
    if (runs++ == 1) results.end_state[2 * 8 + 3] += 1e-5;
  });
  const CheckReport report = there_and_back(pendulum(), backend);
  EXPECT_EQ(report.verdict(), CheckVerdict::disagree);
  EXPECT_EQ(disagreement(report, 2, "b.y").reference, -1);
}

TEST(CheckReverseTest, PassesElasticShocks) {
  const Study study = load_study(config_path("string_jerk"), {"parameters.e=1"});
  BackendReference backend(study, check_threads);
  const CheckReport report = there_and_back(study, backend);
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << check_table(study, report);
  EXPECT_EQ(report.segments, 1u);
}

TEST(CheckReverseTest, LeavesOutAndCountsWhatLostEnergy) {
  const Study jerk = load_study(config_path("string_jerk"));
  BackendReference jerking(jerk, check_threads);
  EXPECT_EQ(there_and_back(jerk, jerking).left_out.at("lost energy in a shock"), 1u);
  EXPECT_EQ(there_and_back(jerk, jerking).verdict(), CheckVerdict::undecided);
  // A motion that ends in an accumulation is already left out for its first shock.
  const Study ball = load_study(config_path("bouncing_ball"));
  BackendReference bouncing(ball, check_threads);
  EXPECT_EQ(there_and_back(ball, bouncing).segments, 0u);
}

void expect_refusal(const std::string& name, const std::string& reason,
                    const std::vector<std::string>& set = {}) {
  SCOPED_TRACE(name);
  const Study study = load_study(config_path(name), set);
  BackendReference backend(study, check_threads);
  try {
    there_and_back(study, backend);
    ADD_FAILURE() << "should have been refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

TEST(CheckReverseTest, RefusesWhatDoesNotRunBackwards) {
  expect_refusal("slung_load", "a force on load.x that is not even in the velocities", {"time.end=1"});
  expect_refusal("slung_load", "the constraint 'cable' that depends on t", {"time.end=1"});
  expect_refusal("oneway_clutch", "a force on p.x that depends on t");
  expect_refusal("oneway_clutch",
                 "the velocity constraint 'ratchet', which does not hold for reversed velocities");
  expect_refusal("energy_reversal", "impulses");
  expect_refusal("sudden_line", "the constraint 'line' with from or until");
}

TEST(CheckReverseTest, RefusesByWhatAForceDoesNotByHowItLooks) {
  const auto study = [](const std::string& force) {
    return read_study(R"toml(
[[coordinate]]
name = "x"
position = 1
velocity = 1
[system]
kinetic = "0.5*x'^2"
[system.force]
x = "0"
[time]
end = 0.05
samples = 2
)toml",
                      "written.toml", {"system.force.x=\"" + force + "\""});
  };
  const auto refused = [&](const std::string& force) {
    const Study written = study(force);
    BackendReference backend(written, check_threads);
    try {
      there_and_back(written, backend);
      return false;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("a force on x that is not even"), std::string::npos);
      return true;
    }
  };
  EXPECT_TRUE(refused("-x - 0.1*x'*abs(x')"));
  EXPECT_FALSE(refused("-x - 0.1*x'^4/(1 + x'^2)"));
  // Defined only near the start, where it is not even.
  EXPECT_TRUE(refused("-x - 0.1*x'*sqrt(1e-4 - (x - 1)^2)"));
  // Even at every state near the start at which it is defined.
  EXPECT_FALSE(refused("-x - 0.1*x'^2*sqrt(1e-2 - (x - 1)^2)"));
}

TEST(CheckReverseTest, AcceptsRollingConditionsAndForcesEvenInTheVelocities) {
  for (const char* name : {"knife_edge", "linear_complex", "two_points_kepler", "small_oscillations"}) {
    const Study study = load_study(config_path(name));
    BackendReference backend(study, check_threads);
    EXPECT_EQ(there_and_back(study, backend).verdict(), CheckVerdict::pass) << name;
  }
}

}  // namespace
}  // namespace zwang::reverse_test
