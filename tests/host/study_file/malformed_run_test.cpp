// Error messages for malformed [ensemble], [time], [integrator], [statistics] and [output].
#include "tests/support/malformed.h"

namespace zwang::malformed_run_test {
namespace {

const std::vector<Malformed> studies = {
    {"no members",
     R"([ensemble]
members = 0
)",
     ball_and_time,
     R"(study.toml:2:11: error: [ensemble] members: out of range
  found:    0
  expected: a whole number from 1 to 1000000000000)"},
    {"half a member",
     R"([ensemble]
members = 1.5
)",
     ball_and_time,
     R"(study.toml:2:11: error: [ensemble] members: not a whole number
  found:    1.5
  expected: a whole number from 1 to 1000000000000)"},
    {"an unknown sampler",
     R"([ensemble]
sampler = "randon"
)",
     ball_and_time,
     R"(study.toml:2:11: error: [ensemble] sampler: not one of the choices
  found:    "randon"
  expected: "random", "latin-hypercube" or "sobol"
  hint:     did you mean 'random'?)"},
    {"a goal for the ensemble that is no table",
     R"([ensemble]
until = "mean(x) < 0.1"
)",
     ball_and_time,
     R"(study.toml:2:9: error: [ensemble] until: not a table
  found:    "mean(x) < 0.1"
  expected: { measure = "NAME", relative_stderr = 0.01 })"},
    {"a goal for a measure that is not there",
     R"toml([ensemble]
until = { measure = "hihgest", relative_stderr = 0.01 }
[measure]
highest = "maximum(ball.x)"
)toml",
     ball_and_time,
     R"(study.toml:2:21: error: [ensemble] until, measure: there is no such measure
  found:    "hihgest"
  expected: one of: highest
  hint:     did you mean 'highest'?)"},
    {"a goal without a size",
     R"toml([ensemble]
until = { measure = "highest", relative_stderr = 0 }
[measure]
highest = "maximum(ball.x)"
)toml",
     ball_and_time,
     R"(study.toml:2:50: error: [ensemble] until, relative_stderr: out of range
  found:    0
  expected: a finite number > 0)"},
    {"a goal of which half is missing",
     R"toml([ensemble]
until = { relative_error = 0.1 }
)toml",
     ball_and_time,
     R"(study.toml:2:9: error: [ensemble] until: 'measure' is missing
  expected: the name of a measure, as in { measure = "NAME", relative_stderr = 0.01 }
study.toml:2:9: error: [ensemble] until: how well it is to be known is missing
  expected: one of relative_stderr, relative_halfwidth and absolute_halfwidth
study.toml:2:11: error: [ensemble] until: unknown key 'relative_error'
  expected: one of: measure, index, relative_stderr, relative_halfwidth and absolute_halfwidth)"},
    {"a goal beside a grid",
     R"toml([parameters]
push = { grid = [0, 1, 5] }
[ensemble]
until = { measure = "highest", relative_stderr = 0.1 }
[measure]
highest = "maximum(ball.x)"
)toml",
     ball_and_time,
     R"(study.toml:4:9: error: [ensemble] until: a grid must be run completely
  found:    until with a grid
  expected: no 'until', or no grid)"},
    {"an unknown consistency",
     R"([ensemble]
consistency = true
include_nominal = 1
seed = -1
)",
     ball_and_time,
     R"(study.toml:2:15: error: [ensemble] consistency: not a string
  found:    true
  expected: "project", "reject" or "error"
study.toml:3:19: error: [ensemble] include_nominal: neither true nor false
  found:    1
  expected: true or false
