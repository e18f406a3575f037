// Watched speeds that vanish as a slip or a yield ends: an error found by the soak test.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/both_backends.h"

namespace zwang::watched_rests_test {
namespace {

// p slides on a floor and comes to rest; a bounded row slows q until it locks; r is thrown up a slope on which it does not
// rest. The speeds of p and q reach zero and stay there, that of r passes zero. Whether the end of the motion or the zero of
// the speed was located first was a matter of rounding: of 64 members the kernels listed a crossing of p for 64 and of q for
// 60, the reference for 62 and 64 (soak with friction, seeds 71172 and 71465).
TEST(WatchedRests, AreNoCrossingsWhereTheMotionEnds) {
  const Study study = read_study(R"toml(
[parameters]
u = { uniform = [0.5, 3] }
w = { uniform = [-0.3, 0.3] }
[[point]]
name = "p"
mass = 1.3
position = [0.37, 0]
velocity = ["u", 0]
[[point]]
name = "q"
mass = 0.7
position = [0.1, 4]
velocity = ["w", 0]
[[point]]
name = "r"
mass = 0.9
position = [2, 2]
velocity = ["u", "u"]
[system]
gravity = [0, -10]
[[constraint]]
name = "floor"
require = "p.y >= 0"
friction = 0.3
[[constraint]]
name = "brake"
require = "q.x == 0.1"
limit = 2
[[constraint]]
name = "slope"
require = "r.y >= r.x"
friction = 0.3
[[event]]
name = "p_turns"
when = "p.x'"
[[event]]
name = "q_turns"
when = "q.x'"
[[event]]
name = "r_turns"
when = "r.x'"
[ensemble]
members = 64
[time]
end = 2
samples = 3
[measure]
speed = "u"
p = "count(event(p_turns))"
q = "count(event(q_turns))"
r = "count(event(r_turns))"
when = "first(event(r_turns))"
)toml",
                                 "watched_rests.toml");
  std::vector<unsigned long long> numbers(64);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  const Batch batch = prepare_batch(study, numbers, 1);
  by_both(study, [&](Backend& backend) {
    const BatchResults results = backend.run(batch, {});
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      SCOPED_TRACE(k);
      ASSERT_EQ(results.status[k], Status::ok);
      const double* found = &results.measures[5 * k];
      EXPECT_EQ(found[1], 0);
      EXPECT_EQ(found[2], 0);
      EXPECT_EQ(found[3], 1);
      EXPECT_NEAR(found[4], found[0] / (10 * 1.3 / 2), 1e-9);
    }
  });
}

}  // namespace
}  // namespace zwang::watched_rests_test
