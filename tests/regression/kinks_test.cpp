// Integrals of functions with jumps and kinks along the motion: closed forms, piece by piece between them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <regex>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/check/check.h"
#include "host/study_file/load_study.h"
#include "tests/support/batch_runs.h"
#include "tests/support/study_runs.h"

namespace zwang::kinks_test {
namespace {

// x = c + A sin(t + phase).
struct Swing {
  double c, x0, v0;
  double amplitude() const { return std::hypot(x0 - c, v0); }
  double phase() const { return std::atan2(x0 - c, v0); }
  double at(double t) const { return c + amplitude() * std::sin(t + phase()); }
};

// A function of x that is smooth between its levels; `inside` is any x on the same side of all of them.
struct Kinked {
  std::string text;
  std::function<double(double x, double inside)> value;
  std::vector<double> levels;
  double allowed =
      5e-9;  // where a jump is grazed, the error of the motion, 1e-10, moves it twenty times as far
};

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

const std::vector<Kinked>& kinked() {
  std::vector<double> thirds, boxes, edges;
  for (int k = -12; k <= 12; ++k) {
    thirds.push_back(k / 3.0);
    boxes.push_back(0.35 + 0.7 * k);
    for (const double side : {-1, 1}) edges.push_back(0.7 * k + side * std::sqrt(0.1224));
  }
  const auto wrapped = [](double x, double inside) { return x - 0.7 * std::floor(inside / 0.7 + 0.5); };
  static const std::vector<Kinked> all = {
      {"sign(x)", [](double, double i) { return sign_of(i); }, {0}},
      {"abs(x)", [](double x, double i) { return sign_of(i) * x; }, {0}},
      {"x*max(x, 0.1)^2", [](double x, double i) { return x * std::pow(i > 0.1 ? x : 0.1, 2); }, {0.1}},
      {"min(x, 0.3, 1 - x)",
       [](double x, double i) { return i < 0.3   ? x
                                       : i < 0.7 ? 0.3
                                                 : 1 - x; },
       {0.3, 0.5, 0.7}},
      {"floor(3*x)", [](double, double i) { return std::floor(3 * i); }, thirds},
      {"wrap(x, 0.7)^2", [=](double x, double i) { return std::pow(wrapped(x, i), 2); }, boxes},
      {"wrap(x, 0.7)*sign(x)", [=](double x, double i) { return wrapped(x, i) * sign_of(i); }, boxes},
      // Changes its sign beside the jump, for an instant: found from the jump only.
      {"sign(0.1224 - wrap(x, 0.7)^2)",
       [=](double, double i) { return sign_of(0.1224 - std::pow(wrapped(i, i), 2)); }, edges},
      // Not defined just beyond the kink, so no branch is kept. The first has no second derivative there.
      {"max(x, 0)^1.5",
       [](double x, double i) { return i > 0 ? std::pow(std::max(x, 0.0), 1.5) : 0; },
       {0},
       5e-8},
      {"sqrt(2 + sign(x - 0.1))", [](double, double i) { return std::sqrt(2 + sign_of(i - 0.1)); }, {0.1}},
      {"sqrt(1 + abs(x))", [](double x, double i) { return std::sqrt(1 + sign_of(i) * x); }, {0}}};
  return all;
}

double integral_of(const Swing& swing, const Kinked& f, double end) {
  std::vector<double> places = {0, end};
  std::vector<double> levels = f.levels;
  levels.push_back(0);
  for (const double level : levels) {
    const double s = (level - swing.c) / swing.amplitude();
    if (std::abs(s) > 1) continue;
    for (int k = -1; k <= end / 6 + 2; ++k)
      for (const double angle : {std::asin(s), std::numbers::pi - std::asin(s)}) {
        const double t = angle + 2 * std::numbers::pi * k - swing.phase();
        if (t > 0 && t < end) places.push_back(t);
      }
  }
  std::sort(places.begin(), places.end());
  double sum = 0;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    // Gauss's rule of three points on 200 pieces, denser towards the ends, where x^1.5 has the slope of a
    // root.
    const double a = places[i], b = places[i + 1], inside = swing.at((a + b) / 2);
    constexpr int pieces = 200;
    for (int p = 0; p < pieces; ++p)
      for (int g = -1; g <= 1; ++g) {
        const double u = (p + 0.5 + 0.5 * g * std::sqrt(0.6)) / pieces;
        const double t = a + (b - a) * u * u * (3 - 2 * u), share = 6 * u * (1 - u) * (b - a);
        sum += share / pieces * (g == 0 ? 4.0 / 9 : 5.0 / 18) * f.value(swing.at(t), inside);
      }
  }
  return sum;
}

// The numbers are parameters, so that one compiled program serves all swings.
Study swinging(const Swing& swing, const std::string& method, const std::vector<Kinked>& measured) {
  std::string measures;
  for (std::size_t i = 0; i < measured.size(); ++i)
    measures += "m" + std::to_string(i) + " = \"integral(" + measured[i].text + ")\"\n";
  const std::string start = "[parameters]\nc = " + std::to_string(swing.c) +
                            "\nx0 = " + std::to_string(swing.x0) + "\nv0 = " + std::to_string(swing.v0);
  return read_study("title = \"Swing\"\n" + start + R"toml(
[[coordinate]]
name = "x"
position = "x0"
velocity = "v0"
[system]
kinetic = "0.5*x'^2"
potential = "0.5*(x - c)^2"
[ensemble]
members = 1
[integrator]
rtol = 1e-11
atol = 1e-11
[time]
end = 10
samples = 3
[measure]
)toml" + measures,
                    "swing.toml", {"integrator.method=" + method});
}

