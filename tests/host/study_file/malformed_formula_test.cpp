// Error messages for malformed parameters and formulas.
#include "tests/support/malformed.h"

namespace zwang::malformed_formula_test {
namespace {

const std::vector<Malformed> studies = {
    {"a parameter that uses a later one",
     R"([parameters]
a = "2*b"
b = 1
)",
     ball_and_time,
     R"(study.toml:2:8: error: parameter 'a': 'b' is defined later
  found:    b
  expected: parameters defined before this one
  hint:     parameters are read from top to bottom)"},
    {"a parameter that uses itself",
     R"([parameters]
a = "a + 1"
)",
     ball_and_time,
     R"(study.toml:2:6: error: parameter 'a': 'a' is defined by itself
  found:    a
  expected: parameters defined before this one
  hint:     parameters are read from top to bottom)"},
    {"a parameter that uses a coordinate",
     R"([parameters]
a = "2*ball.x"
)",
     ball_and_time,
     R"(study.toml:2:8: error: parameter 'a': coordinates cannot be used here
  found:    ball.x
  expected: only numbers and parameters here)"},
    {"a parameter that uses the time",
     R"~([parameters]
a = "sin(t)"
)~",
     ball_and_time,
     R"(study.toml:2:10: error: parameter 'a': the time t cannot be used here
  found:    t
  expected: only numbers and parameters here)"},
    {"a parameter that is a truth value",
     R"([parameters]
a = true
)",
     ball_and_time,
     R"(study.toml:2:5: error: parameter 'a': not a value a parameter can have
  found:    true
  expected: a number, a formula in quotes, a distribution such as { uniform = [0, 1] }, or a sweep such as { sweep = [0, 1, 11] })"},
    {"a parameter whose value is not finite",
     R"([parameters]
zero = 0
a = "1/zero"
b = inf
)",
     ball_and_time,
     R"(study.toml:3:5: error: parameter 'a': its value is not finite
  found:    inf
  expected: a finite number
study.toml:4:5: error: parameter 'b': not a finite number
  found:    inf
  expected: a finite number, or a formula in quotes)"},
    {"a broken parameter is not reported by those who use it",
     R"~([parameters]
a = "2*"
b = "a + 1"
c = "sqrt(b)"
[observe]
x = "a*ball.x"
)~",
     ball_and_time,
     R"(study.toml:2:8: error: parameter 'a': the formula cannot go on like this
  found:    the end of the formula
  expected: a number, a name or '(')"},
    {"an unknown name",
     R"([parameters]
length = 1
[[constraint]]
name = "wall"
require = "ball.x <= lenght"
)",
     ball_and_time,
     R"(study.toml:5:22: error: constraint 'wall', require: unknown name 'lenght'
  found:    lenght
  expected: a name defined in this study
  hint:     did you mean 'length'?)"},
    {"an unknown function",
     R"~([observe]
x = "sine(ball.x)"
)~",
     ball_and_time,
     R"(study.toml:2:6: error: observable 'x': unknown function 'sine'
  found:    sine
  expected: a function of the formula language
  hint:     did you mean 'sin'?)"},
    {"an empty formula",
     R"([observe]
x = ""
)",
     ball_and_time,
     R"(study.toml:2:6: error: observable 'x': the formula cannot go on like this
  found:    the end of the formula
  expected: a number, a name or '(')"},
    {"a product without its sign",
     R"([observe]
x = "2ball.x"
)",
     ball_and_time,
     R"(study.toml:2:6: error: observable 'x': not a number
  found:    2ball.x
  expected: a number such as 2, 0.5 or 1e-3 that fits a double
  hint:     a product needs its sign: 2*x, not 2x)"},
    {"a character outside the language",
     R"([observe]
x = "ball.x × 2"
)",
     ball_and_time,
     R"(study.toml:2:13: error: observable 'x': a character that has no meaning in a formula
  found:    ×
  expected: numbers, names, + - * / ^ ( ) , . ' and <= >= == in conditions)"},
    {"the column counts characters, not bytes",
     R"([[impulse]]
at = 1
on = "ball"
velocity = ["é", "q"]
)",
     ball_and_time,
     R"(study.toml:4:14: error: impulse number 1, velocity entry 1: a character that has no meaning in a formula
  found:    é
  expected: numbers, names, + - * / ^ ( ) , . ' and <= >= == in conditions
