// Measures of events do not depend on when an accumulation is completed, except for counts: in the reference
// and in the kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/program/host_compiler.h"
#include "host/study_file/load_study.h"
#include "tests/support/batch_runs.h"

namespace zwang::accumulation_gap_test {
namespace {

constexpr double rtol = 1e-9;
// The errors of a hundred steps and shocks, and the square of the time left at the largest gap.
constexpr double allowed = 10 * rtol;

struct Subject {
  std::string name, text;
  std::vector<std::string> constraints;
  std::vector<std::string> more;  // measures beside those of every constraint
};

std::string with_measures(const Subject& subject) {
  std::string text =
      subject.text + "\n[integrator]\nrtol = 1e-9\natol = 1e-9\n[ensemble]\nmembers = 1\n[measure]\n";
  int number = 0;
  const auto add = [&](const std::string& formula) {
    text += "m" + std::to_string(number++) + " = \"" + formula + "\"\n";
  };
  for (const std::string& c : subject.constraints)
    for (const char* formula :
         {"first(shock(", "last(shock(", "last(contact(", "count(accumulation(", "first(accumulation(",
          "last(accumulation(", "total(impulse(", "maximum(impulse(", "integral(open(", "integral(closed(",
          "integral(reaction(", "mean(closed(", "maximum(reaction(", "final(reaction("})
      add(formula + c + "))");
  for (const std::string& formula : subject.more) add(formula);
  return text;
}

std::vector<Subject> subjects() {
  const std::string ball = R"toml(
title = "A bouncing ball"
[[point]]
name = "ball"
mass = 2
position = [1]
[system]
gravity = [-9.81]
[[constraint]]
name = "ground"
require = "ball.x >= 0"
restitution = 0.8
[time]
end = 5
samples = 2
)toml",
                    incline = R"toml(
title = "A ball that bounces along an incline, through air that moves"
[[point]]
name = "p"
mass = 2
position = [0, 1]
velocity = [1, 0]
[system]
gravity = [4.9, -7.8]
[system.force]
"p.x" = "-0.5*p.x'*(1 + sin(3*t))"
"p.y" = "-0.7*p.y' + 2*sin(t)"
[[constraint]]
name = "plane"
require = "p.y >= 0"
restitution = 0.6
[time]
end = 3
samples = 2
)toml",
                    corner = R"toml(
title = "Bounces against a wall while sliding on the ground"
[[point]]
name = "p"
mass = 1
position = [0, 0]
[system.force]
"p.x" = "1 + 0.1*p.y"
"p.y" = -1
[[constraint]]
name = "ground"
require = "p.y >= 0.3*p.x"
[[constraint]]
name = "wall"
require = "p.x <= 1"
restitution = 0.5
[time]
end = 6
samples = 2
)toml",
                    pendulum = R"toml(
title = "A pendulum that bounces against a wall"
[[anchor]]
name = "o"
position = [0, 0]
[[point]]
name = "p"
mass = 1
position = ["sin(1)", "-cos(1)"]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "rod"
require = "distance(p, o) == 1"
[[constraint]]
name = "wall"
require = "p.x >= 0.3"
restitution = 0.5
[time]
end = 3
samples = 2
)toml",
                    strings = R"toml(
title = "Two strings that tauten in turn"
[[anchor]]
name = "nail"
position = [0, 0]
[[point]]
name = "a"
mass = 1
position = [0, -1]
velocity = [4, 0]
[[point]]
name = "b"
mass = 1
position = [0, -2]
velocity = [6.4, 0]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "upper"
require = "distance(a, nail) <= 1"
[[constraint]]
name = "lower"
require = "distance(a, b) <= 1"
[time]
end = 1.3
samples = 2
)toml",
                    balls = R"toml(
title = "Three balls collapse"
[[point]]
name = "a"
mass = 1
position = [0]
velocity = [1]
[[point]]
name = "b"
mass = 1
position = [1]
[[point]]
name = "c"
mass = 1
position = [2]
[[constraint]]
name = "left"
require = "a.x <= b.x"
restitution = 0.05
[[constraint]]
name = "right"
require = "b.x <= c.x"
restitution = 0.05
[time]
end = 5
samples = 2
)toml";
  return {{"ball", ball, {"ground"}, {"integral(abs(ball.x'))", "at(accumulation(ground), ball.x)"}},
          {"incline", incline, {"plane"}, {"final(p.x)", "final(p.x')", "at(accumulation(plane), p.x)"}},
          {"corner", corner, {"ground", "wall"}, {"final(p.x)"}},
          {"pendulum", pendulum, {"rod", "wall"}, {"final(p.x)"}},
          {"strings", strings, {"upper", "lower"}, {"final(a.x)", "final(b.x')"}},
          {"balls", balls, {"left", "right"}, {"final(b.x)", "final(b.x')"}}};
}

