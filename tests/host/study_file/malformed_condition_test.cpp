// Error messages for malformed constraints.
#include "tests/support/malformed.h"

namespace zwang::malformed_condition_test {
namespace {

const std::vector<Malformed> studies = {
    {"a constraint without a condition",
     R"([[constraint]]
name = "wall"
)",
     ball_and_time,
     R"(study.toml:1:1: error: constraint 'wall': 'require' is missing
  expected: a condition such as "distance(load, hook) <= L")"},
    {"a condition without a comparison",
     R"([[constraint]]
name = "wall"
require = "ball.x"
)",
     ball_and_time,
     R"(study.toml:3:18: error: constraint 'wall', require: a condition needs a comparison
  found:    the end of the formula
  expected: left <=, >= or == right)"},
    {"a strict comparison",
     R"([[constraint]]
name = "wall"
require = "ball.x < 1"
)",
     ball_and_time,
     R"(study.toml:3:19: error: constraint 'wall', require: not a comparison that can stand here
  found:    <
  expected: <=, >= or ==
  hint:     a condition includes its boundary: write <=)"},
    {"an assignment",
     R"([[constraint]]
name = "wall"
require = "ball.x = 1"
)",
     ball_and_time,
     R"(study.toml:3:19: error: constraint 'wall', require: not a comparison that can stand here
  found:    =
  expected: <=, >= or ==
  hint:     an equation is written with ==)"},
    {"two comparisons",
     R"([[constraint]]
name = "wall"
require = "0 <= ball.x <= 1"
)",
     ball_and_time,
     R"(study.toml:3:24: error: constraint 'wall', require: a second comparison in one condition
  found:    <=
  expected: one comparison
  hint:     write two conditions for two comparisons)"},
    {"a condition on an auxiliary state",
     R"([[auxiliary]]
name = "p"
initial = 0
rate = "1"
[[constraint]]
name = "wall"
require = "ball.x <= p"
)",
     ball_and_time,
     R"(study.toml:7:22: error: constraint 'wall', require: auxiliary states cannot be used here
  found:    p
  expected: only numbers, parameters, t, coordinates and velocities here)"},
    {"a condition without coordinates",
     R"([[constraint]]
name = "wall"
require = "t <= 1"
)",
     ball_and_time,
     R"(study.toml:3:11: error: constraint 'wall', require: contains no coordinate or velocity
  found:    "t <= 1"
  expected: a condition on coordinates or velocities)"},
    {"a condition between two anchors",
     R"([[anchor]]
name = "a"
position = [0, 0]
[[anchor]]
name = "b"
position = ["t", 1]
[[constraint]]
name = "rope"
require = "distance(a, b) <= 1"
)",
     ball_and_time,
     R"(study.toml:9:11: error: constraint 'rope', require: contains no coordinate or velocity
  found:    "distance(a, b) <= 1"
  expected: a condition on coordinates or velocities)"},
    {"a condition that is always met",
     R"([[constraint]]
name = "wall"
require = "ball.x^2 + 1 >= 0"
)",
     ball_and_time,
     R"(study.toml:3:11: error: constraint 'wall', require: is always met and restricts nothing
  found:    "ball.x^2 + 1 >= 0"
  expected: a condition that some states meet and others do not)"},
    {"a condition that is never met",
     R"([[constraint]]
name = "wall"
require = "ball.x^2 <= -1"
)",
     ball_and_time,
     R"(study.toml:3:11: error: constraint 'wall', require: can never be met
  found:    "ball.x^2 <= -1"
  expected: a condition that some states meet and others do not)"},
    {"an equation that is never met",
     R"([parameters]
L = { uniform = [2, 3] }
[[constraint]]
name = "wall"
require = "sin(ball.x) == L"
)",
     ball_and_time,
     R"(study.toml:5:11: error: constraint 'wall', require: can never be met
  found:    "sin(ball.x) == L"
  expected: a condition that some states meet and others do not)"},
    {"a condition whose gradient is zero",
     R"([[constraint]]
name = "wall"
require = "floor(ball.x) <= 1"
)",
     ball_and_time,
     R"(study.toml:3:11: error: constraint 'wall', require: its gradient is zero everywhere, so it cannot restrict the motion
  found:    "floor(ball.x) <= 1"
  expected: a condition that changes smoothly with the coordinates)"},
    {"a distance to be zero",
     R"([[anchor]]
name = "hook"
position = [0, 0]
[[constraint]]
name = "pin"
require = "distance(ball, hook) == 0"
)",
     ball_and_time,
     R"(study.toml:6:36: error: constraint 'pin', require: a distance must be compared with something positive
  found:    0
  expected: a number > 0
  hint:     for points that must coincide write their coordinates: a.x == b.x)"},
    {"a distance to be negative, mirrored",
     R"~([parameters]
L = -1
[[constraint]]
name = "pin"
require = "L >= norm(ball)"
)~",
     ball_and_time,
     R"(study.toml:5:12: error: constraint 'pin', require: a distance must be compared with something positive
  found:    -1
  expected: a number > 0
  hint:     for points that must coincide write their coordinates: a.x == b.x)"},
    {"a distance that is not positive at the nominal member",
     R"([parameters]
L = { normal = { mean = -1, std = 1 } }
[[constraint]]
name = "rope"
require = "norm(ball) <= L"
)",
     ball_and_time,
     R"(study.toml:5:11: error: constraint 'rope', require: a distance must be compared with something positive
  found:    -1 for the nominal member (every distribution at its centre)
  expected: a number > 0
  hint:     for points that must coincide write their coordinates: a.x == b.x)"},
    {"a restitution above one",
     R"([[constraint]]
name = "wall"
require = "ball.x <= 1"
restitution = 1.5
)",
     ball_and_time,
     R"(study.toml:4:15: error: constraint 'wall', restitution: a restitution lies between 0 and 1
  found:    1.5
  expected: a number from 0 to 1)"},
    {"a restitution drawn above one",
     R"([[constraint]]
name = "wall"
require = "ball.x <= 1"
restitution = { uniform = [0.5, 1.5] }
)",
     ball_and_time,
     R"(study.toml:4:15: error: constraint 'wall', restitution: a restitution lies between 0 and 1
  found:    0.5 to 1.5
  expected: a number from 0 to 1)"},
    {"the restitution of an equation",
     R"([[constraint]]
name = "wall"
require = "ball.x == 1"
restitution = 0.5
)",
     ball_and_time,
     R"(study.toml:4:15: error: constraint 'wall', restitution: an equation has no restitution
  found:    0.5
  expected: restitution only with <= or >=)"},
    {"until before from",
     R"([[constraint]]
name = "wall"
require = "ball.x <= 1"
from = 2
until = 1
)",
     ball_and_time,
     R"(study.toml:5:9: error: constraint 'wall', until: must lie after 'from'
  found:    1
  expected: a time later than from = 2)"},
    {"from before the start",
     R"([[constraint]]
name = "wall"
require = "ball.x <= 1"
from = -1
)",
     ball_and_time,
     R"(study.toml:4:8: error: constraint 'wall', from: lies before the start
  found:    -1
  expected: a time >= 0
  hint:     leave it out for a constraint in force from the start)"},
    {"times that are infinite on the wrong side",
     R"([[constraint]]
name = "wall"
require = "ball.x <= 1"
from = inf
until = -inf
)",
     ball_and_time,
     R"(study.toml:4:8: error: constraint 'wall', from: not a finite number
  found:    inf
  expected: a finite number, or a formula in quotes
