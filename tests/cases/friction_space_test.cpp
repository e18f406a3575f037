// Friction in space on curved surfaces: where the slip comes to rest, which way it turns, and what it dissipates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/check/check.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"
#include "tests/support/study_runs.h"

namespace zwang::friction_space_test {
namespace {

// A puck slides from the bottom of a bowl up its side and comes to rest there, at the turning point or on the way
// back. It stays in the vertical plane of its first velocity.
constexpr const char* bowl = R"toml(
[parameters]
v = { uniform = [0.5, 3] }
[[point]]
name = "p"
mass = 1
position = [0, 0, -1]
velocity = ["v", "0.3*v", 0]
[system]
gravity = [0, 0, -9.81]
[[constraint]]
name = "bowl"
require = "norm(p) <= 1"
friction = 0.25
[time]
end = 4
samples = 41
[observe]
energy = "kinetic() + potential()"
heat = "dissipated(bowl)"
[measure]
x = "final(p.x)"
y = "final(p.y)"
across = "maximum(abs(p.y - 0.3*p.x))"
rests = "final(sticking(bowl))"
stops = "count(sticks(bowl))"
turns = "count(reverses(bowl))"
)toml";

struct BowlRun {
  std::string backend;
  std::size_t members;
};
void PrintTo(const BowlRun& one, std::ostream* out) { *out << one.backend << " " << one.members; }

class PuckInABowl : public testing::TestWithParam<BowlRun> {
  void SetUp() override {
    if (GetParam().backend != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(PuckInABowl, ComesToRestInsideTheConeAndInItsPlane) {
  const Study study =
      read_study(bowl, "bowl.toml", {"ensemble.members=" + std::to_string(GetParam().members)});
  std::vector<unsigned long long> numbers(GetParam().members);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const auto backend = make_backend(GetParam().backend, study, {.threads = 2});
  const BatchResults results = backend->run(prepare_batch(study, numbers, 2), {.observables = true});
  const std::vector<std::string> names = names_of(study.system->measures);
  const std::size_t width = study.system->member_values(), outputs = study.time.outputs.size();
  int turned = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    SCOPED_TRACE("member " + std::to_string(k));
    ASSERT_EQ(status_name(results.status[k]), std::string("ok"));
    const auto measure = [&](const char* name) {
      return results.measures[k * width + number_of(names, name)];
    };
    EXPECT_EQ(measure("rests"), 1);
    EXPECT_EQ(measure("stops"), 1);
    EXPECT_LE(measure("turns"), 2);
    turned += measure("turns") > 0;
    const double tolerance = 30 * study.integrator.rtol;
    EXPECT_LE(std::hypot(measure("x"), measure("y")), std::sin(std::atan(0.25)) + tolerance);
    EXPECT_LE(measure("across"), tolerance);
    EXPECT_LE(results.audits[k].energy_share, 0.01);
    // At rest all the energy is heat: m g (1 + z) is left of m v^2/2 (1 + 0.3^2).
    const double* first = results.observables.data() + k * outputs * 2;
    const double* last = first + 2 * (outputs - 1);
    EXPECT_NEAR(first[0] - last[0], last[1], 1e3 * study.integrator.rtol * std::abs(first[0]));
  }
  EXPECT_GT(turned, 0);
}

// Comparisons of the motion right after the slip has vanished and begun again.
TEST(PuckInABowlCheck, AgreesWithTheReferenceAfterItsReversal) {
  const Study study = read_study(bowl, "bowl.toml", {"ensemble.members=40"});
  const auto backend = make_backend("cpu", study, {.threads = 2});
  const CheckReport report = check(study, *backend, {.sample = 12, .threads = 2});
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << report.verdict_text();
}

std::string name_of_bowl(const testing::TestParamInfo<BowlRun>& one) {
  return "of_" + std::to_string(one.param.members);
}
INSTANTIATE_TEST_SUITE_P(Reference, PuckInABowl,
                         testing::Values(BowlRun{"reference", 20}, BowlRun{"reference", 200}), name_of_bowl);
INSTANTIATE_TEST_SUITE_P(Cpu, PuckInABowl, testing::Values(BowlRun{"cpu", 60}, BowlRun{"cpu", 200}),
                         name_of_bowl);
INSTANTIATE_TEST_SUITE_P(Gpu, PuckInABowl, testing::Values(BowlRun{"cuda", 200}), name_of_bowl);

}  // namespace
}  // namespace zwang::friction_space_test
