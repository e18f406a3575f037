// Error messages for malformed measures, probabilities, [[given]], exceedance, until and [sensitivity].
#include "tests/support/malformed.h"

namespace zwang::malformed_answers_test {
namespace {

const std::vector<Malformed> malformed_answers = {
    {"probability inside arithmetic",
     R"toml([measure]
twice = "2*probability(final(ball.x) > 1)"
)toml",
     ball_and_time,
     R"(study.toml:2:12: error: measure 'twice': probability(..) must stand outermost
  found:    probability
  expected: probability(condition) and nothing around it
  hint:     give it a name of its own in [measure] and use that)"},
    {"arithmetic after a probability",
     R"toml([measure]
twice = "probability(final(ball.x) > 1) + 1"
)toml",
     ball_and_time,
     R"(study.toml:2:10: error: measure 'twice': probability(..) must stand outermost
  found:    probability
  expected: probability(condition) and nothing around it
  hint:     give it a name of its own in [measure] and use that)"},
    {"equality in a probability",
     R"toml([measure]
same = "probability(final(ball.x) == 1)"
)toml",
     ball_and_time,
     R"(study.toml:2:35: error: measure 'same': a condition compares by <, <=, >, >=
  found:    ==
  expected: one of <, <=, >, >=
  hint:     equality is two comparisons: a >= b and a <= b)"},
    {"two comparisons in a row",
     R"toml([measure]
between = "probability(0 < final(ball.x) < 1)"
)toml",
     ball_and_time,
     R"(study.toml:2:42: error: measure 'between': a second comparison in one condition
  found:    <
  expected: one comparison
  hint:     join two comparisons: a < b and b < c)"},
    {"a probability without a comparison",
     R"toml([measure]
sure = "probability(final(ball.x))"
)toml",
     ball_and_time,
     R"(study.toml:2:34: error: measure 'sure': a condition needs a comparison
  found:    )
  expected: left <, <=, > or >= right)"},
    {"a comparison without probability",
     R"toml([measure]
above = "final(ball.x) > 1"
)toml",
     ball_and_time,
     R"(study.toml:2:24: error: measure 'above': a comparison has no place here
  found:    >
  expected: one expression
  hint:     the share of members in which it holds is probability(a > b))"},
    {"a coordinate without a reduction",
     R"toml([measure]
place = "2*ball.x"
)toml",
     ball_and_time,
     R"(study.toml:2:12: error: measure 'place': 'ball.x' changes over time, a measure is one number per member
  found:    ball.x
  expected: a reduction of it, such as final(ball.x) or maximum(ball.x))"},
    {"a reaction without a reduction",
     R"toml([measure]
energy = "kinetic() + 1"
)toml",
     ball_and_time,
     R"(study.toml:2:11: error: measure 'energy': 'kinetic' changes over time, a measure is one number per member
  found:    kinetic
  expected: a reduction of it, such as maximum(kinetic(..)))"},
    {"a reduction inside a reduction",
     R"toml([measure]
twice = "maximum(final(ball.x))"
)toml",
     ball_and_time,
     R"(study.toml:2:18: error: measure 'twice': 'final' reduces over time
  found:    final
  expected: reductions only in [measure], and not inside one another)"},
    {"a measure inside a reduction",
     R"toml([measure]
last = "final(ball.x)"
again = "maximum(2*last)"
)toml",
     ball_and_time,
     R"(study.toml:3:20: error: measure 'again': a measure is one number per member and cannot be reduced over time
  found:    last
  expected: parameters, coordinates and other quantities of the motion inside a reduction)"},
    {"a measure that comes later",
     R"toml([measure]
sum = "1 + peak"
peak = "maximum(ball.x)"
)toml",
     ball_and_time,
     R"(study.toml:2:12: error: measure 'sum': the measure 'peak' is not defined yet
  found:    peak
  expected: a measure defined above this one
  hint:     measures are read from top to bottom)"},
    {"a measure of itself",
     R"toml([measure]
peak = "peak + maximum(ball.x)"
)toml",
     ball_and_time,
     R"(study.toml:2:9: error: measure 'peak': the measure 'peak' is not defined yet
  found:    peak
  expected: a measure defined above this one
  hint:     measures are read from top to bottom)"},
    {"a measure with the name of a parameter",
     R"toml([parameters]
limit = 2
[measure]
limit = "maximum(ball.x)"
over = "probability(limit > 1)"
)toml",
     ball_and_time,
     R"(study.toml:5:21: error: measure 'over': 'limit' is both a measure and a parameter
  found:    limit
  expected: a name with one meaning
  hint:     rename the measure 'limit')"},
    {"a measure with the name of a function",
     R"toml([measure]
norm = "maximum(ball.x)"
twice = "2*norm"
)toml",
     ball_and_time,
     R"(study.toml:3:12: error: measure 'twice': 'norm' is both a measure and a function
  found:    norm
  expected: a name with one meaning
  hint:     rename the measure 'norm')"},
    {"an unknown name in a measure",
     R"toml([measure]
peak = "maximum(ball.x)"
twice = "2*paek"
)toml",
     ball_and_time,
     R"(study.toml:3:12: error: measure 'twice': unknown name 'paek'
  found:    paek
  expected: a name defined in this study
  hint:     did you mean 'peak'?)"},
    {"a probability among observables",
     R"toml([observe]
p = "probability(ball.x > 1)"
)toml",
     ball_and_time,
     R"(study.toml:2:6: error: observable 'p': 'probability' stands only in [measure]
  found:    probability
  expected: an expression)"},
    {"exceedance of an unknown measure",
     R"toml([measure]
peak = "maximum(ball.x)"
[statistics]
exceedance.paek = { points = 10 }
)toml",
     ball_and_time,
     R"(study.toml:4:12: error: [statistics] exceedance.paek: there is no measure of that name
  found:    'paek'
  expected: one of: peak
  hint:     did you mean 'peak'?)"},
    {"exceedance at falling levels",
     R"toml([measure]
peak = "maximum(ball.x)"
[statistics]
exceedance.peak = { at = [1, 0.5] }
)toml",
     ball_and_time,
     R"(study.toml:4:30: error: [statistics] exceedance.peak, at entry 2: the values are not ascending
  found:    0.5
  expected: a number > 1)"},
    {"exceedance both at levels and points",
     R"toml([measure]
peak = "maximum(ball.x)"
[statistics]
exceedance.peak = { at = [1, 2], points = 5 }
)toml",
     ball_and_time,
     R"(study.toml:4:19: error: [statistics] exceedance.peak: at and points cannot be combined
  found:    a table
  expected: one of them)"},
    {"until without an error",
     R"toml([ensemble]
until = { measure = "peak" }
[measure]
peak = "maximum(ball.x)"
)toml",
     ball_and_time,
     R"(study.toml:2:9: error: [ensemble] until: how well it is to be known is missing
  expected: one of relative_stderr, relative_halfwidth and absolute_halfwidth)"},
    {"until with two errors",
     R"toml([ensemble]
until = { measure = "peak", relative_stderr = 0.1, absolute_halfwidth = 0.1 }
[measure]
peak = "maximum(ball.x)"
)toml",
     ball_and_time,
     R"(study.toml:2:9: error: [ensemble] until: more than one limit
  found:    2 limits
  expected: one of relative_stderr, relative_halfwidth and absolute_halfwidth)"},
    {"until an index without sensitivity",
     R"toml([ensemble]
until = { index = "T.mass", absolute_halfwidth = 0.1 }
[measure]
peak = "maximum(ball.x)"
)toml",
     ball_and_time,
     R"(study.toml:2:19: error: [ensemble] until, index: there are no indices
  found:    "T.mass"
  expected: [sensitivity], which defines them)"},
    {"a given without a condition",
     R"toml([[given]]
name = "high"
)toml",
     ball_and_time,
     R"(study.toml:1:1: error: given 'high': 'when' is missing
  expected: a condition on measures, such as "peak > limit")"},
    {"a given that compares nothing",
     R"toml([measure]
peak = "maximum(ball.x)"
[[given]]
name = "high"
when = "peak"
)toml",
     ball_and_time,
     R"(study.toml:5:13: error: given 'high', when: a condition needs a comparison
  found:    the end of the formula
  expected: left <, <=, > or >= right)"},
    {"a given of a name twice",
     R"toml([measure]
peak = "maximum(ball.x)"
[[given]]
name = "high"
when = "peak > 1"
[[given]]
name = "high"
when = "peak > 2"
)toml",
     ball_and_time,
     R"(study.toml:7:8: error: given 'high': the name is taken
  found:    'high'
  expected: a name that is not used yet)"},
    {"sensitivity with one input",
     R"toml([parameters]
a = { uniform = [0, 1] }
[measure]
peak = "maximum(a*ball.x)"
[sensitivity]
base = 64
)toml",
     ball_and_time,
     R"(study.toml:5:1: error: [sensitivity]: needs two inputs or more, use the plain run
  found:    1 input
  expected: two draws or groups of draws)"},
    {"sensitivity with a small base",
     R"toml([parameters]
a = { uniform = [0, 1] }
b = { uniform = [0, 1] }
[measure]
peak = "maximum(a*b*ball.x)"
[sensitivity]
base = 10
)toml",
     ball_and_time,
     R"(study.toml:7:8: error: [sensitivity] base: out of range
  found:    10
  expected: a whole number from 64 to 1000000000000)"},
    {"sensitivity with too many members",
     R"toml([parameters]
a = { uniform = [0, 1] }
b = { uniform = [0, 1] }
[measure]
peak = "maximum(a*b*ball.x)"
[sensitivity]
base = 900000000000
)toml",
     ball_and_time,
     R"(study.toml:6:1: error: [sensitivity]: too many members
  found:    900000000000 rows of 4 members
  expected: at most 1e12 in all)"},
    {"sensitivity to a part of a joint",
     R"toml([parameters]
a = { uniform = [0, 1] }
[[joint]]
names = ["x0", "v0"]
mean = [0, 0]
covariance = [[1, 0.5], [0.5, 1]]
[measure]
peak = "maximum(a*x0*v0*ball.x)"
[sensitivity]
base = 64
inputs = ["a", "x0"]
)toml",
     ball_and_time,
     R"(study.toml:11:10: error: [sensitivity] inputs: x0 and v0 are correlated: Sobol' indices need independent inputs
  found:    an array
  expected: all of them in one group
  hint:     use groups = { x0_group = ["x0", "v0"] })"},
    {"sensitivity with a grid",
     R"toml([parameters]
a = { uniform = [0, 1] }
b = { uniform = [0, 1] }
c = { grid = [0, 1, 5] }
[measure]
peak = "maximum(a*b*ball.x)"
[sensitivity]
base = 64
)toml",
     ball_and_time,
     R"(study.toml:7:1: error: [sensitivity]: a grid is no random input
  found:    'c' on a grid
  expected: distributions)"},
    {"sensitivity with rejection",
     R"toml([parameters]
a = { uniform = [0, 1] }
b = { uniform = [0, 1] }
[ensemble]
consistency = "reject"
[measure]
peak = "maximum(a*b*ball.x)"
[sensitivity]
base = 64
)toml",
     ball_and_time,
     R"(study.toml:8:1: error: [sensitivity]: rejection makes inputs dependent, Sobol' indices need independent inputs
  found:    consistency = "reject"
  expected: "project" or "error")"},
    {"sensitivity with other members",
     R"toml([parameters]
a = { uniform = [0, 1] }
b = { uniform = [0, 1] }
[ensemble]
members = 100
[measure]
peak = "maximum(a*b*ball.x)"
[sensitivity]
base = 64
)toml",
     ball_and_time,
     R"(study.toml:5:11: error: [ensemble] members: not the number of members of [sensitivity]
  found:    100
  expected: 256: base times the number of inputs and 2
  hint:     leave it out, and change it by --set sensitivity.base=N)"},
    {"sensitivity to an unknown input",
     R"toml([parameters]
mass = { uniform = [0, 1] }
gust = { uniform = [0, 1] }
[measure]
peak = "maximum(mass*gust*ball.x)"
[sensitivity]
base = 64
inputs = ["mas", "gust"]
of = ["paek"]
)toml",
     ball_and_time,
     R"(study.toml:8:11: error: [sensitivity] inputs entry 1: not a draw of this study
  found:    "mas"
  expected: one of: mass and gust
  hint:     did you mean 'mass'?