study.toml:4:19: error: impulse number 1, velocity entry 2: unknown name 'q'
  found:    q
  expected: a name defined in this study)"},
    {"an error behind an escape",
     R"([observe]
x = "ball.x\t+ \u0062all.q"
)",
     ball_and_time,
     R"(study.toml:2:16: error: observable 'x': unknown name 'ball.q'
  found:    ball.q
  expected: a name defined in this study
  hint:     did you mean 'ball.x'?)"},
    {"an error in a multi-line string",
     R"([observe]
x = """
ball.x +
  ball.q"""
)",
     ball_and_time,
     R"(study.toml:4:3: error: observable 'x': unknown name 'ball.q'
  found:    ball.q
  expected: a name defined in this study
  hint:     did you mean 'ball.x'?)"},
    {"an error after a folded line",
     R"([observe]
x = """ball.x + \
      ball.q"""
)",
     ball_and_time,
     R"(study.toml:3:7: error: observable 'x': unknown name 'ball.q'
  found:    ball.q
  expected: a name defined in this study
  hint:     did you mean 'ball.x'?)"},
    {"a formula that ends too early",
     R"([observe]
x = "ball.x + "
)",
     ball_and_time,
     R"(study.toml:2:15: error: observable 'x': the formula cannot go on like this
  found:    the end of the formula
  expected: a number, a name or '(')"},
    {"a point is not a number",
     R"([observe]
x = "ball + 1"
)",
     ball_and_time,
     R"(study.toml:2:6: error: observable 'x': 'ball' is a point, not a number
  found:    ball
  expected: one of its coordinates, or the whole inside distance, dot, norm or speed
  hint:     write ball.x)"},
    {"points of different dimensions",
     R"~([[anchor]]
name = "hook"
position = [0]
[observe]
x = "distance(ball, hook)"
)~",
     ball_and_time,
     R"(study.toml:5:6: error: observable 'x': points of different dimensions in distance
  found:    ball has 2 coordinates, hook has 1
  expected: two points of the same dimension)"},
    {"a comparison where there is none",
     R"([observe]
x = "ball.x < 1"
)",
     ball_and_time,
     R"(study.toml:2:13: error: observable 'x': a comparison has no place here
  found:    <
  expected: one expression; comparisons stand only in require and stop)"},
    {"a second derivative",
     R"([observe]
x = "ball.x''"
)",
     ball_and_time,
     R"(study.toml:2:13: error: observable 'x': second derivatives are not known here
  found:    '
  expected: one prime: ball.x' is its velocity)"},
    {"a formula in an array",
     R"([observe]
x = ["ball.x"]
)",
     ball_and_time,
     R"(study.toml:2:5: error: observable 'x': neither a number nor a formula
  found:    an array
  expected: a number, or a formula in quotes)"},
    {"a reaction outside of observe",
     R"~([[constraint]]
name = "wall"
require = "ball.x <= 1"
[system.force]
"ball.x" = "reaction(wall)"
)~",
     ball_and_time,
     R"(study.toml:5:13: error: [system.force] "ball.x": 'reaction' cannot be used here
  found:    reaction
  expected: it stands only in [observe], [measure], [[event]], [[record]] and [time] stop)"},
    {"a mean of logdensity",
     R"~([measure]
x = "mean(logdensity())"
)~",
     ball_and_time,
     R"~(study.toml:2:5: error: measure 'x': logdensity() has no integral or mean, because a shock may make it undefined
  found:    "mean(logdensity())"
  expected: initial, final, minimum, maximum or at of it)~"},
    {"logdensity as a force",
     R"~([system.force]
"ball.x" = "logdensity()"
)~",
     ball_and_time,
     R"(study.toml:2:13: error: [system.force] "ball.x": 'logdensity' cannot be used here
  found:    logdensity
  expected: it stands only in [observe], [measure], [[event]], [[record]] and [time] stop)"},
};

INSTANTIATE_TEST_SUITE_P(Formulas, MalformedStudy, testing::ValuesIn(studies), malformed_name);

}  // namespace
}  // namespace zwang::malformed_formula_test
