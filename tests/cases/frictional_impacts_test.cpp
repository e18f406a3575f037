// A million random impacts with friction: no energy is created, and every velocity after one obeys the law.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "host/backend/backend.h"
#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"
#include "tests/support/impact_studies.h"

namespace zwang::frictional_impacts_test {
namespace {

// Sums over a shock are exact to rounding, times what a nearly dependent set of rows loses (a ladder that stands upright:
// 1e-11), as in tests/soak/laws.cpp.
constexpr double impact_rounding = 1e-9;
// The judge (friction_residual, ContactRows::violation) has its own allowance for rounding.
constexpr double impact_judge = 1e-9;
// So many refused members are looked at by the reference.
constexpr std::size_t refused_again = 12;

struct ImpactEnsemble {
  std::string backend;
  std::size_t members;
  ImpactStudy study;
};
void PrintTo(const ImpactEnsemble& one, std::ostream* out) { *out << one.backend << " " << one.study.name; }

std::vector<ImpactEnsemble> impacts_on(const std::string& backend, std::size_t members) {
  std::vector<ImpactEnsemble> all;
  for (const std::vector<ImpactStudy>& some : {planar_impacts(), spatial_impacts()})
    for (const ImpactStudy& study : some) all.push_back({backend, members, study});
  return all;
}

Batch batch_of(const Study& study, std::size_t from, std::size_t count) {
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), from);
  return prepare_batch(study, numbers, 2);
}

class RandomImpacts : public testing::TestWithParam<ImpactEnsemble> {
  void SetUp() override {
    if (GetParam().backend != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

// One contact has one solution [friction-13]. With several, a member may be refused only where the reference, which looks
// for the solutions by another method, finds different velocities too.
void expect_several_solutions(const Study& study, const ImpactStudy& impact,
                              std::vector<unsigned long long> refused) {
  if (impact.contacts == 1) {
    EXPECT_TRUE(refused.empty()) << refused.size() << " members with one contact";
  }
  refused.resize(std::min(refused.size(), refused_again));
  if (refused.empty()) return;
  const BatchResults again =
      make_backend("reference", study, {.threads = 2})->run(prepare_batch(study, refused, 2), {});
  for (std::size_t k = 0; k < refused.size(); ++k)
    EXPECT_EQ(again.status[k], Status::ambiguous)
        << "member " << refused[k] << ": reference " << status_name(again.status[k]);
}

TEST_P(RandomImpacts, CreateNoEnergy) {
  const ImpactEnsemble& asked = GetParam();
  const Study study = read_study(asked.study.text, asked.study.name + ".toml",
                                 {"ensemble.members=" + std::to_string(asked.members)});
  const auto backend = make_backend(asked.backend, study, {.threads = 2});
  std::map<std::string, long long> ends;
  std::vector<unsigned long long> refused;
  double created = 0, judged = 0;
  constexpr std::size_t at_once = 10'000;
  for (std::size_t from = 0; from < asked.members; from += at_once) {
    const std::size_t count = std::min(at_once, asked.members - from);
    const BatchResults results = backend->run(batch_of(study, from, count), {});
    for (std::size_t k = 0; k < count; ++k) {
      ++ends[status_name(results.status[k])];
      if (results.status[k] == Status::ambiguous) refused.push_back(from + k);
      if (results.status[k] != Status::ok) continue;
      const Audit& audit = results.audits[k];
      created = std::max(created, audit.energy_created / audit.energy_size);
      judged = std::max(judged, audit.kkt);
    }
  }
  EXPECT_LE(created, impact_rounding);
  EXPECT_LE(judged, impact_judge);
  for (const auto& [status, count] : ends) {
    RecordProperty(status, static_cast<int>(count));
    // Impulses without rebound always exist, so none is infeasible; kappa is positive at all but a set of measure zero of
    // the positions drawn.
    EXPECT_TRUE(status == "ok" || status == "ambiguous") << count << " members ended as " << status;
  }
  expect_several_solutions(study, asked.study, refused);
  RecordProperty("created", std::to_string(created));
}

// Same velocities and the same verdict as in the reference.
TEST_P(RandomImpacts, EndAsInTheReference) {
  const ImpactEnsemble& asked = GetParam();
  if (asked.backend == "reference") GTEST_SKIP() << "the reference itself";
  const Study study = read_study(asked.study.text, asked.study.name + ".toml", {"ensemble.members=300"});
  const auto backend = make_backend(asked.backend, study, {.threads = 2});
  const auto reference = make_backend("reference", study, {.threads = 2});
  const Batch batch = batch_of(study, 0, 300);
  const BatchResults found = backend->run(batch, {}), expected = reference->run(batch, {});
  const std::size_t width = expected.end_state.size() / 300;
  int differ = 0, elsewhere = 0;
  for (std::size_t k = 0; k < 300; ++k) {
    if (found.status[k] != expected.status[k]) {
      ++differ;
      ADD_FAILURE() << "member " << k << ": " << status_name(found.status[k]) << ", reference "
                    << status_name(expected.status[k]);
      continue;
    }
    if (expected.status[k] != Status::ok) continue;
    double apart = 0;
    for (std::size_t i = 0; i < width; ++i)
      apart = std::max(apart, std::abs(found.end_state[k * width + i] - expected.end_state[k * width + i]));
    elsewhere += apart > 1e-9;
  }
  EXPECT_EQ(differ, 0);
  EXPECT_EQ(elsewhere, 0);
}

std::string name_of_impacts(const testing::TestParamInfo<ImpactEnsemble>& one) {
  return one.param.study.name;
}
INSTANTIATE_TEST_SUITE_P(Reference, RandomImpacts, testing::ValuesIn(impacts_on("reference", 300)),
                         name_of_impacts);
INSTANTIATE_TEST_SUITE_P(Cpu, RandomImpacts, testing::ValuesIn(impacts_on("cpu", 5000)), name_of_impacts);
INSTANTIATE_TEST_SUITE_P(Million, RandomImpacts, testing::ValuesIn(impacts_on("cpu", 72'000)),
                         name_of_impacts);
INSTANTIATE_TEST_SUITE_P(Gpu, RandomImpacts, testing::ValuesIn(impacts_on("cuda", 72'000)), name_of_impacts);

}  // namespace
}  // namespace zwang::frictional_impacts_test
