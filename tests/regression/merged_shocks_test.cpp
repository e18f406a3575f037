// Sequences of shocks whose gaps shrink so fast that they end in one shock: errors found by the soak test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/batch.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "kernels/base/status.h"
#include "tests/support/both_backends.h"

namespace zwang::merged_shocks_test {
namespace {

// A piston of mass M comes down on a ball of mass 1, which bounces between it and the floor. An inelastic impact of the two
// leaves them together; they part as (g - g_piston) t^2/2. Each gap is therefore of the order of the square of the one
// before, and the sequence has no ratio.
struct Piston {
  double mass = 3, e = 0.8, g = 1, g_piston = 0.2;

  // When the last of the shocks that doubles can tell apart occurs.
  double end() const {
    double t = 0, y = 0.5, v = 0, gap = 0.5, closing = 1;  // of the ball, and between it and the piston
    for (int shock = 0; shock < 100; ++shock) {
      const double a = g - g_piston;
      const double down = (v + std::sqrt(v * v + 2 * g * y)) / g;
      const double root = closing * closing - 2 * a * gap;
      const double meet = gap > 0 && closing > 0 && root > 0 ? 2 * gap / (closing + std::sqrt(root)) : down;
      const double step = std::min(down, meet);
      if (!(step > 1e-12)) break;
      t += step;
      y += v * step - g * step * step / 2;
      v -= g * step;
      gap += -closing * step + a * step * step / 2;
      closing -= a * step;
      if (meet < down) {
        v -= closing * mass / (1 + mass);
        gap = closing = 0;
      } else {
        closing -= (1 + e) * v;
        v *= -e;
        y = 0;
      }
    }
    return t;
  }
};

// The last of the shocks brings both contacts to rest in its rounds. A limit extrapolated from the times of those before it
// was listed 2e-6 s later, and the floor counted as open until then. `zwang check` found the accumulation in one list only
// (soak with friction, seeds 70028, 71264 and 81290).
TEST(MergedShocks, TheShockThatBringsAllToRestIsTheEnd) {
  const Piston made;
  constexpr double end = 3;
  // A thousand metres up, positions are known to 1e-9: the shocks merge before speeds are too small to follow.
  const Study study = read_study(fmt::format(R"toml(
[[point]]
name = "ball"
mass = 1
position = [0, 1000.5]
velocity = [0, 0]
[[coordinate]]
name = "h"
position = 1001
velocity = -1
[system]
gravity = [0, -{0}]
kinetic = "{1}/2*h'^2"
potential = "{1}*{2}*h"
[[constraint]]
name = "floor"
require = "ball.y >= 1000"
restitution = {3}
friction = 0.3
[[constraint]]
name = "top"
require = "h >= ball.y"
[time]
end = {4}
samples = 2
[measure]
closed = "integral(closed(floor))"
pressed = "integral(reaction(floor))"
)toml",
                                             made.g, made.mass, made.g_piston, made.e, end),
                                 "piston.toml");
  // The rounding of positions over the speed of the last shocks.
  constexpr double rounding = 2e-9;
  by_both(study, [&](Backend& backend) {
    const BatchResults results = first_member(study, backend);
    ASSERT_EQ(results.status[0], Status::ok);
    const double rest = end - made.end();
    EXPECT_NEAR(results.measures[0], rest, rounding);
    EXPECT_NEAR(results.measures[1], (made.g + made.mass * made.g_piston) * rest, 2 * rounding);
  });
}

}  // namespace
}  // namespace zwang::merged_shocks_test
