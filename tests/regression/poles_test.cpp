// Points that pass through poles of inner functions, where the whole event function is continuous: atan(tan(x)),
// exp(-1/x^2). Closed forms give the times at which the event functions reach their limits beyond the poles.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "tests/support/batch_runs.h"

namespace zwang::poles_test {
namespace {

// Poles at 2 (and at odd multiples of pi/2 for tan); every function times 0.001 is added to x.
struct PoleFunction {
  std::string text;
  std::function<double(double)> of;
};

double cut(double angle) { return std::atan(std::tan(angle)); }

const std::vector<PoleFunction> pole_functions = {
    {"atan(tan(p.x))^2", [](double x) { return cut(x) * cut(x); }},
    {"1/(1 + 1/tan(p.x)^2)", [](double x) { return std::pow(std::sin(x), 2); }},
    {"1/(1 + tan(p.x)^2)", [](double x) { return std::pow(std::cos(x), 2); }},
    {"atan(1/(p.x - 2))^2", [](double x) { return std::pow(std::atan(1 / (x - 2)), 2); }},
    {"exp(-1/(p.x - 2)^2)", [](double x) { return std::exp(-1 / ((x - 2) * (x - 2))); }},
    {"atan(log((p.x - 2)^2))^2",
     [](double x) { return std::pow(std::atan(std::log((x - 2) * (x - 2))), 2); }},
    {"atan((p.x - 2)^(-3))^2", [](double x) { return std::pow(std::atan(std::pow(x - 2, -3)), 2); }},
    {"cos(atan2(p.y, p.x - 2))", [](double x) { return x > 2 ? 1.0 : -1.0; }},
};

constexpr double pole_limit = 9;

// Where x + 0.001 f(x) reaches the limit: a fixed point, contracting since 0.001 f' is small there.
double root_of(const PoleFunction& function) {
  double x = pole_limit;
  for (int i = 0; i < 50; ++i) x = pole_limit - 0.001 * function.of(x);
  return x;
}

// Every function is watched; the first is a constraint too, as the last to be reached.
Study passages(const std::string& start, const std::vector<std::string>& overrides) {
  std::string text = start + R"toml([[point]]
name = "p"
mass = 1
position = ["x0", 0]
velocity = ["vx", 0]
[[constraint]]
name = "wall"
require = "p.x + 0.001*atan(tan(p.x))^2 <= 9.5"
restitution = 1
[ensemble]
members = 4000
seed = 3
[time]
end = 14
samples = 2
)toml";
  std::string measures = "[measure]\nx0 = \"initial(p.x)\"\nvx = \"initial(p.x')\"\n";
  for (std::size_t i = 0; i < pole_functions.size(); ++i) {
    const std::string name = "e" + std::to_string(i);
    text += "[[event]]\nname = \"" + name + "\"\nwhen = \"p.x + 0.001*" + pole_functions[i].text + " - 9\"\n";
    measures += name + " = \"first(event(" + name + "))\"\n";
  }
  return read_study("title = \"Passages\"\n" + text + measures + "shocks = \"count(shock(wall))\"\n",
                    "passages.toml", overrides);
}

const std::string drawn_start =
    "[parameters]\nx0 = { uniform = [0.3, 0.4] }\nvx = { uniform = [0.9, 1.1] }\n";

void expect_passed(const Study& study, Backend& backend, std::size_t members, double allowed) {
  const BatchResults results = run_members(study, backend, members);
  const std::size_t columns = pole_functions.size() + 3;
  std::vector<double> roots;
  for (const PoleFunction& function : pole_functions) roots.push_back(root_of(function));
  std::size_t failed = 0, bounced = 0;
  std::vector<double> worst(roots.size(), 0);
  for (std::size_t k = 0; k < members; ++k) {
    failed += results.status[k] != Status::ok;
    const double* m = &results.measures[columns * k];
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const double error = std::abs(m[2 + i] - (roots[i] - m[0]) / m[1]);
      worst[i] = error <= worst[i] ? worst[i] : error;  // NaN: never reached
    }
    bounced += m[columns - 1] == 1;
  }
  EXPECT_EQ(failed, 0u) << backend.name() << ", " << backend.device();
  EXPECT_EQ(bounced, members) << backend.name() << ", " << backend.device();
  for (std::size_t i = 0; i < roots.size(); ++i)
    EXPECT_LE(worst[i], allowed) << backend.name() << ", " << backend.device() << ", "
                                 << pole_functions[i].text;
}

// The time of a crossing: x = 9 to the rounding of its terms over a speed of 0.9, with room.
constexpr double in_doubles = 1e-9;
// Several hundred short steps before and after the poles, each of which rounds x to 5e-7.
constexpr double in_floats = 5e-4;

TEST(Poles, ArePassedWhereTheWholeFunctionIsContinuous) {
  const Study study = passages(drawn_start, {"integrator.rtol=1e-9"});
  BackendReference reference(study, 2);
  expect_passed(study, reference, 20, in_doubles);
  BackendCpu cpu(study, *HostCompiler::find(), 2, LaneChoice::best);
  expect_passed(study, cpu, 1000, in_doubles);
}

TEST(Poles, ArePassedByEveryMethod) {
  for (const std::vector<std::string>& method : {std::vector<std::string>{"integrator.method=\"dop853\""},
                                                 {"integrator.method=\"taylor\""},
                                                 {"integrator.method=\"tsit5\""},
                                                 {"integrator.method=\"rk4\"", "integrator.step=0.02"}}) {
    const Study study = passages(drawn_start, method);
    BackendReference reference(study, 2);
    expect_passed(study, reference, 20, in_doubles);
    BackendCpu cpu(study, *HostCompiler::find(), 2, LaneChoice::best);
    expect_passed(study, cpu, 1000, in_doubles);
  }
}

TEST(Poles, ArePassedInFloats) {
  const Study study = passages(
      drawn_start, {"integrator.precision=\"single\"", "integrator.rtol=1e-5", "integrator.atol=1e-5"});
  BackendCpu cpu(study, *HostCompiler::find(), 2, LaneChoice::best);
  expect_passed(study, cpu, 1000, in_floats);
}

// A step that starts or ends at the pole itself, where rates are infinite or undefined.
TEST(Poles, MayBeTheStartOrTheEndOfAStep) {
  for (const char* x0 : {"0.5", "2"}) {
    const Study study = passages(std::string("[parameters]\nx0 = ") + x0 +
                                     "\nvx = 1\n[[impulse]]\nat = 1.5\non = \"p\"\nvelocity = [0, 0]\n",
                                 {});
    BackendReference reference(study, 1);
    expect_passed(study, reference, 1, in_doubles);
    BackendCpu cpu(study, *HostCompiler::find(), 1, LaneChoice::best);
    expect_passed(study, cpu, 1, in_doubles);
  }
}

}  // namespace
}  // namespace zwang::poles_test