std::vector<double> measured(const Subject& subject, const std::string& backend, double gap) {
  Study study = read_study(with_measures(subject), "accumulation.toml");
  study.integrator.accumulation_gap = gap;
  study.integrator.single = backend == "cpu_single";
  const std::unique_ptr<Backend> runner =
      backend == "reference" ? std::unique_ptr<Backend>(new BackendReference(study, 1))
                             : std::unique_ptr<Backend>(new BackendCpu(study, *HostCompiler::find(), 1));
  const BatchResults results = run_members(study, *runner, 1);
  EXPECT_EQ(status_name(results.status[0]), std::string("ok"));
  return results.measures;
}

class AccumulationGap : public testing::TestWithParam<std::tuple<Subject, std::string>> {};

TEST_P(AccumulationGap, DoesNotChangeMeasuresOfEvents) {
  const auto& [subject, backend] = GetParam();
  const Study study = read_study(with_measures(subject), "accumulation.toml");
  const std::vector<double> finest = measured(subject, backend, 1e-10);
  for (const double gap : {1e-4, 1e-7}) {
    const std::vector<double> now = measured(subject, backend, gap);
    for (std::size_t i = 0; i < finest.size(); ++i) {
      const std::string& name = study.system->measures[i].name;
      ASSERT_EQ(std::isnan(now[i]), std::isnan(finest[i])) << name << ", gap " << gap;
      if (std::isnan(now[i])) continue;
      EXPECT_NEAR(now[i], finest[i], allowed * std::max(1.0, std::abs(finest[i])))
          << name << " (" << i << "), gap " << gap;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Studies, AccumulationGap,
                         testing::Combine(testing::ValuesIn(subjects()),
                                          testing::Values(std::string("reference"), std::string("cpu"))),
                         [](const auto& chosen) {
                           return std::get<0>(chosen.param).name + "_" + std::get<1>(chosen.param);
                         });

TEST(AccumulationOfBoth, BallsThatLandTogetherBounceAsLongAsOneAlone) {
  // Their fifth common shock was once taken for the end of the sequence. The area under each arc is two
  // thirds of its height times its width, which shrink by e^2 and e.
  const Subject pair{
      "pair",
      R"toml(
title = "Two balls dropped at once"
[[point]]
name = "p"
mass = 1
position = [1]
[[point]]
name = "q"
mass = 3
position = [1]
[system]
gravity = [-9.81]
[[constraint]]
name = "under_p"
require = "p.x >= 0"
restitution = 0.5
[[constraint]]
name = "under_q"
require = "q.x >= 0"
restitution = 0.5
[time]
end = 3
samples = 2
)toml",
      {},
      {"integral(p.x)", "integral(q.x)", "total(impulse(under_p))", "total(impulse(under_q))"}};
  const double fall = std::sqrt(2 / 9.81), area = 2.0 / 3 * fall * (1 + 2 * 0.125 / 0.875);
  const double sum = 1.5 * std::sqrt(2 * 9.81) / 0.5;
  for (const char* backend : {"reference", "cpu"}) {
    const std::vector<double> made = measured(pair, backend, 1e-7);
    EXPECT_NEAR(made[0], area, allowed) << backend;
    EXPECT_NEAR(made[1], area, allowed) << backend;
    EXPECT_NEAR(made[2], sum, allowed * sum) << backend;
    EXPECT_NEAR(made[3], 3 * sum, 3 * allowed * sum) << backend;
  }
}

TEST(AccumulationGapSingle, AFloatKnowsTheSumOfTheImpulsesToo) {
  // Sums of a ball dropped from a height of 1: m (1 + e) v/(1 - e); at rest after sqrt(2/g) (1 + e)/(1 - e).
  // Floats carry 4e-6 from step to step, and the bounces end at 1e-4 of their length.
  const Subject ball = subjects()[0];
  const double single_precision = 30 * 4e-6;
  const double sum = 2 * 1.8 * std::sqrt(2 * 9.81) / 0.2, rest = std::sqrt(2 / 9.81) * 9;
  const std::vector<double> made = measured(ball, "cpu_single", 1e-4);
  EXPECT_NEAR(made[6], sum, single_precision * sum);
  EXPECT_NEAR(made[1], rest, single_precision * rest);
  EXPECT_NEAR(made[8], rest, single_precision * rest);
}

}  // namespace
}  // namespace zwang::accumulation_gap_test
