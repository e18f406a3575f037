// Steps by power series (kernels/integrator/taylor_series.h): every recurrence against an independent
// integrator, events found in long steps against closed forms, and the choice of the method.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/check/check.h"
#include "host/program/kernel_program.h"
#include "host/study_file/load_study.h"
#include "src/base/error.h"
#include "tests/support/batch_runs.h"
#include "tests/support/study_runs.h"

namespace zwang::taylor_test {
namespace {

// Points on lines, each with its own force, in which # stands for the point. No constraints.
Study driven(const std::vector<std::string>& forces, const std::string& method) {
  std::string coordinates, kinetic, force_table = "[system.force]\n", measures = "[measure]\n";
  for (std::size_t i = 0; i < forces.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    std::string force = forces[i];
    for (std::size_t at = force.find('#'); at != std::string::npos; at = force.find('#', at))
      force.replace(at, 1, name);
    coordinates += "[[coordinate]]\nname = \"" + name + "\"\nposition = 0.6\nvelocity = \"0.3*a\"\n";
    kinetic += (i > 0 ? " + " : "") + ("0.5*" + name + "'^2");
    force_table += name + " = \"" + force + "\"\n";
    measures += name + " = \"final(" + name + ")\"\nv" + name + " = \"final(" + name + "')\"\n";
    measures += "area" + name + " = \"integral(" + name + "*" + name + "')\"\n";
    measures += "high" + name + " = \"maximum(" + name + ")\"\n";
  }
  return read_study("title = \"Driven points\"\n[parameters]\na = { uniform = [0.7, 1.3] }\n" + coordinates +
                        "[system]\nkinetic = \"" + kinetic + "\"\n" + force_table +
                        "[ensemble]\nmembers = 5\nseed = 3\n[time]\nat = [0.7, 3.0]\n" + measures,
                    "driven.toml", {"integrator.method=" + method});
}

BatchResults run_all(const Study& study, LaneChoice lanes = LaneChoice::best) {
  BackendCpu cpu(study, *HostCompiler::find(), 2, lanes);
  return run_members(study, cpu, static_cast<std::size_t>(study.ensemble.members));
}

Study with_tolerance(Study study, double tolerance) {
  study.integrator.rtol = study.integrator.atol = tolerance;
  return study;
}

const std::vector<std::string> formulas[] = {
    {"-a*# + cos(3*t)", "-a*sin(#)", "-#^3 - 0.1*#'*#'^2", "-#*cos(a*t*#)", "a/(1 + #^2) - #",
     "-exp(-#)*#' - exp(-a*t)*#"},
    {"-sqrt(1 + #^2)*#", "-#/(2 + cos(#))^3", "-a*#*t + t^2", "-#*exp(sin(2*t))", "(# + 2)^-2 - #",
     "-cosh(1)*# + sin(a*t + #')", "-#*(# - t)*(# + t)"}};

// Series of twelve and of twenty terms against dop853 at 1e-13.
TEST(Taylor, EveryRecurrenceFollowsTheMotion) {
  for (const std::vector<std::string>& forces : formulas) {
    const BatchResults judge = run_all(with_tolerance(driven(forces, "dop853"), 1e-13));
    for (const double tolerance : {1e-6, 1e-13}) {
      const BatchResults found = run_all(with_tolerance(driven(forces, "taylor"), tolerance));
      ASSERT_EQ(found.measures.size(), judge.measures.size());
      for (std::size_t i = 0; i < judge.measures.size(); ++i)
        EXPECT_NEAR(found.measures[i], judge.measures[i], 100 * tolerance + 1e-12)
            << forces[i / 4 % forces.size()] << ", tolerance " << tolerance << ", number " << i;
    }
  }
}

// A ball on a floor: all its bounces are known in closed form. Without the floor one step would cover a whole
// flight.
TEST(Taylor, FindsEveryBounceInStepsWithoutAnError) {
  const Study study = read_study(R"toml(
title = "A ball on a floor"
[parameters]
e = { uniform = [0.5, 0.9] }
[[point]]
name = "ball"
mass = 2
position = [0, 1]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "floor"
require = "ball.y >= 0"
restitution = "e"
[ensemble]
members = 40
seed = 5
[time]
at = [1.0]
[measure]
y = "final(ball.y)"
shocks = "count(shock(floor))"
high = "maximum(ball.y)"
)toml",
                                 "ball.toml", {"integrator.method=taylor"});
  const BatchResults results = run_all(study);
  for (std::size_t k = 0; k < 40; ++k) {
    ASSERT_EQ(results.status[k], Status::ok);
    const double g = 9.81, e = prepare_member(study, k).inputs.parameters.at(0);
    double t = std::sqrt(2 / g), v = e * std::sqrt(2 * g);
    int shocks = 1;
    while (t + 2 * v / g < 1) {
      t += 2 * v / g;
      v *= e;
      ++shocks;
    }
    const double rest = 1 - t;
    EXPECT_EQ(results.measures[3 * k + 1], shocks);
    EXPECT_NEAR(results.measures[3 * k], rest * (v - 0.5 * g * rest), 1e-12);
    EXPECT_NEAR(results.measures[3 * k + 2], 1, 1e-12);
  }
}

// Two walls, one of them moving, and a string: free, constrained and released again, in packs and in single
// lanes.
constexpr const char* between_walls = R"toml(
title = "Between two walls"
[parameters]
A = { uniform = [0.5, 2.5] }
[[coordinate]]
name = "x"
position = 0
velocity = 0.5
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[system.force]
x = "-0.04*x' + A*cos(0.9*t)"
[[constraint]]
name = "right"
require = "x <= 1 + 0.1*sin(2*t)"
restitution = 0.3
[[constraint]]
name = "left"
require = "x >= -1"
restitution = 0.8
[ensemble]
members = 64
seed = 9
[time]
end = 40
samples = 81
[measure]
shocks = "count(shock(left))"
rest = "integral(closed(right))"
high = "maximum(x)"
)toml";

