// Bounded multipliers and Coulomb friction with answers in closed form, on every backend.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/run/run.h"
#include "host/study_file/load_study.h"
#include "tests/support/ensemble_study.h"
#include "tests/support/friction_cases.h"
#include "tests/support/study_runs.h"

namespace zwang::friction_test {
namespace {

struct FrictionOnBackend {
  std::string backend;
  FrictionCase known;
};
void PrintTo(const FrictionOnBackend& one, std::ostream* out) {
  *out << one.backend << " " << one.known.name;
}

std::vector<FrictionOnBackend> friction_on(const std::string& backend) {
  std::vector<FrictionOnBackend> list;
  for (const FrictionCase& known : friction_cases()) list.push_back({backend, known});
  return list;
}

class FrictionAnswer : public testing::TestWithParam<FrictionOnBackend> {
  void SetUp() override {
    if (GetParam().backend != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(FrictionAnswer, IsFoundToItsDigits) {
  const FrictionCase& known = GetParam().known;
  const Study study = written(known.study);
  const auto backend = make_backend(GetParam().backend, study, {.threads = 1});
  const BatchResults results = backend->run(prepare_batch(study, std::vector<unsigned long long>{0}, 1), {});
  EXPECT_EQ(status_name(results.status[0]), known.status);
  const std::vector<std::string> names = names_of(study.system->measures);
  for (const auto& [name, expected] : known.answers) {
    const double found = results.measures[number_of(names, name)];
    EXPECT_NEAR(found, expected, known.digits * std::max(1.0, std::abs(expected))) << name;
  }
}

std::string name_of_friction_case(const testing::TestParamInfo<FrictionOnBackend>& one) {
  return one.param.known.name;
}
INSTANTIATE_TEST_SUITE_P(Reference, FrictionAnswer, testing::ValuesIn(friction_on("reference")),
                         name_of_friction_case);
INSTANTIATE_TEST_SUITE_P(Cpu, FrictionAnswer, testing::ValuesIn(friction_on("cpu")), name_of_friction_case);
INSTANTIATE_TEST_SUITE_P(Gpu, FrictionAnswer, testing::ValuesIn(friction_on("cuda")), name_of_friction_case);

// Ensembles with known statistics: measures, their means and standard deviations (0: not compared).
struct FrictionEnsemble {
  std::string name, study;
  struct Answer {
    std::string measure;
    double mean, std;
  };
  std::vector<Answer> answers;
};

std::vector<FrictionEnsemble> friction_ensembles() {
  return {{"E_stick_probability",
           R"toml(
[parameters]
mu = { uniform = [0.3, 0.8] }
[[point]]
name = "p"
mass = 1
position = [0, 0]
velocity = [0, 0]
[system]
gravity = ["9.81/sqrt(5)", "-2*9.81/sqrt(5)"]
[[constraint]]
name = "slope"
require = "p.y >= 0"
friction = "mu"
[time]
end = 1
[measure]
stays = "probability(final(sticking(slope)) > 0.5)"
x = "final(p.x)"
)toml",
           {{"stays", 0.6, 0}, {"x", 0.175486614874183495, 0.268060232037503094}}},
          {"E_stop_distance",
           R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 0]
velocity = [{ normal = { mean = 5, std = 0.5 } }, 0]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "floor"
require = "p.y >= 0"
friction = 0.3
[time]
end = 3
[measure]
distance = "final(p.x)"
time = "first(sticks(floor))"
far = "probability(final(p.x) > 5)"
)toml",
           {{"distance", 4.28984029901461094, 0.851594361865588742},
            {"time", 1.69894665307509344, 0.169894665307509344},
            {"far", 0.197694570769349058, 0}}},
          {"E_bounce_stick",
           R"toml(
[[coordinate]]
name = "x"
position = 0
velocity = { uniform = [0, 6] }
[[coordinate]]
name = "y"
position = 0.5
velocity = -4
[[coordinate]]
name = "phi"
position = 0
velocity = 0
[system]
kinetic = "x'^2 + y'^2 + 0.1*phi'^2"
[[constraint]]
name = "floor"
require = "y >= 0.5"
restitution = 0.8
friction = 0.2
slip = "x' + 0.5*phi'"
[time]
end = 0.1
[measure]
sticks = "probability(final(abs(x' + 0.5*phi')) < 1e-9)"
x = "final(x')"
)toml",
           {{"sticks", 0.84, 0}, {"x", 2.1648, 0}}}};
}

class FrictionEnsembles : public testing::TestWithParam<std::string> {
  void SetUp() override {
    if (GetParam() != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(FrictionEnsembles, HaveTheirKnownStatistics) {
  for (const FrictionEnsemble& known : friction_ensembles()) {
    SCOPED_TRACE(known.name);
    const std::string members = GetParam() == "reference" ? "1000" : "20000";
    const Study study = read_study(known.study, "written.toml", {"ensemble.members=" + members});
    const auto backend = make_backend(GetParam(), study, {.threads = 2});
    const RunResult result = run_ensemble(study, *backend, {.threads = 2});
    EXPECT_EQ(result.tally.failed, 0);
    for (const FrictionEnsemble::Answer& answer : known.answers) {
      const SeriesStatistics& series =
          result.statistics.measures[number_of(names_of(study.system->measures), answer.measure)];
      expect_mean(series, answer.mean, answer.measure);
      if (answer.std > 0) expect_variance(series, answer.std * answer.std, answer.measure);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, FrictionEnsembles, testing::Values("reference"));
INSTANTIATE_TEST_SUITE_P(Cpu, FrictionEnsembles, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, FrictionEnsembles, testing::Values("cuda"));

}  // namespace
}  // namespace zwang::friction_test