std::vector<double> measured_by(const Study& study, bool reference) {
  std::unique_ptr<Backend> backend;
  if (reference)
    backend = std::make_unique<BackendReference>(study, 1);
  else
    backend = std::make_unique<BackendCpu>(study, *HostCompiler::find(), 1, LaneChoice::best);
  const BatchResults results = run_members(study, *backend, 1);
  EXPECT_EQ(results.status[0], Status::ok);
  return results.measures;
}

// Through zero; from zero; from a jump of wrap alone; up and down again within a short time: two kinks in one
// step.
const Swing swings[] = {{0, 0.2, 1},     {0, 0, 0.93},      {0, 0.35, 1},
                        {0.97, 1.97, 0}, {0.999, 1.999, 0}, {-0.31, 0.7, -0.02}};

TEST(Kinks, EveryKindIsIntegratedExactlyByItself) {
  for (const Kinked& f : kinked())
    for (const char* method : {"dop853", "tsit5"})
      for (const Swing& swing : swings) {
        const Study study = swinging(swing, method, {f});
        EXPECT_NEAR(measured_by(study, false).at(0), integral_of(swing, f, 10), f.allowed)
            << method << ": " << f.text << " from " << swing.x0;
      }
}

TEST(Kinks, ManyInOneStudyAreToo) {
  for (const Swing& swing : swings)
    for (const bool reference : {true, false}) {
      const std::vector<double> found = measured_by(swinging(swing, "auto", kinked()), reference);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], integral_of(swing, kinked()[i], 10), kinked()[i].allowed)
            << (reference ? "reference: " : "cpu: ") << kinked()[i].text << " from " << swing.x0;
    }
}

// Velocities change sign in shocks and stay zero at rest.
TEST(Kinks, ShocksAndRestChangeSides) {
  const std::string text = R"toml(
title = "Ball"
[[point]]
name = "ball"
mass = 1
position = [0, 1]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "floor"
require = "ball.y >= 0"
restitution = 0.5
[ensemble]
members = 1
[time]
end = 3
samples = 4
[measure]
distance = "integral(abs(ball.y'))"
up = "integral(sign(ball.y'))"
above = "integral(sign(ball.y))"
)toml";
  const double e = 0.5, first = std::sqrt(2 / 9.81);
  for (const bool reference : {true, false}) {
    const std::vector<double> found = measured_by(read_study(text, "ball.toml"), reference);
    EXPECT_NEAR(found.at(0), 1 + 2 * e * e / (1 - e * e), 2e-8);
    EXPECT_NEAR(found.at(1), -first, 2e-8);
    EXPECT_NEAR(found.at(2), first * (1 + 2 * e / (1 - e)), 1e-5);  // the last hops are completed at once
  }
}

// A driven coordinate whose multiplier is a swing in time: s = A sin(t + phase) under the force c has
// s'' = c - multiplier, hence multiplier = c + A sin(t + phase).
Study driven(const Swing& swing, const std::string& method, const std::vector<Kinked>& measured) {
  std::string measures;
  for (std::size_t i = 0; i < measured.size(); ++i)
    measures += "m" + std::to_string(i) + " = \"integral(" +
                std::regex_replace(measured[i].text, std::regex("\\bx\\b"), "multiplier(drive)") + ")\"\n";
  const auto number = [](const char* name, double value) {
    return std::string(name) + " = " + fmt::format("{:.17g}", value) + "\n";
  };
  return read_study("title = \"Drive\"\n[parameters]\n" + number("c", swing.c) +
                        number("a", swing.amplitude()) + number("phase", swing.phase()) + R"toml(
[[coordinate]]
name = "s"
position = "a*sin(phase)"
velocity = "a*cos(phase)"
[system]
kinetic = "0.5*s'^2"
potential = "-c*s"
[[constraint]]
name = "drive"
require = "s == a*sin(t + phase)"
[ensemble]
members = 1
[integrator]
rtol = 1e-11
atol = 1e-11
[time]
end = 10
samples = 3
[measure]
)toml" + measures,
                    "drive.toml", {"integrator.method=" + method});
}