TEST(Taylor, AgreesWithTheReferenceWhereConditionsCloseAndOpen) {
  for (const char* precision : {"double", "single"})
    for (const LaneChoice lanes : {LaneChoice::best, LaneChoice::single}) {
      const Study study =
          read_study(between_walls, "walls.toml",
                     {"integrator.method=taylor", "integrator.precision=" + std::string(precision)});
      BackendCpu cpu(study, *HostCompiler::find(), 2, lanes);
      const CheckReport report = check(study, cpu, {.sample = 16, .threads = 2});
      EXPECT_EQ(report.verdict(), CheckVerdict::pass) << report.verdict_text();
    }
}

// The bits of a member do not depend on the other members of its pack, whether constrained or free.
TEST(Taylor, MembersDoNotDependOnTheirNeighbours) {
  const Study study = read_study(between_walls, "walls.toml", {"integrator.method=taylor"});
  BackendCpu cpu(study, *HostCompiler::find(), 1);
  const BatchResults all = run_members(study, cpu, 64);
  for (const std::size_t few : {1, 7, 33}) {
    const BatchResults some = run_members(study, cpu, few);
    for (std::size_t i = 0; i < some.measures.size(); ++i) EXPECT_EQ(some.measures[i], all.measures[i]);
  }
}

TEST(Taylor, IsTakenWhereItPays) {
  const auto method = [](const std::string& config, const Overrides& overrides = {}) {
    const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + config + ".toml", overrides);
    return cpu_program(study, LaneChoice::best).method;
  };
  EXPECT_EQ(method("impact_oscillator"), "taylor");
  EXPECT_EQ(method("impact_oscillator", {"integrator.method=dop853"}), "dop853");
  // A string without rebound is taut most of the time.
  EXPECT_EQ(method("string_pendulum"), "dop853");
  EXPECT_EQ(method("string_pendulum", {"integrator.method=taylor"}), "taylor");
}

TEST(Taylor, IsRefusedWhereThereIsNoSeries) {
  const Study study = driven({"-abs(#)*#"}, "taylor");
  try {
    cpu_program(study, LaneChoice::best);
    FAIL() << "abs() has no power series";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("method = \"taylor\", and abs()"), std::string::npos)
        << error.what();
    EXPECT_EQ(error.problems().at(0).where.file, "--set");
  }
  try {
    cpu_program(read_study(R"toml(title = "Spring"
[[coordinate]]
name = "x"
position = 1
[system]
kinetic = "0.5*x'^2"
potential = "abs(x)"
[integrator]
method = "taylor"
[time]
end = 1
)toml",
                           "spring.toml", {}),
                LaneChoice::best);
    FAIL() << "abs() has no power series";
  } catch (const Error& error) {
    EXPECT_EQ(error.problems().at(0).where.file, "spring.toml");
    EXPECT_EQ(error.problems().at(0).where.line, 9);
  }
  EXPECT_EQ(cpu_program(driven({"-abs(#)*#"}, "auto"), LaneChoice::best).method, "dop853");
}

}  // namespace
}  // namespace zwang::taylor_test
