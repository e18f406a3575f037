// Ensembles in which Coulomb's law admits no motion, or several: the backends agree on the members, and `explain` lists
// what is admissible.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "host/backend/backend.h"
#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"
#include "src/analysis/explain.h"
#include "src/base/settings.h"
#include "src/laws/friction_modes.h"
#include "src/system/equations.h"
#include "tests/support/study_runs.h"

namespace zwang::undecided_motion_test {
namespace {

std::string rod_study(const std::string& parameters, const std::string& forces, const std::string& slip) {
  return "[parameters]\n" + parameters + R"toml(
[[coordinate]]
name = "x"
position = 0
velocity = 0
[[coordinate]]
name = "y"
position = "sin(phi0)"
velocity = 0
[[coordinate]]
name = "phi"
position = "phi0"
velocity = 0
[system]
kinetic = "0.5*(x'^2 + y'^2) + phi'^2/6"
)toml" + forces +
         R"toml(
[[constraint]]
name = "floor"
require = "y - sin(phi) >= 0"
friction = "mu"
slip = ")toml" +
         slip + "\"\n[time]\nend = 1e-3\nsamples = 2\n";
}

// A rod at rest on one end, pushed at random.
std::string pushed_rod() {
  return rod_study(
      "mu = { uniform = [1.4, 4] }\nphi0 = { uniform = [0.3, 1.4] }\nfx = { normal = { mean = 0, std = 10 } "
      "}\n"
      "fy = { normal = { mean = 0, std = 10 } }\nm = { normal = { mean = 0, std = 10 } }\n",
      "[system.force]\nx = \"fx\"\ny = \"fy\"\nphi = \"m\"\n", "x' + sin(phi)*phi'");
}

// Chalk on a board that is drawn along under it.
std::string chalk() {
  return rod_study("mu = { uniform = [1.2, 2] }\nphi0 = { uniform = [0.9, 1.3] }\n",
                   "potential = \"9.81*y\"\n", "x' + sin(phi)*phi' - 2");
}

// A box on two corners, pushed at random.
std::string pushed_box() {
  return R"toml(
[parameters]
mu = { uniform = [0.5, 3] }
fx = { normal = { mean = 0, std = 10 } }
fy = { normal = { mean = -5, std = 10 } }
m = { normal = { mean = 0, std = 5 } }
[[coordinate]]
name = "x"
position = 0
velocity = 0
[[coordinate]]
name = "y"
position = 0.5
velocity = 0
[[coordinate]]
name = "phi"
position = 0
velocity = 0
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.06*phi'^2"
[system.force]
x = "fx"
y = "fy"
phi = "m"
[[constraint]]
name = "left"
require = "y - 0.3*sin(phi) - 0.5*cos(phi) >= 0"
friction = "mu"
slip = "x' + (0.3*sin(phi) + 0.5*cos(phi))*phi'"
[[constraint]]
name = "right"
require = "y + 0.3*sin(phi) - 0.5*cos(phi) >= 0"
friction = "mu"
slip = "x' + (0.5*cos(phi) - 0.3*sin(phi))*phi'"
[time]
end = 1e-3
samples = 2
)toml";
}

// A point that flies into the corner of two planes.
std::string corner() {
  return R"toml(
[parameters]
mu = { uniform = [0, 1.3] }
a = { uniform = [-1.4, 1.4] }
[[point]]
name = "p"
mass = 1
position = [0, 0]
velocity = [{ uniform = [-3, 3] }, { uniform = [-3, 3] }]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "floor"
require = "p.y >= 0"
friction = "mu"
[[constraint]]
name = "side"
require = "p.x*sin(a) + p.y*cos(a) >= 0"
friction = "mu"
[ensemble]
consistency = "project"
[time]
end = 1e-3
samples = 2
)toml";
}

struct UndecidedEnsemble {
  std::string name, study, status;
};

class UndecidedMotion : public testing::TestWithParam<UndecidedEnsemble> {};

TEST_P(UndecidedMotion, EndsTheSameMembersOnTheCpuAsInTheReference) {
  constexpr std::size_t members = 600;
  const Study study =
      read_study(GetParam().study, "undecided.toml", {"ensemble.members=" + std::to_string(members)});
  std::vector<unsigned long long> numbers(members);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 2);
  const BatchResults reference = make_backend("reference", study, {.threads = 2})->run(batch, {});
  const BatchResults cpu = make_backend("cpu", study, {.threads = 2})->run(batch, {});
  std::map<std::string, int> ends;
  for (std::size_t k = 0; k < members; ++k) {
    ++ends[status_name(reference.status[k])];
    EXPECT_EQ(std::string(status_name(cpu.status[k])), status_name(reference.status[k])) << "member " << k;
  }
  EXPECT_GT(ends[GetParam().status], 0);
  EXPECT_GT(ends["ok"], 0);
}

INSTANTIATE_TEST_SUITE_P(Of, UndecidedMotion,
                         testing::Values(UndecidedEnsemble{"PushedRod", pushed_rod(), "painleve"},
                                         UndecidedEnsemble{"Chalk", chalk(), "painleve"},
                                         UndecidedEnsemble{"PushedBox", pushed_box(), "painleve"},
                                         UndecidedEnsemble{"Corner", corner(), "ambiguous"}),
                         [](const auto& one) { return one.param.name; });

// The example of docs/numerics.md: a rod with three accelerations.
TEST(UndecidedRod, HasThreeAdmissibleAccelerations) {
  Study study = read_study(pushed_rod(), "rod.toml");
  int three = 0;
  for (unsigned long long member = 0; member < 200; ++member) {
    const StudyRun run(study, member);
    if (run.trajectory.status != Status::painleve) continue;
    const Equations equations(run.system(), run.member.inputs.parameters);
    const State& state = run.trajectory.last.state;
    const FrictionConstraint found = friction_constraint(
        equations, state, sizes_of(state),
        {.rows = {0}, .leaves = {}, .rests = {}, .tolerance = 1e-11, .rest_speed = 1e-12, .margin = 1e-9});
    EXPECT_EQ(found.status, Status::painleve);
    three += found.solution.admissible.size() == 3;
    EXPECT_NE(run.trajectory.cause.find("admissible mode"), std::string::npos) << run.trajectory.cause;
  }
  EXPECT_GT(three, 0);
}

}  // namespace
}  // namespace zwang::undecided_motion_test