study.toml:9:7: error: [sensitivity] of entry 1: there is no such measure
  found:    "paek"
  expected: one of: peak
  hint:     did you mean 'peak'?)"},
    {"sensitivity to an input twice",
     R"toml([parameters]
a = { uniform = [0, 1] }
b = { uniform = [0, 1] }
[measure]
peak = "maximum(a*b*ball.x)"
[sensitivity]
base = 64
inputs = ["a", "b"]
groups = { both = ["a"] }
)toml",
     ball_and_time,
     R"(study.toml:8:10: error: [sensitivity] inputs: an input is listed twice
  found:    'a'
  expected: every input once)"},
    {"until an index of an unknown input",
     R"toml([parameters]
a = { uniform = [0, 1] }
b = { uniform = [0, 1] }
[ensemble]
until = { index = "T.c", absolute_halfwidth = 0.1 }
[measure]
peak = "maximum(a*b*ball.x)"
[sensitivity]
base = 64
)toml",
     ball_and_time,
     R"(study.toml:5:19: error: [ensemble] until, index: there is no such index
  found:    "T.c"
  expected: one of: S.a, T.a, S.b and T.b
  hint:     did you mean 'T.a'?)"},
};

INSTANTIATE_TEST_SUITE_P(Answers, MalformedStudy, testing::ValuesIn(malformed_answers), malformed_name);

}  // namespace
}  // namespace zwang::malformed_answers_test
