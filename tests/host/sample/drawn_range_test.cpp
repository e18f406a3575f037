// Draws outside the range of a mass or an inertia: such a member ends as inconsistent_start, with the name.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/sample/draw_plan.h"
#include "host/sample/member.h"
#include "host/sample/sampler.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"

namespace zwang::drawn_range_test {
namespace {

constexpr unsigned long long members = 40;

// Runs the members on a backend; `sound` says whether the drawn parameters are those of a rigid body.
template <class Sound>
void expect_the_unsound_to_fail(const Study& study, const std::string& cause, const Sound& sound) {
  std::vector<unsigned long long> numbers;
  for (unsigned long long m = 0; m < members; ++m) numbers.push_back(m);
  const Batch batch = prepare_batch(study, numbers, 1);
  int failed = 0;
  for (const char* backend : {"reference", "cpu"}) {
    const auto made = make_backend(backend, study, {.threads = 1});
    const BatchResults results = made->run(batch, {});
    for (std::size_t m = 0; m < members; ++m) {
      const bool fine = sound(batch.parameters.data() + m * study.parameters.size());
      EXPECT_EQ(results.status[m], fine ? Status::ok : Status::inconsistent_start) << backend << m;
      failed += !fine;
    }
  }
  EXPECT_GT(failed, 4);
  for (unsigned long long m = 0; m < members; ++m) {
    const PreparedMember prepared = prepare_member(study, m);
    if (sound(prepared.inputs.parameters.data())) continue;
    const Trajectory end = replay_member(study, prepared, study_plan(study));
    EXPECT_NE(end.cause.find(cause), std::string::npos) << end.cause;
    return;
  }
}

TEST(DrawnRange, OfAMassEndsTheMemberWithTheName) {
  const Study study = read_study(R"toml(
[parameters]
m = { normal = { mean = 1, std = 1 } }
[[body]]
name = "b"
mass = "m"
inertia = 1
position = [0, 1]
angular_velocity = 1
[time]
end = 0.1
)toml",
                                 "written.toml");
  expect_the_unsound_to_fail(study, "body 'b', mass: a mass must be positive: found -",
                             [](const double* p) { return p[0] > 0; });
  EXPECT_FALSE(draw_plan(study, Sampler(study)).has_value()) << "a device would not test the draws";
}

TEST(DrawnRange, OfAnInertiaIncludesTheTriangleInequality) {
  const Study study = read_study(R"toml(
[parameters]
I = { uniform = [0.5, 3] }
[[body]]
name = "b"
mass = 1
inertia = [1, 1, "I"]
position = [0, 0, 1]
angular_velocity = [1, 0.1, 0]
[time]
end = 0.1
)toml",
                                 "written.toml");
  expect_the_unsound_to_fail(study, "body 'b', inertia: no rigid body has this inertia",
                             [](const double* p) { return p[0] <= 2; });
}

TEST(DrawnRange, ThatNoDrawCanLeaveIsNotTested) {
  const Study study = read_study(R"toml(
[parameters]
m = { uniform = [0.9, 1.1] }
n = { normal = { mean = 1, std = 0.05 } }
[[point]]
name = "p"
mass = "m + n"
position = [0, 1]
[time]
end = 0.1
)toml",
                                 "written.toml");
  EXPECT_TRUE(study.ranges.empty());
  EXPECT_TRUE(draw_plan(study, Sampler(study)).has_value());
}

}  // namespace
}  // namespace zwang::drawn_range_test
