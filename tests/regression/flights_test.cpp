// Points in straight flight past small features: the motion itself allows long steps, and an event function
// may rise and fall within one step. Closed forms give the events that must be found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "tests/support/batch_runs.h"

namespace zwang::flights_test {
namespace {

constexpr double end = 10;

struct Flight {
  double vx, vy, cx, cy;

  double x(double t) const { return 0.1 + vx * t - cx; }  // from the place
  double y(double t) const { return 0.2 + vy * t - cy; }
  double distance_squared(double t) const { return x(t) * x(t) + y(t) * y(t); }
  double closest() const { return std::clamp(-(x(0) * vx + y(0) * vy) / (vx * vx + vy * vy), 0.0, end); }
  // Number of crossings of a circle about the place; -1 where rounding decides: grazing, or at the ends.
  int crossings(double radius) const {
    const double speed = vx * vx + vy * vy, along = x(0) * vx + y(0) * vy;
    const double root = along * along - speed * (distance_squared(0) - radius * radius);
    if (std::abs(root) < 1e-6 * speed) return -1;
    if (root < 0) return 0;
    int count = 0;
    for (const double sign : {-1.0, 1.0}) {
      const double t = (-along + sign * std::sqrt(root)) / speed;
      if (std::abs(t) < 1e-6 || std::abs(t - end) < 1e-6) return -1;
      count += t > 0 && t < end;
    }
    return count;
  }
};

// The expected value of a measure of the study; NaN: not tested.
using Truth = std::function<double(const Flight&)>;

struct Sought {
  std::string declared, measure;
  Truth truth;
  double allowed;
};

Study flights(const Sought& sought, const std::vector<std::string>& overrides = {}) {
  return read_study(R"toml(title = "Flights"
[parameters]
vx = { uniform = [0.5, 3.0] }
vy = { uniform = [-0.5, 0.5] }
cx = { uniform = [2, 20] }
cy = { uniform = [-1, 1] }
[[point]]
name = "p"
mass = 1
position = [0.1, 0.2]
velocity = ["vx", "vy"]
)toml" + sought.declared +
                        R"toml(
[ensemble]
members = 4000
seed = 3
[time]
end = 10
samples = 2
[measure]
vx = "initial(vx)"
vy = "initial(vy)"
cx = "initial(cx)"
cy = "initial(cy)"
sought = ")toml" + sought.measure +
                        "\"\n",
                    "flights.toml", overrides);
}

std::string wrong(const Study& study, Backend& backend, std::size_t members, const Sought& sought) {
  const BatchResults results = run_members(study, backend, members);
  std::size_t judged = 0, off = 0;
  for (std::size_t k = 0; k < members; ++k) {
    const double* m = &results.measures[5 * k];
    const double truth = sought.truth({m[0], m[1], m[2], m[3]});
    if (std::isnan(truth)) continue;
    ++judged;
    off += !(std::abs(m[4] - truth) <= sought.allowed);
  }
  if (judged < members / 4) return "too few are judged";
  return off == 0 ? "" : std::to_string(off) + " of " + std::to_string(judged) + " are wrong";
}

void expect_found(const Sought& sought, const std::vector<LaneChoice>& choices = {LaneChoice::best}) {
  const Study study = flights(sought);
  BackendReference reference(study, 2);
  EXPECT_EQ(wrong(study, reference, 400, sought), "") << "reference, " << sought.measure << sought.declared;
  for (const LaneChoice lanes : choices) {
    BackendCpu cpu(study, *HostCompiler::find(), 2, lanes);
    EXPECT_EQ(wrong(study, cpu, 4000, sought), "") << cpu.device() << sought.measure << sought.declared;
  }
}

const std::vector<LaneChoice> either = {LaneChoice::single, LaneChoice::best};

std::string watch(const std::string& function) {
  return "[[event]]\nname = \"close\"\nwhen = \"" + function + "\"\n";
}

Truth crossings_of(double radius) {
  return [=](const Flight& f) {
    const int count = f.crossings(radius);
    return count < 0 ? NAN : count;
  };
}

TEST(Flights, PassTheirPlaceAtTheLeastDistance) {
  expect_found({"", "minimum(sqrt((p.x - cx)^2 + (p.y - cy)^2))",
                [](const Flight& f) { return std::sqrt(f.distance_squared(f.closest())); }, 1e-6},
               either);
}

TEST(Flights, SeeTheTopOfABump) {
  expect_found({"", "maximum(1/(0.1 + (p.x - cx)^2 + (p.y - cy)^2))",
                [](const Flight& f) { return 1 / (0.1 + f.distance_squared(f.closest())); }, 1e-6});
}

// Two waves: the highest of many maxima. Expected value from 20001 samples, each maximum within 2e-6 of one.
TEST(Flights, SeeTheHighestOfManyWaves) {
  expect_found({"", "maximum(cos(2*(p.x - cx)) + 0.5*cos(2.7*(p.y - cy)))",
                [](const Flight& f) {
                  double top = -2;
                  for (int i = 0; i <= 20000; ++i) {
                    const double t = end * i / 20000;
                    top = std::max(top, std::cos(2 * f.x(t)) + 0.5 * std::cos(2.7 * f.y(t)));
                  }
                  return top;
                },
                2e-6});
}

TEST(Flights, CrossCirclesHoweverTheyAreWritten) {
  for (const char* function :
       {"1/(0.02 + (p.x - cx)^2 + (p.y - cy)^2) - 10", "((p.x - cx)^2 + (p.y - cy)^2)^(-1.5) - 0.08^(-1.5)",
        "log((p.x - cx)^2 + (p.y - cy)^2) - log(0.08)", "sqrt(0.08) - hypot(p.x - cx, p.y - cy)",
        "exp(-50*((p.x - cx)^2 + (p.y - cy)^2)) - exp(-4)"})
    expect_found({watch(function), "count(event(close))", crossings_of(std::sqrt(0.08)), 0});
}

// The direction to the place turns by half a circle in passing; three times that angle is counted on the
// circle.
TEST(Flights, TurnAboutTheirPlaceAtOnce) {
  expect_found({watch("sin(3*atan2(p.y - cy, p.x - cx)) - 0.3"), "count(event(close))",
                [](const Flight& f) {
                  // The direction turns monotonically from its value at the start to the one at the end.
                  const double from = std::atan2(f.y(0), f.x(0));
                  double by = std::atan2(f.y(end), f.x(end)) - from;
                  const double sense = f.x(0) * f.vy - f.y(0) * f.vx;
                  if (sense > 0 && by < 0) by += 2 * M_PI;
                  if (sense < 0 && by > 0) by -= 2 * M_PI;
                  int count = 0;
                  constexpr int parts = 20000;
                  for (int i = 0; i < parts; ++i) {
                    const double a = std::sin(3 * (from + by * i / parts)) - 0.3,
                                 b = std::sin(3 * (from + by * (i + 1) / parts)) - 0.3;
                    if (std::abs(a) < 1e-6) return double(NAN);
                    count += (a < 0) != (b < 0);
                  }
                  return double(count);
                },
                0});
}

// A zone with a speed limit: reached where the limit has decreased to the speed.
TEST(Flights, AreSlowedDownInAZone) {
  expect_found({"[[constraint]]\nname = \"limit\"\nrequire = \"p.x' <= 3.2 - 1.5/(1 + 25*(p.x - cx)^2)\"\n",
                "first(contact(limit))",
                [](const Flight& f) {
                  if (f.vx < 1.701) return double(NAN);
                  const double t = (f.cx - std::sqrt((1.5 / (3.2 - f.vx) - 1) / 25) - 0.1) / f.vx;
                  return t < end - 1e-3 ? t : double(NAN);
                },
                1e-6},
               either);
}

// Up, down and up again within a quarter of a length unit, on a curve that goes from -8000 to 1000 within a
// step.
TEST(Flights, CrossACubicThreeTimes) {
  expect_found({watch("(p.x - cx + 0.4)*(p.x - cx)*(p.x - cx - 0.5)"), "count(event(close))",
                [](const Flight& f) {
                  int count = 0;
                  for (const double root : {-0.4, 0.0, 0.5}) {
                    const double t = (f.cx + root - 0.1) / f.vx;
                    if (std::abs(t - end) < 1e-3) return double(NAN);
                    count += t < end;
                  }
                  return double(count);
                },
                0},
               either);
}

// A denominator that passes through zero: steps become short there, but not too short for time in floats.
TEST(Flights, PassAPoleInFloatsToo) {
  const Sought sought = {watch("1/(p.x - cx) - 2"), "count(event(close))",
                         [](const Flight& f) {
                           const double pole = (f.cx - 0.1) / f.vx, root = (f.cx + 0.4) / f.vx;
                           if (std::abs(pole - end) < 1e-2 || std::abs(root - end) < 1e-2) return double(NAN);
                           return double(pole < end) + double(root < end);
                         },
                         0};
  const Study study =
      flights(sought, {"integrator.precision=\"single\"", "integrator.rtol=1e-5", "integrator.atol=1e-5"});
  BackendCpu cpu(study, *HostCompiler::find(), 2, LaneChoice::best);
  EXPECT_EQ(wrong(study, cpu, 4000, sought), "");
}

// The error estimate of dop853 vanishes where its fifth-order part changes sign, and a step may then be far too
// long: of 20000 members 13 were off by more than 30 tolerances, the worst by 3000.
TEST(Flights, IntegrateABumpToTheTolerance) {
  const auto primitive = [](const Flight& f, double t) {
    const double speed = f.vx * f.vx + f.vy * f.vy, along = f.x(0) * f.vx + f.y(0) * f.vy;
    const double width = std::sqrt(speed * (0.02 + f.distance_squared(0)) - along * along);
    return std::atan((speed * t + along) / width) / width;
  };
  const Sought sought{"", "integral(1/(0.02 + (p.x - cx)^2 + (p.y - cy)^2))",
                      [=](const Flight& f) { return primitive(f, end) - primitive(f, 0); },
                      3e-8};  // at most 3 tolerances of values up to 30 were seen: 8e-9
  const Study study = flights(sought, {"integrator.method=dop853", "ensemble.members=20000"});
  BackendCpu cpu(study, *HostCompiler::find(), 2, LaneChoice::best);
  EXPECT_EQ(wrong(study, cpu, 20000, sought), "");
}

}  // namespace
}  // namespace zwang::flights_test
