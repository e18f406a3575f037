// The beginning and the end of slips in space. One that begins at its cone grows as t^2, and its direction
// turns: against an integration of the slip alone by short explicit steps, from its first terms. Slips of one
// body that vanish together.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/study_runs.h"

namespace zwang::slip_onset_test {
namespace {

// A point on a table, pushed by a force that exceeds friction from t = 0.2 on and turns.
constexpr double braking = 0.3 * 9.81, begins = 0.2, growth = 2, turning = 5, ends = 0.5;
constexpr const char* pushed = R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 0, 0]
[system]
gravity = [0, 0, -9.81]
[[force]]
on = "p"
vector = ["0.3*9.81*(1 + 2*(t - 0.2))*cos(5*(t - 0.2))", "0.3*9.81*(1 + 2*(t - 0.2))*sin(5*(t - 0.2))", 0]
[[constraint]]
name = "table"
require = "p.z >= 0"
friction = 0.3
[time]
end = 0.5
samples = 11
[measure]
x = "final(p.x)"
y = "final(p.y)"
vx = "final(p.x')"
vy = "final(p.y')"
slides = "first(slides(table))"
)toml";

using Motion = std::array<double, 4>;  // x, y, s_x, s_y

Motion rate_of(double t, const Motion& m) {
  const double force = braking * (1 + growth * (t - begins)), angle = turning * (t - begins);
  const double size = std::hypot(m[2], m[3]);
  return {m[2], m[3], force * std::cos(angle) - braking * m[2] / size,
          force * std::sin(angle) - braking * m[3] / size};
}

// The motion at the end by the classical Runge-Kutta method, with steps of a quarter of the time in which the
// slip across decays. The first terms: |s| = b c t^2/2, at the angle w t - c w t^2/2.
Motion slip_by_short_steps() {
  const double first = 1e-4, size = 0.5 * braking * growth * first * first;
  const double angle = turning * first - 0.5 * growth * turning * first * first;
  Motion m = {size * first / 3, 0, size * std::cos(angle), size * std::sin(angle)};
  const auto ahead = [](const Motion& from, const Motion& rate, double h) {
    Motion made = from;
    for (std::size_t c = 0; c < 4; ++c) made[c] += h * rate[c];
    return made;
  };
  for (double t = begins + first; t < ends;) {
    const double h = std::min({0.25 * std::hypot(m[2], m[3]) / braking, 1e-4, ends - t});
    const Motion a = rate_of(t, m), b = rate_of(t + h / 2, ahead(m, a, h / 2)),
                 c = rate_of(t + h / 2, ahead(m, b, h / 2)), d = rate_of(t + h, ahead(m, c, h));
    for (std::size_t i = 0; i < 4; ++i) m[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    t = ends - t - h < 1e-14 ? ends : t + h;
  }
  return m;
}

class SlipOnset : public testing::TestWithParam<const char*> {
  void SetUp() override {
    if (std::string(GetParam()) != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(SlipOnset, FollowsTheSlipInFewSteps) {
  const Motion expected = slip_by_short_steps();
  for (const char* rtol : {"1e-9", "1e-11"}) {
    SCOPED_TRACE(rtol);
    const Study study =
        read_study(pushed, "pushed.toml",
                   {std::string("integrator.rtol=") + rtol, std::string("integrator.atol=") + rtol});
    const auto backend = make_backend(GetParam(), study, {.threads = 1});
    const std::vector<unsigned long long> members = {0};
    const BatchResults results = backend->run(prepare_batch(study, members, 1), {});
    ASSERT_EQ(results.status[0], Status::ok);
    const double tolerance = 30 * study.integrator.rtol;
    for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(results.measures[c], expected[c], tolerance) << c;
    EXPECT_NEAR(results.measures[4], begins, tolerance);
    // Explicit steps that are stable would be 2/(growth t) from the time t after the beginning on: 1e5 and
    // more.
    EXPECT_LE(results.steps[0], 400);
  }
}

// A cube that slides and spins on a face: its slips at four corners vanish at one instant.
constexpr const char* spinning = R"toml(
[[body]]
name = "die"
mass = 0.004
inertia = [1.7066666666666667e-7, 1.7066666666666667e-7, 1.7066666666666667e-7]
position = [0, 0, 0.008]
orientation = { axis = [0, 0, 1], angle = 0.9 }
velocity = [0.13, 0.15, 0]
angular_velocity = [0, 0, -3.8]
points = { a = [-0.008, -0.008, -0.008], b = [0.008, -0.008, -0.008], c = [-0.008, 0.008, -0.008], d = [0.008, 0.008, -0.008] }
shape = { corners = ["a", "b", "c", "d"] }
[[surface]]
name = "table"
point = [0, 0, 0]
normal = [0, 0, 1]
[[contact]]
name = "touch"
between = ["die", "table"]
friction = 0.3083
[system]
gravity = [0, 0, -9.81]
[time]
end = 0.2
samples = 3
[measure]
stops = "first(sticks(touch.a))"
x = "final(die.x)"
)toml";

TEST_P(SlipOnset, EndsAtTheSameInstantAtEveryTolerance) {
  const auto run = [&](const std::string& backend, const std::string& rtol) {
    const Study study =
        read_study(spinning, "spinning.toml", {"integrator.rtol=" + rtol, "integrator.atol=" + rtol});
    const std::vector<unsigned long long> members = {0};
    return make_backend(backend, study, {.threads = 1})->run(prepare_batch(study, members, 1), {});
  };
  const BatchResults exact = run("reference", "1e-11");
  for (const char* rtol : {"1e-9"}) {
    SCOPED_TRACE(rtol);
    const BatchResults results = run(GetParam(), rtol);
    ASSERT_EQ(results.status[0], Status::ok);
    for (std::size_t c = 0; c < 2; ++c)
      EXPECT_NEAR(results.measures[c], exact.measures[c], std::stod(rtol)) << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, SlipOnset, testing::Values("reference"));
INSTANTIATE_TEST_SUITE_P(Cpu, SlipOnset, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, SlipOnset, testing::Values("cuda"));

}  // namespace
}  // namespace zwang::slip_onset_test