study.toml:5:9: error: constraint 'wall', until: not a finite number
  found:    -inf
  expected: a finite number, or a formula in quotes)"},
    {"an anchor without a position",
     R"~([[anchor]]
name = "hook"
[observe]
d = "distance(ball, hook)"
)~",
     ball_and_time,
     R"(study.toml:1:1: error: anchor 'hook': 'position' is missing
  expected: 1, 2 or 3 numbers or formulas)"},
    {"three brackets",
     R"([[[point]]
)",
     ball_and_time,
     R"(study.toml:1:3: error: not valid TOML (key)
  found:    '['
  expected: bare key starting character or string delimiter)"},
    {"a multiplier of a special condition",
     R"([[constraint]]
name = "wall"
require = "ball.x == 1"
multiplier = 0.5
)",
     ball_and_time,
     R"(study.toml:4:14: error: constraint 'wall', multiplier: a constraint with variation = "special" has no initial multiplier
  found:    0.5
  expected: no multiplier, or variation = "general")"},
    {"an inequality varied generally",
     R"([[constraint]]
name = "wall"
require = "ball.x <= 1"
variation = "general"
)",
     ball_and_time,
     R"(study.toml:4:13: error: constraint 'wall', variation: an inequality cannot have variation = "general"
  found:    "general"
  expected: an equation, with ==)"},
    {"shocks beside a general variation",
     R"([[constraint]]
name = "rail"
require = "ball.x' == ball.x*ball.y'"
variation = "general"
[[constraint]]
name = "wall"
require = "ball.x <= 1"
[[constraint]]
name = "late"
require = "ball.y == 0"
from = 1
[[impulse]]
at = 1
on = "ball"
velocity = [1, 0]
)",
     ball_and_time,
     R"(study.toml:5:1: error: constraint 'wall': an inequality cannot be combined with a constraint that has variation = "general" (constraint 'rail', variation)
  found:    <= or >=
  expected: equations only
  hint:     give every constraint variation = "special" to keep the inequality
study.toml:8:1: error: constraint 'late': a constraint imposed during the motion, by a shock, cannot be combined with a constraint that has variation = "general" (constraint 'rail', variation)
  found:    from
  expected: no from: in force from the start
study.toml:12:1: error: impulse number 1: an impulse cannot be combined with a constraint that has variation = "general" (constraint 'rail', variation)
  expected: no [[impulse]])"},
    {"a multiplier that outweighs the masses",
     R"([[constraint]]
name = "cone"
require = "ball.x'^2 == 2*ball.y'^2"
variation = "general"
multiplier = 9
)",
     ball_and_time,
     R"(study.toml:4:13: error: constraint 'cone', variation: with these multipliers M + rho g_vv is not positive definite
  found:    cone.multiplier = 9 for the nominal member (every distribution at its centre)
  expected: multipliers closer to 0)"},
    {"an unknown variation",
     R"([[constraint]]
name = "wall"
require = "ball.x == 1"
variation = "speciall"
)",
     ball_and_time,
     R"(study.toml:4:13: error: constraint 'wall', variation: not one of the choices
  found:    "speciall"
  expected: "special" or "general"
  hint:     did you mean 'special'?)"},
};

INSTANTIATE_TEST_SUITE_P(Conditions, MalformedStudy, testing::ValuesIn(studies), malformed_name);

}  // namespace
}  // namespace zwang::malformed_condition_test
