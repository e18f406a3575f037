// Bounded multipliers and Coulomb friction with answers in closed form, on every backend.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "tests/support/friction_cases.h"
#include "tests/support/study_runs.h"

namespace zwang {
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

}  // namespace
}  // namespace zwang
