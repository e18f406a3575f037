// The output of `zwang replay`.
#include "host/inspect/write_replay.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "host/sample/member.h"
#include "host/study_file/load_study.h"
#include "tests/support/run_fixture.h"

namespace zwang::write_replay_test {
namespace {

TEST(WriteReplayTest, NamesTheBackend) {
  const Study study = read_study(thrown_ball, "ball.toml");
  const PreparedMember member = prepare_member(study, 3);
  const Trajectory trajectory = replay_member(study, member, study_plan(study));
  const Replay by_reference{study, member, trajectory}, by_cpu{study, member, trajectory, "cpu"};
  EXPECT_NE(replay_table(by_reference).find("seed 1, reference backend\n"), std::string::npos);
  EXPECT_NE(replay_table(by_cpu).find("seed 1, cpu backend\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(replay_json(by_cpu))["backend"], "cpu");
}

}  // namespace
}  // namespace zwang::write_replay_test