study.toml:4:8: error: [ensemble] seed: out of range
  found:    -1
  expected: a whole number from 0 to 9223372036854775807)"},
    {"no time", R"()", ball,
     R"(study.toml: error: [time] is missing
  expected: [time] with end = ... or at = [..])"},
    {"no end",
     R"([time]
samples = 11
)",
     ball,
     R"(study.toml:1:1: error: [time]: 'end' is missing
  expected: the time at which members end, or at = [..])"},
    {"an end that is not positive",
     R"([parameters]
T = 2
[time]
end = "T - 2"
)",
     ball,
     R"(study.toml:4:7: error: [time] end: out of range
  found:    "T - 2" = 0
  expected: a finite time > 0)"},
    {"an end that is drawn",
     R"([parameters]
T = { uniform = [1, 2] }
[time]
end = "T"
)",
     ball,
     R"(study.toml:4:7: error: [time] end: must be the same for every member
  found:    "T"
  expected: parameters that are not drawn)"},
    {"a single sample",
     R"([time]
end = 1
samples = 1
)",
     ball,
     R"(study.toml:3:11: error: [time] samples: out of range
  found:    1
  expected: a whole number from 2 to 10000000)"},
    {"too many samples",
     R"([time]
end = 1
samples = 1e8
)",
     ball,
     R"(study.toml:3:11: error: [time] samples: out of range
  found:    1e+08
  expected: a whole number from 2 to 10000000)"},
    {"samples and given times",
     R"([time]
end = 1
samples = 11
at = [0, 1]
)",
     ball,
     R"(study.toml:3:11: error: [time] samples: samples and at cannot be combined
  found:    11
  expected: one of them)"},
    {"given times that go back",
     R"([time]
at = [0, 2, 1]
)",
     ball,
     R"(study.toml:2:13: error: [time] at entry 3: the times are not ascending
  found:    1
  expected: a time > 2)"},
    {"no given times",
     R"([time]
at = []
)",
     ball,
     R"(study.toml:2:6: error: [time] at: no output times
  found:    an empty array
  expected: at least one time >= 0)"},
    {"a given time before the start",
     R"([time]
at = [-1, 1]
)",
     ball,
     R"(study.toml:2:7: error: [time] at entry 1: out of range
  found:    -1
  expected: a finite time >= 0)"},
    {"an end before the last given time",
     R"([time]
at = [0, 2]
end = 1
)",
     ball,
     R"(study.toml:3:7: error: [time] end: lies before the last output
  found:    1
  expected: a time >= 2)"},
    {"a stop that compares for equality",
     R"([time]
end = 1
stop = "ball.x == 1"
)",
     ball,
     R"(study.toml:3:16: error: [time] stop: not a comparison that can stand here
  found:    ==
  expected: <, <=, > or >=
  hint:     a stop condition is an inequality; an [[event]] watches for a root)"},
    {"a stop that never changes",
     R"([time]
end = 1
stop = "1 > 2"
)",
     ball,
     R"(study.toml:3:8: error: [time] stop: never changes
  found:    "1 > 2"
  expected: a condition on t, coordinates, velocities or auxiliary states)"},
    {"an unknown method",
     R"([integrator]
method = "rk5"
)",
     ball_and_time,
     R"(study.toml:2:10: error: [integrator] method: not one of the choices
  found:    "rk5"
  expected: "auto", "tsit5", "dop853", "taylor" or "rk4"
  hint:     did you mean 'rk4'?)"},
    {"rk4 without a step",
     R"([integrator]
method = "rk4"
)",
     ball_and_time,
     R"(study.toml:2:10: error: [integrator] method: "rk4" needs a step
  found:    "rk4"
  expected: step = 1e-3, or another number > 0)"},
    {"tsit5 with a step",
     R"([integrator]
step = 1e-3
)",
     ball_and_time,
     R"(study.toml:2:8: error: [integrator] step: "auto" chooses its own steps
  found:    0.001
  expected: no step, or method = "rk4")"},
    {"tolerances out of range",
     R"([integrator]
rtol = 1e-15
atol = 0
max_step = -1
accumulation_gap = 1
max_steps = 0
)",
     ball_and_time,
     R"(study.toml:2:8: error: [integrator] rtol: out of range
  found:    1e-15
  expected: a number >= 1e-14
study.toml:3:8: error: [integrator] atol: out of range
  found:    0
  expected: a finite number > 0
study.toml:4:12: error: [integrator] max_step: out of range
  found:    -1
  expected: a number > 0, or inf
study.toml:5:20: error: [integrator] accumulation_gap: out of range
  found:    1
  expected: a number between 0 and 1
study.toml:6:13: error: [integrator] max_steps: out of range
  found:    0
  expected: a whole number from 1 to 1000000000000)"},
    {"quantiles out of range and order",
     R"([statistics]
quantiles = [0.5, 0.25, 1.5]
)",
     ball_and_time,
     R"(study.toml:2:19: error: [statistics] quantiles entry 2: the quantiles are not ascending
  found:    0.25
  expected: a number > 0.5
study.toml:2:25: error: [statistics] quantiles entry 3: out of range
  found:    1.5
  expected: a number from 0 to 1)"},
    {"a histogram of nothing observed",
     R"([observe]
height = "ball.y"
[statistics]
histogram.heigth = { bins = 10 }
)",
     ball_and_time,
     R"(study.toml:4:11: error: [statistics] histogram.heigth: there is no observable or measure of that name
  found:    'heigth'
  expected: a name from [observe] or [measure]
  hint:     did you mean 'height'?)"},
    {"a histogram without room",
     R"([observe]
x = "ball.x"
[statistics]
histogram.x = { bins = 0, range = [1, 1] }
)",
     ball_and_time,
     R"(study.toml:4:24: error: [statistics] histogram.x, bins: out of range
  found:    0
  expected: a whole number from 1 to 1000000
study.toml:4:35: error: [statistics] histogram.x, range: the ends are in the wrong order
  found:    1, 1
  expected: [low, high] with low < high)"},
    {"trajectories of members that are not there",
     R"([ensemble]
members = 3
[output]
members = "yes"
trajectories = [0, 3, 0]
)",
     ball_and_time,
     R"(study.toml:4:11: error: [output] members: neither true nor false
  found:    "yes"
  expected: true or false
study.toml:5:20: error: [output] trajectories entry 2: out of range
  found:    3
  expected: a whole number from 0 to 2
study.toml:5:23: error: [output] trajectories entry 3: the member is listed twice
  found:    0
  expected: every member once)"},
};

INSTANTIATE_TEST_SUITE_P(Runs, MalformedStudy, testing::ValuesIn(studies), malformed_name);

}  // namespace
}  // namespace zwang::malformed_run_test
