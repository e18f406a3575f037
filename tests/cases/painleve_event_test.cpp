// A rod that slides on its lower end and falls: kappa of the contact falls to `painleve_margin` between events, and the
// member ends there, at the time of an integration of the rod's equations that shares nothing with the backends.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/backend/backend.h"
#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"

namespace zwang::painleve_event_test {
namespace {

struct SlidingRod {
  double mu, spin, margin;  // the lower end slides backwards with speed 10
};

std::string study_of(const SlidingRod& rod) {
  return "[parameters]\nmu = " + std::to_string(rod.mu) + "\nspin = " + std::to_string(rod.spin) + R"toml(
[[coordinate]]
name = "x"
position = 0
velocity = "-10 - sin(1.55)*spin"
[[coordinate]]
name = "y"
position = "sin(1.55)"
velocity = "cos(1.55)*spin"
[[coordinate]]
name = "phi"
position = 1.55
velocity = "spin"
[system]
kinetic = "0.5*(x'^2 + y'^2) + phi'^2/6"
potential = "9.81*y"
[[constraint]]
name = "floor"
require = "y - sin(phi) >= 0"
friction = "mu"
slip = "x' + sin(phi)*phi'"
[time]
end = 0.2
samples = 2
[integrator]
rtol = 1e-11
atol = 1e-13
painleve_margin = )toml" +
         std::to_string(rod.margin) + "\n";
}

// N = (g - sin phi phi'^2)/kappa with kappa = 1 + 3 cos phi (cos phi - mu sin phi), and
// phi'' = -3 N (cos phi - mu sin phi); kappa without friction is 1 + 3 cos^2 phi.
double share_of(const SlidingRod& rod, double phi) {
  const double c = std::cos(phi), s = std::sin(phi);
  return (1 + 3 * c * (c - rod.mu * s)) / (1 + 3 * c * c);
}
std::array<double, 2> rates(const SlidingRod& rod, const std::array<double, 2>& y) {
  const double c = std::cos(y[0]), s = std::sin(y[0]);
  const double normal = (9.81 - s * y[1] * y[1]) / (1 + 3 * c * (c - rod.mu * s));
  return {y[1], -3 * normal * (c - rod.mu * s)};
}
std::array<double, 2> stepped(const SlidingRod& rod, const std::array<double, 2>& y, double h) {
  const auto moved = [&](const std::array<double, 2>& k, double by) {
    return std::array<double, 2>{y[0] + by * k[0], y[1] + by * k[1]};
  };
  const auto k1 = rates(rod, y), k2 = rates(rod, moved(k1, h / 2)), k3 = rates(rod, moved(k2, h / 2)),
             k4 = rates(rod, moved(k3, h));
  return {y[0] + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0]),
          y[1] + h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])};
}
double time_of_loss(const SlidingRod& rod) {
  std::array<double, 2> y = {1.55, rod.spin};
  constexpr double h = 1e-5;
  for (double t = 0;; t += h) {
    const std::array<double, 2> next = stepped(rod, y, h);
    if (share_of(rod, next[0]) > rod.margin) {
      y = next;
      continue;
    }
    double low = 0, high = h;
    for (int pass = 0; pass < 60; ++pass) {
      const double middle = (low + high) / 2;
      (share_of(rod, stepped(rod, y, middle)[0]) > rod.margin ? low : high) = middle;
    }
    return t + low;
  }
}

class PainleveEvent : public testing::TestWithParam<std::string> {
  void SetUp() override {
    if (GetParam() != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(PainleveEvent, IsLocatedWhereKappaFallsToTheMargin) {
  for (const SlidingRod& rod :
       {SlidingRod{1.5, -3, 0.5}, SlidingRod{1.2, -3, 0.5}, SlidingRod{1.3, -3.05, 0.6}}) {
    const Study study = read_study(study_of(rod), "sliding_rod.toml");
    const auto backend = make_backend(GetParam(), study, {.threads = 1});
    const std::vector<unsigned long long> first = {0};
    const BatchResults results = backend->run(prepare_batch(study, first, 1), {});
    EXPECT_EQ(results.status[0], Status::painleve);
    EXPECT_NEAR(results.end_time[0], time_of_loss(rod), 1e-8) << "mu = " << rod.mu;
  }
}

// The same rod with a margin that kappa does not reach slides on.
TEST_P(PainleveEvent, DoesNotEndARodAboveItsMargin) {
  const Study study = read_study(study_of({0.5, -3, 0.2}), "sliding_rod.toml");
  const auto backend = make_backend(GetParam(), study, {.threads = 1});
  const std::vector<unsigned long long> first = {0};
  EXPECT_EQ(backend->run(prepare_batch(study, first, 1), {}).status[0], Status::ok);
}

INSTANTIATE_TEST_SUITE_P(Reference, PainleveEvent, testing::Values("reference"));
INSTANTIATE_TEST_SUITE_P(Cpu, PainleveEvent, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, PainleveEvent, testing::Values("cuda"));

}  // namespace
}  // namespace zwang::painleve_event_test
