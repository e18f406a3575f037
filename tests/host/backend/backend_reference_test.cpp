// The reference backend, and the preparation of batches.
#include <algorithm>
#include <stdexcept>

#include "host/platform/parallel.h"
#include "host/sample/member.h"
#include "tests/support/tampered_backend.h"

namespace zwang::backend_reference_test {
namespace {

TEST(BackendReferenceTest, ReturnsOnlyWhatIsWanted) {
  const Study study = SlungLoad::study();
  const std::vector<unsigned long long> members = {0, 1};
  const Batch batch = prepare_batch(study, members, check_threads);
  BackendReference backend(study, check_threads);
  const BatchResults bare = backend.run(batch, {.observables = false});
  EXPECT_TRUE(bare.observables.empty() && bare.states.empty() && bare.events.empty());
  EXPECT_EQ(bare.measures.size(), 2 * SlungLoad::measures);
  const BatchResults full = backend.run(batch, {.observables = true, .states = true, .events = true});
  EXPECT_EQ(full.states.size(), 2 * SlungLoad::outputs * SlungLoad::row);
  EXPECT_EQ(full.observables.size(), 2 * SlungLoad::outputs * SlungLoad::observables);
  EXPECT_EQ(full.end_state, bare.end_state);
}

TEST(BackendReferenceTest, GivesTheMotionOfReplay) {
  const Study study = SlungLoad::study();
  const std::vector<unsigned long long> members = {3};
  const Batch batch = prepare_batch(study, members, 1);
  BackendReference backend(study, 1);
  BatchResults results = backend.run(batch, {.observables = true, .states = true, .events = true});
  const PreparedMember member = prepare_member(study, 3);
  const Trajectory trajectory = replay_member(study, member, study_plan(study));
  ASSERT_EQ(trajectory.samples.size(), SlungLoad::outputs);
  const Sample& sixth = trajectory.samples[6];
  EXPECT_EQ(SlungLoad::state(results, 0, 6, 0), sixth.state.q(0));
  EXPECT_EQ(SlungLoad::state(results, 0, 6, 5), sixth.state.v(2));
  EXPECT_EQ(SlungLoad::state(results, 0, 6, 6), sixth.multipliers(0));
  EXPECT_EQ(SlungLoad::state(results, 0, 6, 7), sixth.closed[0]);
  EXPECT_EQ(results.observables[6 * SlungLoad::observables + 4], sixth.observables[4]);
  EXPECT_EQ(results.events[0].size(), trajectory.events.size());
  EXPECT_EQ(results.measures, trajectory.measures);
  EXPECT_EQ(results.end_time[0], SlungLoad::end);
}

TEST(BatchTest, AllWorkIsDoneAndTheFirstErrorIsThrown) {
  std::vector<int> seen(1000, 0);
  in_parallel(seen.size(), 4, [&](std::size_t k) { ++seen[k]; });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 1000);
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      in_parallel(1000, 4, [](std::size_t k) {
        if (k % 7 == 3) throw std::runtime_error(std::to_string(k));
      });
      ADD_FAILURE() << "should have thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
  }
}

}  // namespace
}  // namespace zwang::backend_reference_test
