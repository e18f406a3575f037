// A light bead between a rod and a heavy load on a taut line. In the mass metric the two rows differ by an
// angle of sqrt(m/M), so that the tension computed from A M^-1 A^T is known to a share of epsilon M/m only.
//
// Closed form for small angles: under the load's weight T = M g the bead oscillates about the line, x = X/2 -
// V/(2 w) sin(w t) with w^2 = 2 T/(m L), while the load swings as a pendulum of length 2 L: X = V sin(W t)/W
// with W^2 = g/(2 L).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/program/kernel_program.h"
#include "host/run/backend_factory.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/batch_runs.h"

namespace zwang::light_masses_test {
namespace {

constexpr double sideways = 0.1, weight = 9.81;

struct BeadOnALine {
  double light, heavy;
  const char* precision;
  double tolerance;
};

double frequency(const BeadOnALine& made) { return std::sqrt(2 * weight * made.heavy / made.light); }

// Forty oscillations of the bead.
Study study_of_bead(const BeadOnALine& made) {
  return read_study(fmt::format(R"toml(
[parameters]
m = {}
M = {}
[system]
gravity = [0, -{}]
[[anchor]]
name = "nail"
position = [0, 0]
[[point]]
name = "bead"
mass = "m"
position = [0, -1]
[[point]]
name = "load"
mass = "M"
position = [0, -2]
velocity = [{}, 0]
[[constraint]]
name = "rod"
require = "distance(bead, nail) == 1"
[[constraint]]
name = "line"
require = "distance(bead, load) <= 1"
[time]
end = {}
[integrator]
precision = "{}"
rtol = {}
atol = {}
[measure]
load = "final(load.x)"
bead = "final(bead.x)"
releases = "count(release(line))"
)toml",
                                made.light, made.heavy, weight, sideways, 40 * 6.283 / frequency(made),
                                made.precision, made.tolerance, made.tolerance),
                    "bead.toml");
}

// Angles are as small as the load's displacement, and their squares are what the closed form leaves out.
void expect_closed_form(const BeadOnALine& made, Backend& backend, const Study& study) {
  const BatchResults results = run_members(study, backend, 1);
  ASSERT_EQ(results.status[0], Status::ok);
  const double slowly = std::sqrt(weight / 2),
               displaced = sideways / slowly * std::sin(slowly * study.time.end);
  const double amplitude = sideways / (2 * frequency(made));
  EXPECT_NEAR(results.measures[0], displaced, 1e-3 * displaced);
  EXPECT_NEAR(results.measures[1], displaced / 2, 1.1 * amplitude + 1e-3 * displaced);
  EXPECT_EQ(results.measures[2], 0);
}

class LightMasses : public testing::TestWithParam<BeadOnALine> {};

TEST_P(LightMasses, SwingAboutTheLine) {
  const Study study = study_of_bead(GetParam());
  BackendReference reference(study, 1);
  expect_closed_form(GetParam(), reference, study);
  BackendCpu cpu(study, *HostCompiler::find(), 1, LaneChoice::best);
  expect_closed_form(GetParam(), cpu, study);
}

TEST_P(LightMasses, SwingOnAGpu) {
  if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  const Study study = study_of_bead(GetParam());
  const std::unique_ptr<Backend> backend = make_backend("cuda", study, {});
  expect_closed_form(GetParam(), *backend, study);
}

INSTANTIATE_TEST_SUITE_P(OnATautLine, LightMasses,
                         testing::Values(BeadOnALine{1e-6, 1e6, "double", 1e-9},
                                         BeadOnALine{1e-6, 1e3, "double", 1e-12},
                                         BeadOnALine{1e-3, 1e1, "single", 1e-5},
                                         BeadOnALine{1e-3, 1e3, "single", 1e-5}));

}  // namespace
}  // namespace zwang::light_masses_test
