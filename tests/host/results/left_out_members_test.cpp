// `until` on a sweep leaves members out of points that are sure: files with members keep their numbers, and are the
// same after an interruption.
#include <gtest/gtest.h>

#include <csignal>

#include "host/backend/backend_reference.h"
#include "host/netcdf/netcdf_source.h"
#include "host/platform/child_process.h"
#include "host/results/run_files.h"
#include "host/run/run.h"
#include "host/run/run_result.h"
#include "host/study_file/load_study.h"
#include "tests/support/run_fixture.h"
#include "tests/support/run_results.h"

namespace zwang::left_out_members_test {
namespace {

constexpr long long per_point = 1500;

// At e = 0.3 and 0.9 the rule is met at 1024 members, at 0.5 (where the limit is a hundredth of it) never.
std::string swept_ball(const std::string& measures) {
  std::string text = thrown_ball;
  const auto put = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  put("restitution = 0.4", "restitution = \"e\"");
  put("[parameters]\n", "[parameters]\ne = { sweep = { values = [0.3, 0.5, 0.9] } }\n");
  put("members = 300", R"(members_per_point = 1500
until = { measure = "judged", absolute_halfwidth = 0.05 })");
  put("[measure]\n",
      "[measure]\njudged = \"final(ball.x)*(1 + 1e3*max(0, 1 - 100*abs(e - 0.5)))\"\n" + measures);
  return text + R"toml([[record]]
name = "heights"
every = 0.2
values = { x = "ball.x" }
[output]
members = true
trajectories = [0, 1023, 1024, 1500, 2999, 3001, 4499]
)toml";
}

class LeftOutMembers : public ::testing::Test {
 protected:
  void run(const Study& study, const std::string& out, long long batch, long long stop_at = -1) {
    ResultFolder results(scratch.path() / out, {.resume = true});
    BackendReference backend(study, 1);
    RunOptions options{.threads = 1, .batch = batch};
    options.progress = [stop_at](const RunProgress& progress) {
      if (stop_at >= 0 && progress.done >= stop_at) throw Interrupted(SIGINT);
    };
    run_into(results, study, backend, options, [] {}, {.checkpoints = {.seconds = 0}});
  }
  Scratch scratch;
};

TEST_F(LeftOutMembers, KeepTheNumbersOfTheOthersInEveryFile) {
  const Study study = read_study(swept_ball(""), "ball.toml");
  run(study, "whole", 500);
  std::vector<long long> expected;
  for (const auto& [point, members] : {std::pair{0LL, 1024LL}, {1LL, per_point}, {2LL, 1024LL}})
    for (long long j = 0; j < members; ++j) expected.push_back(point * per_point + j);
  const NetcdfSource members(scratch.path() / "whole" / "members.nc");
  EXPECT_EQ(members.integers("member"), expected);
  const NetcdfSource records(scratch.path() / "whole" / "records.nc");
  EXPECT_EQ(records.integers("member"), expected);
  const std::vector<double> swept = records.numbers("e");
  EXPECT_EQ(swept[1023], 0.3);
  EXPECT_EQ(swept[1024], 0.5);
  EXPECT_EQ(swept.back(), 0.9);
  const NetcdfSource trajectories(scratch.path() / "whole" / "trajectories.nc");
  EXPECT_EQ(trajectories.integers("trajectory"), (std::vector<long long>{0, 1023, 1500, 2999, 3001}));
  // A member has the values that it has when nothing is left out.
  const Study all = read_study(swept_ball(""), "ball.toml",
                               {R"(ensemble.until={measure="judged", absolute_halfwidth=1e-9})"});
  run(all, "all", 500);
  const NetcdfSource every(scratch.path() / "all" / "members.nc");
  const std::vector<double> own = members.numbers("measures"), full = every.numbers("measures");
  const std::size_t width = study.system->measures.size();
  ASSERT_EQ(full.size(), 3 * per_point * width);
  for (std::size_t k = 0; k < expected.size(); ++k)
    for (std::size_t i = 0; i < width; ++i)
      ASSERT_EQ(own[k * width + i], full[static_cast<std::size_t>(expected[k]) * width + i]) << k;
}

TEST_F(LeftOutMembers, AnInterruptedRunEndsInTheSameFilesWithAndWithoutLabels) {
  for (const std::string measures : {"", "kind = \"label(heights, 0.5)\"\n"}) {
    const Study study = read_study(swept_ball(measures), "ball.toml");
    const std::string whole = measures.empty() ? "whole" : "whole labels", cut = whole + " cut";
    run(study, whole, 700);
    for (const long long stop_at : {500LL, 1700LL, 3300LL})
      EXPECT_THROW(run(study, cut, 190, stop_at), Interrupted) << stop_at;
    run(study, cut, 333);
    expect_same(files_in(scratch.path() / cut), files_in(scratch.path() / whole), cut);
  }
}

}  // namespace
}  // namespace zwang::left_out_members_test
