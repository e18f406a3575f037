// Starts off their constraints end a run on every backend, at the same member for any batches.
#include <gtest/gtest.h>

#include <string>

#include "host/backend/backend.h"
#include "host/backend/cuda/library.h"
#include "host/run/backend_factory.h"
#include "host/run/run.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "src/base/error.h"

namespace zwang::start_test {
namespace {

// Heights from 1 down to -0.1: members 0 to 999 start above the floor, 1000 to 1099 below it.
const std::string falling_points = R"toml(
[[point]]
name = "ball"
mass = 1
position = [{ grid = [1, -0.1, 1100] }]
[system]
gravity = [-9.81]
[[constraint]]
name = "floor"
require = "ball.x >= 0"
restitution = 0.5
[time]
end = 0.1
samples = 2
[measure]
low = "final(ball.x)"
)toml";

class StartsOnEveryBackend : public testing::TestWithParam<std::string> {
  void SetUp() override {
    if (GetParam() != "cuda") return;
    if (const std::string why = cuda::why_no_device(); !why.empty()) GTEST_SKIP() << why;
  }
};

std::string error_of_run(const Study& study, const std::string& backend, long long batch) {
  const std::unique_ptr<Backend> made = make_backend(backend, study, {.threads = 2});
  RunOptions options;
  options.threads = 2;
  options.batch = batch;
  try {
    run_ensemble(study, *made, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_P(StartsOnEveryBackend, TheFirstMemberOffItsConstraintsIsNamed) {
  const Study study = read_study(falling_points, "floor.toml");
  for (const long long batch : {64LL, 300LL, 5000LL}) {
    const std::string error = error_of_run(study, GetParam(), batch);
    EXPECT_NE(error.find("the start of member 1000 violates the constraint 'floor'"), std::string::npos)
        << error;
  }
}

TEST_P(StartsOnEveryBackend, ProjectedStartsAreCounted) {
  const Study study = read_study(falling_points, "floor.toml", {"ensemble.consistency=project"});
  const std::unique_ptr<Backend> backend = make_backend(GetParam(), study, {.threads = 2});
  const RunTally tally = run_ensemble(study, *backend, {.threads = 2}).tally;
  EXPECT_EQ(tally.moved, 100);
  EXPECT_EQ(tally.drawn_changed, 100);
  EXPECT_EQ(tally.largest_drawn_change, 1) << "from -0.1 to 0";
  EXPECT_EQ(tally.largest_drawn_change_of, 0);
}

INSTANTIATE_TEST_SUITE_P(Host, StartsOnEveryBackend, testing::Values("reference", "cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, StartsOnEveryBackend, testing::Values("cuda"));

}  // namespace
}  // namespace zwang::start_test