TEST(Kinks, OfMultipliersAreLocatedLikeThoseOfCoordinates) {
  for (const Swing& swing : swings) {
    const auto expect = [&](const Study& study, bool reference, const char* method) {
      const std::vector<double> found = measured_by(study, reference);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], integral_of(swing, kinked()[i], 10), kinked()[i].allowed)
            << (reference ? "reference: " : method) << kinked()[i].text << " from " << swing.x0;
    };
    for (const char* method : {"dop853", "tsit5"}) expect(driven(swing, method, kinked()), false, method);
    expect(driven(swing, "auto", kinked()), true, "auto");
  }
}

// A pendulum thrown from its lowest point, and how long its tension is above a limit; further measures may
// follow.
std::string loads_text(const std::string& speed) {
  return R"toml(
title = "Loads above a limit"
[[anchor]]
name = "nail"
position = [0, 0]
[[point]]
name = "bob"
mass = 1
position = [0, -1]
velocity = [)toml" +
         speed + R"toml(, 0]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "cord"
require = "distance(bob, nail) <= 1"
restitution = 0
[ensemble]
members = 1
[time]
end = 4
samples = 5
[measure]
over = "integral(max(reaction(cord) - 20, 0))"
)toml";
}

// Tension of a pendulum above a limit: v^2 + g cos(angle), integrated in small steps of the equation of the
// angle.
TEST(Kinks, OfReactionsOfAPendulumAreLocated) {
  const std::string text = loads_text("4") + R"toml(below = "integral(sign(reaction(cord) - 10))"
)toml";
  constexpr double g = 9.81, h = 1e-5;
  double angle = 0, speed = 4, over = 0, below = 0;
  const auto tension = [&] { return speed * speed + g * std::cos(angle); };
  for (int i = 0; i < 400000; ++i) {
    const double before = tension();
    // A classical Runge-Kutta step; its error is far below that of the trapezoidal rule.
    const double a1 = -g * std::sin(angle), v2 = speed + h / 2 * a1,
                 a2 = -g * std::sin(angle + h / 2 * speed), v3 = speed + h / 2 * a2,
                 a3 = -g * std::sin(angle + h / 2 * v2), v4 = speed + h * a3,
                 a4 = -g * std::sin(angle + h * v3);
    angle += h / 6 * (speed + 2 * v2 + 2 * v3 + v4);
    speed += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    const double after = tension();
    const auto part = [&](double limit) {  // of the step in which the tension is above the limit
      const double low = std::min(before, after) - limit, high = std::max(before, after) - limit;
      return low >= 0 ? 1 : high <= 0 ? 0 : high / (high - low);
    };
    over += h / 2 * part(20) * std::max(std::max(before, after) - 20, 0.0) +
            h / 2 * (part(20) == 1 ? std::min(before, after) - 20 : 0);
    below += h * (2 * part(10) - 1);
  }
  for (const char* method : {"dop853", "tsit5"})
    for (const bool reference : {true, false}) {
      const Study study = read_study(text, "loads.toml", {std::string("integrator.method=") + method});
      const std::vector<double> found = measured_by(study, reference);
      EXPECT_NEAR(found.at(0), over, 1e-7) << method << (reference ? ", reference" : ", cpu");
      EXPECT_NEAR(found.at(1), below, 1e-7) << method << (reference ? ", reference" : ", cpu");
    }
}

// A square root beside a kink of a reaction must not switch off the error test of the step.
TEST(Kinks, OfReactionsAreSeenBesideThoseOfRoots) {
  const std::string text = loads_text("5.921423") + R"toml(high = "integral(sqrt(max(bob.y, 0)))"
)toml";
  const auto by = [&](const char* method, double tolerance) {
    Study study = read_study(text, "loads.toml", {std::string("integrator.method=") + method});
    study.integrator.rtol = study.integrator.atol = tolerance;
    return measured_by(study, false);
  };
  const std::vector<double> expected = by("tsit5", 1e-12);
  EXPECT_NEAR(by("dop853", 1e-12).at(0), expected.at(0), 1e-8);
  for (const char* method : {"dop853", "tsit5"}) {
    EXPECT_NEAR(by(method, 1e-9).at(0), expected.at(0), 1e-5) << method;
    EXPECT_NEAR(by(method, 1e-9).at(1), expected.at(1), 1e-5) << method;
  }
}

}  // namespace
}  // namespace zwang::kinks_test
