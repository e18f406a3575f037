// Every study in configs/ runs to its end in the reference and satisfies the laws that hold for every system.
#include <filesystem>

#include "host/study_file/load_study.h"
#include "tests/support/study_runs.h"

namespace zwang::configs_test {
namespace {

std::vector<std::string> config_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ZWANG_SOURCE_DIR) + "/configs"))
    // No motion starts at the apex of a cone; tests/cases/staeckel_test.cpp has these studies.
    if (entry.path().extension() == ".toml" && !entry.path().stem().string().starts_with("cone_apex"))
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class EveryConfig : public testing::TestWithParam<std::string> {};

TEST_P(EveryConfig, RunsToItsEndAndKeepsTheLaws) {
  // With the tolerances of the file.
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/" + GetParam() + ".toml");
  const auto members = static_cast<unsigned long long>(std::min(study.ensemble.members, 3LL));
  for (unsigned long long number = 0; number < members; ++number) {
    SCOPED_TRACE(number);
    const StudyRun run(study, number);
    expect_sound(run, {.energy = 100 * study.integrator.rtol,
                       .carnot = 1e-10,
                       .kkt = 1e-10,
                       .may_stop = study.system->stop.has_value()});
    if (run.trajectory.status != Status::stopped) {
      EXPECT_EQ(run.end(), study.time.end);
      EXPECT_EQ(run.trajectory.samples.size(), study.time.outputs.size());
    }
    // Rounding of f and f', whose largest terms in these studies are some tens.
    const double rounding = 1e-13;
    EXPECT_LE(run.trajectory.audit.position_violation, rounding);
    EXPECT_LE(run.trajectory.audit.velocity_violation, rounding);
    EXPECT_TRUE(run.trajectory.start_consistent);
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, EveryConfig, testing::ValuesIn(config_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace zwang::configs_test
