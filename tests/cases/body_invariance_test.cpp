// Laws of rigid bodies that need no numbers, over random bodies: the motion does not depend on how the body is written.
// All variants are bodies of one study, drawn together, so that one program serves every member.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/study_runs.h"

namespace zwang::body_invariance_test {
namespace {

constexpr std::size_t random_members = 6;

// Every measure of every member is a deviation, on each backend.
void expect_no_deviation(const Study& study, double tolerance) {
  std::vector<unsigned long long> numbers;
  for (std::size_t m = 0; m < random_members; ++m) numbers.push_back(m);
  for (const char* backend : {"reference", "cpu"}) {
    const auto made = make_backend(backend, study, {.threads = 1});
    const BatchResults results = made->run(prepare_batch(study, numbers, 1), {});
    const std::vector<std::string> names = names_of(study.system->measures);
    for (std::size_t m = 0; m < random_members; ++m) {
      EXPECT_STREQ(status_name(results.status[m]), "ok") << backend << m;
      for (std::size_t k = 0; k < names.size(); ++k)
        EXPECT_NEAR(results.measures[m * study.system->member_values() + k], 0, tolerance)
            << backend << m << names[k];
    }
  }
}

using Strings = std::array<std::string, 3>;

std::string list_of(const std::vector<std::string>& formulas) {
  std::string text;
  for (const std::string& formula : formulas) text += (text.empty() ? "\"" : ", \"") + formula + "\"";
  return "[" + text + "]";
}

// A body with a spring at its hook, drawn to a place that moves with the velocity `frame`.
std::string hung_body(const std::string& name, const std::string& inertia, const std::string& q,
                      const Strings& rates, const Strings& hook, const std::string& frame) {
  const std::string moving = frame + "*t";
  return "[[body]]\nname = \"" + name + "\"\nmass = 1.5\ninertia = " + inertia +
         "\nposition = [0.3, -0.2, 0.1]\nvelocity = " + list_of({"0.4 + " + frame, "-0.1", "0.2"}) +
         "\norientation = " + q + "\nangular_velocity = " + list_of({rates[0], rates[1], rates[2]}) +
         "\npoints = { hook = " + list_of({hook[0], hook[1], hook[2]}) + " }\n[[force]]\non = \"" + name +
         ".hook\"\nvector = " +
         list_of({"-30*(" + name + ".hook.x - " + moving + ")", "-20*" + name + ".hook.y",
                  "-40*" + name + ".hook.z"}) +
         "\n";
}

// Turned body axes: R = Rz(b) Rx(c), with components R^T v, inertia R^T I R and orientation q o r.
const std::array<Strings, 3> turned_axes = {{{"cos(b)", "-sin(b)*cos(c)", "sin(b)*sin(c)"},
                                             {"sin(b)", "cos(b)*cos(c)", "-cos(b)*sin(c)"},
                                             {"0", "sin(c)", "cos(c)"}}};

Strings in_turned_axes(const Strings& v) {
  Strings made;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      made[i] += (k ? " + (" : "(") + turned_axes[k][i] + ")*(" + v[k] + ")";
  return made;
}

std::string turned_inertia(const Strings& moments) {
  std::string rows;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::string> row;
    for (std::size_t j = 0; j < 3; ++j) {
      std::string entry;
      for (std::size_t k = 0; k < 3; ++k)
        entry += (k ? " + " : "") + moments[k] + "*(" + turned_axes[k][i] + ")*(" + turned_axes[k][j] + ")";
      row.push_back(entry);
    }
    rows += (i ? ", " : "") + list_of(row);
  }
  return "[" + rows + "]";
}

TEST(BodyInvariance, SignOfTheQuaternionBodyAxesAndGalileanFrameDoNotMatter) {
  const Strings moments = {"I1", "I2", "I3"}, rates = {"w1", "w2", "w3"}, hook = {"0.2", "h", "0.3"};
  const std::string principal = list_of({"I1", "I2", "I3"}), q = list_of({"q0", "q1", "q2", "q3"});
  // r = (cb cc, cb sc, sb sc, sb cc) of half angles, and q o r.
  const std::string r0 = "cos(b/2)*cos(c/2)", r1 = "cos(b/2)*sin(c/2)", r2 = "sin(b/2)*sin(c/2)",
                    r3 = "sin(b/2)*cos(c/2)";
  const auto sum = [&](const std::string& a, const std::string& b, const std::string& c,
                       const std::string& d) {
    return a + "*" + r0 + " + " + b + "*" + r1 + " + " + c + "*" + r2 + " + " + d + "*" + r3;
  };
  const std::string turned = list_of({sum("q0", "(-q1)", "(-q2)", "(-q3)"), sum("q1", "q0", "(-q3)", "q2"),
                                      sum("q2", "q3", "q0", "(-q1)"), sum("q3", "(-q2)", "q1", "q0")});
  std::string parameters = "[parameters]\n";
  for (const char* name : {"I1", "I2", "I3"}) parameters += std::string(name) + " = { uniform = [1, 1.9] }\n";
  for (const char* name : {"w1", "w2", "w3", "h", "b", "c"})
    parameters += std::string(name) + " = { uniform = [-1, 1] }\n";
  for (const char* name : {"q0", "q1", "q2", "q3"})
    parameters += std::string(name) + " = { normal = { mean = 0, std = 1 } }\n";
  const auto apart = [](const std::string& other, const std::string& shift) {
    return other + "_place = \"final(hypot(" + other + ".hook.x - " + shift + " - a.hook.x, " + other +
           ".hook.y - a.hook.y) + abs(" + other + ".hook.z - a.hook.z))\"\n" + other +
           "_spin = \"final(abs(" + other + ".spin.x - a.spin.x) + abs(" + other +
           ".spin.y - a.spin.y) + abs(" + other + ".spin.z - a.spin.z))\"\n";
  };
  const Study study = written(
      parameters + hung_body("a", principal, q, rates, hook, "0") +
      hung_body("negative", principal, list_of({"-q0", "-q1", "-q2", "-q3"}), rates, hook, "0") +
      hung_body("turned", turned_inertia(moments), turned, in_turned_axes(rates), in_turned_axes(hook), "0") +
      hung_body("moving", principal, q, rates, hook, "0.7") +
      "[system]\ngravity = [0, 0, -9.81]\n[time]\nend = 1.5\n[measure]\n" + apart("negative", "0") +
      apart("turned", "0") + apart("moving", "0.7*t"));
  expect_no_deviation(study, 1e-10);
}

// In space the products of inertia and a force out of the plane are borne by the conditions that hold the body there.
TEST(BodyInvariance, ABodyHeldToThePlaneMovesAsAPlanarOneAndWithoutRatesAsAPoint) {
  const Study study = written(R"toml(
[parameters]
I = { uniform = [0.5, 1.5] }
h = { uniform = [-0.5, 0.5] }
w = { uniform = [-3, 3] }
u = { uniform = [-1, 1] }
[[body]]
name = "flat"
mass = 1.5
inertia = "I"
position = [0.3, 0.1]
velocity = ["u", 0.2]
angle = "h"
angular_velocity = "w"
points = { hook = ["h", 0.4] }
[[body]]
name = "held"
mass = 1.5
inertia = [[2, 0, 0.1], [0, 2, 0.2], [0.1, 0.2, "I"]]
position = [0.3, 0.1, 0]
velocity = ["u", 0.2, 0]
orientation = { axis = [0, 0, 1], angle = "h" }
angular_velocity = [0, 0, "w"]
points = { hook = ["h", 0.4, 0] }
[[body]]
name = "still"
mass = 2
inertia = [1, 1.2, 1.5]
position = [0.5, 0.1, "h"]
velocity = ["u", 0.2, 0]
orientation = [1, "h", "u", 0.3]
[[point]]
name = "p"
mass = 2
position = [0.5, 0.1, "h"]
velocity = ["u", 0.2, 0]
[[force]]
on = "flat.hook"
vector = ["-30*flat.hook.x", "-20*flat.hook.y - 3"]
[[force]]
on = "held.hook"
vector = ["-30*held.hook.x", "-20*held.hook.y - 3", 5]
[[force]]
on = "still"
vector = ["-9*still.x", "-9*still.y", "-9*still.z"]
[[force]]
on = "p"
vector = ["-9*p.x", "-9*p.y", "-9*p.z"]
[[constraint]]
name = "height"
require = "held.z == 0"
[[constraint]]
name = "upright_x"
require = "held.ez.x == 0"
[[constraint]]
name = "upright_y"
require = "held.ez.y == 0"
[time]
end = 2
[measure]
x = "final(held.hook.x - flat.hook.x)"
y = "final(held.hook.y - flat.hook.y)"
turn = "final(held.wz - flat.angle')"
axis = "final(held.ex.x - cos(flat.angle)) + final(held.ex.y - sin(flat.angle))"
point = "final(distance(p, still))"
rates = "final(norm(still.spin))"
)toml");
  expect_no_deviation(study, 1e-10);
}

// The states themselves keep their length as the flow does, up to the error of the steps; formulas divide by it, so that
// its error does not enter the motion.
TEST(BodyInvariance, QuaternionsKeepTheLengthOneToTheTolerance) {
  const Study study = written(R"toml(
[[body]]
name = "b"
mass = 1
inertia = [1, 1.4, 1.9]
position = [0, 0, 0]
orientation = [{ normal = { mean = 0, std = 1 } }, { normal = { mean = 0, std = 1 } }, 1, 2]
angular_velocity = [{ uniform = [-5, 5] }, { uniform = [-5, 5] }, 3]
[time]
end = 10
)toml");
  for (const char* backend : {"reference", "cpu"}) {
    const auto made = make_backend(backend, study, {.threads = 1});
    const BatchResults results =
        made->run(prepare_batch(study, std::vector<unsigned long long>{0, 1, 2, 3}, 1), {});
    constexpr std::size_t states = 6 + 6 + 4;
    for (std::size_t m = 0; m < 4; ++m) {
      double squares = 0;
      for (std::size_t k = 12; k < states; ++k)
        squares += results.end_state[m * states + k] * results.end_state[m * states + k];
      EXPECT_NEAR(squares, 1, 100 * finest) << backend << m;
    }
  }
}

TEST(BodyInvariance, PowerSeriesGiveTheMotionOfABodyInSpace) {
  const std::string text = R"toml(
[[body]]
name = "b"
mass = 1
inertia = [1, 1.4, 1.9]
position = [0, 0, 0]
orientation = [1, 2, -1, 3]
angular_velocity = [2, -1, 3]
[time]
end = 5
[measure]
x = "final(b.ex.x)"
y = "final(b.ex.y)"
z = "final(b.ez.z)"
)toml";
  const auto measures = [&](const std::string& method) {
    const Study study = written(text, {"integrator.method=" + method});
    const auto made = make_backend("cpu", study, {.threads = 1});
    return made->run(prepare_batch(study, std::vector<unsigned long long>{0}, 1), {}).measures;
  };
  const std::vector<double> stages = measures("dop853"), series = measures("taylor");
  for (std::size_t k = 0; k < stages.size(); ++k) EXPECT_NEAR(series[k], stages[k], 1e-10) << k;
}

}  // namespace
}  // namespace zwang::body_invariance_test
