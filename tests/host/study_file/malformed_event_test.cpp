// Error messages for malformed impulses, events and measures.
#include "tests/support/malformed.h"

namespace zwang::malformed_event_test {
namespace {

const std::vector<Malformed> studies = {
    {"an impulse without its time, target and size",
     R"([[impulse]]
)",
     ball_and_time,
     R"(study.toml:1:1: error: impulse number 1: 'at' is missing
  expected: the time of the impulse
study.toml:1:1: error: impulse number 1: neither velocity nor momentum
  expected: the gain of the free body: either velocity = [..] or momentum = [..]
study.toml:1:1: error: impulse number 1: 'on' is missing
  expected: the name of a point, a body, a body point or a coordinate)"},
    {"an impulse before the start",
     R"([[impulse]]
at = -1
on = "ball"
velocity = [1, 0]
)",
     ball_and_time,
     R"(study.toml:2:6: error: impulse number 1, at: lies before the start
  found:    -1
  expected: a time >= 0)"},
    {"an impulse on nothing known",
     R"([[impulse]]
at = 1
on = "bal"
velocity = [1, 0]
)",
     ball_and_time,
     R"(study.toml:3:6: error: impulse number 1, on: not a point or a coordinate
  found:    "bal"
  expected: the name of a point or a coordinate
  hint:     did you mean 'ball'?)"},
    {"an impulse on an anchor",
     R"([[anchor]]
name = "hook"
position = [0, 0]
[[impulse]]
at = 1
on = "hook"
velocity = [1, 0]
)",
     ball_and_time,
     R"(study.toml:6:6: error: impulse number 1, on: an anchor has prescribed motion
  found:    "hook"
  expected: the name of a point or a coordinate)"},
    {"an impulse of the wrong dimension",
     R"([[impulse]]
at = 1
on = "ball"
momentum = [1, 0, 0]
)",
     ball_and_time,
     R"(study.toml:4:12: error: impulse number 1, momentum: wrong number of entries
  found:    3
  expected: [..] with 2 entries, one for each coordinate)"},
    {"an impulse given twice",
     R"([[impulse]]
at = 1
on = "ball"
momentum = [1, 0]
velocity = [1, 0]
)",
     ball_and_time,
     R"(study.toml:1:1: error: impulse number 1: both velocity and momentum
  expected: the gain of the free body: either velocity = [..] or momentum = [..])"},
    {"an event without a name",
     R"~([[event]]
when = "ball.x"
[measure]
n = "count(event(gate))"
)~",
     ball_and_time,
     R"(study.toml:1:1: error: event number 1: 'name' is missing
  expected: a name in quotes)"},
    {"an event that cannot happen",
     R"([parameters]
a = 1
[[event]]
name = "gate"
when = "a - 1"
)",
     ball_and_time,
     R"(study.toml:5:8: error: event 'gate', when: never changes
  found:    "a - 1"
  expected: a formula of t, coordinates, velocities or auxiliary states)"},
    {"an event in a direction that is none",
     R"([[event]]
name = "gate"
when = "ball.x"
direction = 2
)",
     ball_and_time,
     R"(study.toml:4:13: error: event 'gate', direction: out of range
  found:    2
  expected: a whole number from -1 to 1)"},
    {"a measure that reduces nothing",
     R"([measure]
x = "ball.x"
)",
     ball_and_time,
     R"(study.toml:2:6: error: measure 'x': 'ball.x' changes over time, a measure is one number per member
  found:    ball.x
  expected: a reduction of it, such as final(ball.x) or maximum(ball.x))"},
    {"a measure of an unknown constraint",
     R"~([[constraint]]
name = "wall"
require = "ball.x <= 1"
[measure]
n = "count(shock(wal))"
)~",
     ball_and_time,
     R"(study.toml:5:18: error: measure 'n': there is no constraint 'wal'
  found:    wal
  expected: one of: wall
  hint:     did you mean 'wall'?)"},
    {"a measure of an unknown event",
     R"~([measure]
n = "first(event(gate))"
)~",
     ball_and_time,
     R"(study.toml:2:18: error: measure 'n': there is no event 'gate'
  found:    gate
  expected: the name of an [[event]]; this study has none)"},
    {"a reduction in an observable",
     R"~([observe]
x = "final(ball.x)"
)~",
     ball_and_time,
     R"(study.toml:2:6: error: observable 'x': 'final' reduces over time
  found:    final
  expected: reductions only in [measure], and not inside one another)"},
    {"a measure that is a number",
     R"([measure]
x = 1
)",
     ball_and_time,
     R"~(study.toml:2:5: error: measure 'x': not a string
  found:    1
  expected: a measure in quotes, such as "final(load.x)")~"},
};

INSTANTIATE_TEST_SUITE_P(Events, MalformedStudy, testing::ValuesIn(studies), malformed_name);

}  // namespace
}  // namespace zwang::malformed_event_test
