// Linkages that swing through positions in which their constraints are linearly dependent. Branches of the
// configuration space cross there; the motion goes on smoothly along its own. Each linkage has one degree of freedom
// and is compared with the motion of that angle, I(x) x'' + I'(x) x'^2/2 + V'(x) = 0, integrated without constraints.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/run/backend_factory.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/batch_runs.h"

namespace zwang::linkages_test {
namespace {

using Real = long double;
using Complex = std::complex<Real>;

constexpr double gravity = 9.81;
constexpr std::size_t speeds = 20;

struct Linkage {
  std::string name;
  std::string bodies;              // anchors, points and constraints; the angle starts at x0 with the speed w
  double start, slowest, fastest;  // x0, and the range of w
  double end;                      // time, after two passages or more at most speeds
  std::function<Complex(Complex)> inertia, potential;
  // The coordinates p.x and p.y that are compared.
  std::function<Real(Real)> x, y;
};

std::string point(const std::string& name, double mass, const std::string& position,
                  const std::string& velocity) {
  return "[[point]]\nname = \"" + name + "\"\nmass = " + std::to_string(mass) + "\nposition = " + position +
         "\nvelocity = " + velocity + "\n";
}
std::string anchor(const std::string& name, const std::string& position) {
  return "[[anchor]]\nname = \"" + name + "\"\nposition = " + position + "\n";
}
std::string rod(const std::string& a, const std::string& b, const std::string& length) {
  return "[[constraint]]\nname = \"" + a + "_" + b + "\"\nrequire = \"distance(" + a + ", " + b +
         ") == " + length + "\"\n";
}

// Cranks of length 1 hang from anchors two apart and are joined by couplers of length 2; a spring pulls the first.
Linkage parallelogram(int cranks) {
  Linkage made;
  made.name = std::to_string(cranks) + " coupled cranks";
  const double masses[] = {1, 2, 1.5};
  const std::string names = "pqr", hooks = "ABC";
  double mass = 0;
  for (int i = 0; i < cranks; ++i) {
    const std::string at = std::to_string(2 * i), name(1, names[i]), hook(1, hooks[i]);
    mass += masses[i];
    made.bodies +=
        anchor(hook, "[" + at + ", 0]") +
        point(name, masses[i], "[\"" + at + " + sin(x0)\", \"-cos(x0)\"]", "[\"w*cos(x0)\", \"w*sin(x0)\"]") +
        rod(name, hook, "1");
    if (i > 0) made.bodies += rod(std::string(1, names[i - 1]), name, "2");
  }
  made.bodies += "[system.force]\n\"p.x\" = \"-20*p.x\"\n";
  made.start = 0.1;
  made.slowest = 5.3;
  made.fastest = 12;
  made.end = 1.2;
  made.inertia = [mass](Complex) { return Complex(mass); };
  made.potential = [mass](Complex x) {
    return -Real(mass * gravity) * std::cos(x) + Real(10) * std::sin(x) * std::sin(x);
  };
  made.x = [](Real x) { return std::sin(x); };
  made.y = [](Real x) { return -std::cos(x); };
  return made;
}

// Crank and connecting rod of equal length: with the crank upright the slider is below its bearing and could stay there.
Linkage slider_crank() {
  return {"slider-crank",
          anchor("A", "[0, 0]") +
              point("p", 1, "[\"cos(x0)\", \"sin(x0)\"]", "[\"-w*sin(x0)\", \"w*cos(x0)\"]") +
              point("q", 2, "[\"2*cos(x0)\", 0]", "[\"-2*w*sin(x0)\", 0]") + rod("p", "A", "1") +
              rod("p", "q", "1") + "[[constraint]]\nname = \"guide\"\nrequire = \"q.y == 0\"\n",
          0.3,
          4.4,
          9,
          1.5,
          [](Complex x) { return Real(1) + Real(8) * std::sin(x) * std::sin(x); },
          [](Complex x) { return Real(gravity) * std::sin(x); },
          [](Real x) { return std::cos(x); },
          [](Real x) { return std::sin(x); }};
}

// A kite: the crank of p is as long as its bearing is from the other one, and both other rods are alike. When p passes
// the second bearing, q could stay with p there and turn about both.
Linkage kite() {
  const std::string r = "(2*cos(x0/2) + sqrt(9 - 4*sin(x0/2)^2))";
  const std::string r_rate = "(-sin(x0/2) - 2*sin(x0/2)*cos(x0/2)/sqrt(9 - 4*sin(x0/2)^2))";
  const auto distance = [](Complex x) {
    const Complex s = std::sin(x / Real(2));
    return Real(2) * std::cos(x / Real(2)) + std::sqrt(Real(9) - Real(4) * s * s);
  };
  return {"kite",
          anchor("A", "[0, 0]") + anchor("B", "[2, 0]") +
              point("p", 1, "[\"2*cos(x0)\", \"2*sin(x0)\"]", "[\"-2*w*sin(x0)\", \"2*w*cos(x0)\"]") +
              point("q", 2, "[\"" + r + "*cos(x0/2)\", \"" + r + "*sin(x0/2)\"]",
                    "[\"w*(" + r_rate + "*cos(x0/2) - " + r + "*sin(x0/2)/2)\", \"w*(" + r_rate +
                        "*sin(x0/2) + " + r + "*cos(x0/2)/2)\"]") +
              rod("p", "A", "2") + rod("q", "B", "3") + rod("p", "q", "3"),
          -1.0,
          3.0,
          9,
          0.8,
          [distance](Complex x) {
            const Complex half = x / Real(2), s = std::sin(half), c = std::cos(half), far = distance(x);
            const Complex rate = -s - Real(2) * s * c / std::sqrt(Real(9) - Real(4) * s * s);
            return Real(4) + Real(2) * (rate * rate + far * far / Real(4));
          },
          [distance](Complex x) {
            return Real(gravity) * (Real(2) * std::sin(x) + Real(2) * distance(x) * std::sin(x / Real(2)));
          },
          [](Real x) { return 2 * std::cos(x); },
          [](Real x) { return 2 * std::sin(x); }};
}

// The angle at the end, by the classical Runge-Kutta method in steps of 2e-5; derivatives by complex differences.
Real angle_at_end(const Linkage& linkage, Real speed) {
  const auto slope = [](const std::function<Complex(Complex)>& f, Real x) {
    constexpr Real tiny = 1e-30L;
    return f(Complex(x, tiny)).imag() / tiny;
  };
  const auto acceleration = [&](Real x, Real v) {
    return -(slope(linkage.inertia, x) * v * v / 2 + slope(linkage.potential, x)) / linkage.inertia(x).real();
  };
  const int steps = static_cast<int>(linkage.end / 2e-5);
  const Real h = static_cast<Real>(linkage.end) / steps;
  Real x = linkage.start, v = speed;
  for (int i = 0; i < steps; ++i) {
    const Real a1 = acceleration(x, v), v2 = v + h / 2 * a1, a2 = acceleration(x + h / 2 * v, v2);
    const Real v3 = v + h / 2 * a2, a3 = acceleration(x + h / 2 * v2, v3), v4 = v + h * a3;
    const Real a4 = acceleration(x + h * v3, v4);
    x += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
    v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  return x;
}

Study study_of(const Linkage& linkage, double tolerance) {
  const auto text = [](double value) { return fmt::format("{}", value); };
  return read_study(
      "title = \"" + linkage.name + "\"\n[parameters]\nx0 = " + text(linkage.start) + "\nw = { grid = [" +
          text(linkage.slowest) + ", " + text(linkage.fastest) + ", " + std::to_string(speeds) +
          "] }\n[system]\ngravity = [0, " + text(-gravity) + "]\n" + linkage.bodies +
          "[ensemble]\nmembers = " + std::to_string(speeds) + "\n[time]\nend = " + text(linkage.end) +
          "\nsamples = 2\n[integrator]\nrtol = " + text(tolerance) + "\natol = " + text(tolerance) +
          "\n[measure]\nw = \"initial(w)\"\nx = \"final(p.x)\"\ny = \"final(p.y)\"\n",
      "linkage.toml");
}

// Whether most speeds are followed, and all that are followed are right to 100 tolerances.
void expect_followed(const Linkage& linkage, const std::vector<Real>& angles, Backend& backend,
                     const Study& study, double tolerance) {
  const BatchResults results = run_members(study, backend, speeds);
  std::size_t followed = 0;
  for (std::size_t k = 0; k < speeds; ++k) {
    if (results.status[k] == Status::singular) continue;
    ASSERT_EQ(results.status[k], Status::ok) << linkage.name << ", member " << k;
    ++followed;
    const double* m = &results.measures[3 * k];
    const double error = std::hypot(m[1] - static_cast<double>(linkage.x(angles[k])),
                                    m[2] - static_cast<double>(linkage.y(angles[k])));
    EXPECT_LE(error, 100 * tolerance) << linkage.name << ", w = " << m[0] << ", rtol = " << tolerance;
  }
  EXPECT_GE(followed, speeds - 2) << linkage.name << ", rtol = " << tolerance;
}

std::vector<Real> angles_of(const Linkage& linkage) {
  std::vector<Real> angles;
  for (std::size_t k = 0; k < speeds; ++k)
    angles.push_back(angle_at_end(linkage, linkage.slowest + (linkage.fastest - linkage.slowest) *
                                                                 static_cast<Real>(k) / (speeds - 1)));
  return angles;
}

class Linkages : public testing::TestWithParam<int> {
 protected:
  static Linkage linkage(int which) {
    return which == 0   ? parallelogram(2)
           : which == 1 ? parallelogram(3)
           : which == 2 ? slider_crank()
                        : kite();
  }
};

TEST_P(Linkages, PassTheirSingularPositionsAtEverySpeed) {
  const Linkage one = linkage(GetParam());
  const std::vector<Real> angles = angles_of(one);
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
    const Study study = study_of(one, tolerance);
    BackendReference reference(study, 2);
    expect_followed(one, angles, reference, study, tolerance);
    BackendCpu cpu(study, *HostCompiler::find(), 2, LaneChoice::best);
    expect_followed(one, angles, cpu, study, tolerance);
  }
}

TEST_P(Linkages, PassThemOnAGpu) {
  if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  const Linkage one = linkage(GetParam());
  const std::vector<Real> angles = angles_of(one);
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) {
    const Study study = study_of(one, tolerance);
    const std::unique_ptr<Backend> backend = make_backend("cuda", study, {});
    expect_followed(one, angles, *backend, study, tolerance);
  }
}

// The constraints alone do not determine the accelerations there.
TEST_P(Linkages, EndAtOnceWhereTheyStartInASingularPosition) {
  const double singular[] = {std::acos(-1) / 2, std::acos(-1) / 2, std::acos(-1) / 2, 0};
  Linkage one = linkage(GetParam());
  one.start = singular[GetParam()];
  one.slowest = 1;
  const Study study = study_of(one, 1e-9);
  BackendReference reference(study, 2);
  BackendCpu cpu(study, *HostCompiler::find(), 2, LaneChoice::best);
  for (Backend* backend : {static_cast<Backend*>(&reference), static_cast<Backend*>(&cpu)}) {
    const BatchResults results = run_members(study, *backend, 1);
    EXPECT_EQ(results.status[0], Status::singular) << one.name;
    EXPECT_EQ(results.end_time[0], 0) << one.name;
  }
}

std::string linkage_name(const testing::TestParamInfo<int>& info) {
  const char* names[] = {"TwoCranks", "ThreeCranks", "SliderCrank", "Kite"};
  return names[info.param];
}
INSTANTIATE_TEST_SUITE_P(All, Linkages, testing::Range(0, 4), linkage_name);

}  // namespace
}  // namespace zwang::linkages_test
