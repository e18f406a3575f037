// Malformed studies, each with the whole message it must give.
//
// A table: long, because every rule of the study file has its line here.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/study.h"

namespace zwang {
namespace {

// What the studies below leave out; it stands behind their own text, so that their lines are counted from 1.
const std::string nothing;
const std::string ball = R"([[point]]
name = "ball"
mass = 1
position = [0, 0]
)";
const std::string time_alone = R"([time]
end = 1
)";
const std::string ball_and_time = ball + time_alone;

std::string message_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    read_study(text, "study.toml", overrides);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

struct Malformed {
  std::string name, text, rest, message;
};

const std::vector<Malformed> malformed_studies = {
    {"a value is missing",
     R"(title =
)",
     ball_and_time,
     R"(study.toml:1:8: error: not valid TOML (key-value pair)
  found:    the end of the line
  expected: value)"},
    {"something stands after a value",
     R"(title = "a" b
)",
     ball_and_time,
     R"(study.toml:1:13: error: not valid TOML (key-value pair)
  found:    'b'
  expected: a comment or whitespace)"},
    {"a string is not closed",
     R"(title = "a
)",
     ball_and_time,
     R"(study.toml:1:11: error: not valid TOML (string)
  found:    the end of the line, or another control character
  expected: the closing quote
  hint:     text of several lines stands in three quotes)"},
    {"a table stands twice",
     R"([observe]
[system]
[observe]
)",
     ball_and_time,
     R"(study.toml:3:1: error: not valid TOML (table header): cannot redefine existing table 'observe'
  hint:     every key and [table] stands once; tables that repeat have two brackets: [[point]])"},
    {"a key stands twice",
     R"([parameters]
g = 1
g = 2
)",
     ball_and_time,
     R"(study.toml:3:5: error: not valid TOML (key-value pair): cannot redefine existing integer 'g'
  hint:     every key and [table] stands once; tables that repeat have two brackets: [[point]])"},
    {"a header is not closed",
     R"([observe
)",
     ball_and_time,
     R"(study.toml:1:9: error: not valid TOML (table header)
  found:    the end of the line
  expected: ']')"},
    {"a number is too large for 64 bits",
     R"([ensemble]
members = 99999999999999999999
)",
     ball_and_time,
     R"(study.toml:2:31: error: not valid TOML (decimal integer): '99999999999999999999' is not representable in 64 bits)"},
    {"an unknown table",
     R"([integrater]
rtol = 1e-9
)",
     ball_and_time,
     R"(study.toml:1:2: error: unknown key 'integrater'
  expected: one of: title, parameters, joint, anchor, point, coordinate, auxiliary, system, constraint, impulse, event, ensemble, time, integrator, observe, measure, statistics and output
  hint:     did you mean 'integrator'?)"},
    {"an unknown key in a table",
     R"([integrator]
rtoll = 1e-9
)",
     ball_and_time,
     R"(study.toml:2:1: error: [integrator]: unknown key 'rtoll'
  expected: one of: method, step, rtol, atol, max_step, max_steps, max_events, precision, contact_tolerance, rest_speed and accumulation_gap
  hint:     did you mean 'rtol'?)"},
    {"an unknown key in an entry",
     R"([[constraint]]
name = "wall"
require = "ball.x <= 1"
restitutoin = 0.5
)",
     ball_and_time,
     R"(study.toml:4:1: error: constraint 'wall': unknown key 'restitutoin'
  expected: one of: name, require, restitution, from, until, variation and multiplier
  hint:     did you mean 'restitution'?)"},
    {"an unknown key at the top with nothing near it",
     R"(colour = "red"
)",
     ball_and_time,
     R"(study.toml:1:1: error: unknown key 'colour'
  expected: one of: title, parameters, joint, anchor, point, coordinate, auxiliary, system, constraint, impulse, event, ensemble, time, integrator, observe, measure, statistics and output)"},
    {"a misspelt table hides names, and formulas that use them are not blamed",
     R"([[points]]
name = "a"
mass = 1
position = [0]
[observe]
x = "a.x"
[[constraint]]
name = "wall"
require = "a.x <= 1"
)",
     time_alone,
     R"(study.toml:1:3: error: unknown key 'points'
  expected: one of: title, parameters, joint, anchor, point, coordinate, auxiliary, system, constraint, impulse, event, ensemble, time, integrator, observe, measure, statistics and output
  hint:     did you mean 'point'?)"},
    {"a repeated table with single brackets",
     R"([point]
name = "ball"
mass = 1
position = [0, 0]
)",
     time_alone,
     R"(study.toml:1:1: error: point: not a list of tables
  found:    a table
  expected: [[point]], once for each point, with double brackets)"},
    {"a single table with double brackets",
     R"([[system]]
potential = "0"
)",
     ball_and_time,
     R"(study.toml:1:1: error: system: not a table
  found:    an array
  expected: [system], once, with single brackets)"},
    {"a table that is a number",
     R"(system = 1
)",
     ball_and_time,
     R"(study.toml:1:10: error: system: not a table
  found:    1
  expected: [system])"},
    {"an entry that is not a table",
     R"(event = [1]
)",
     ball_and_time,
     R"(study.toml:1:10: error: event number 1: not a table
  found:    1
  expected: [[event]], once for each event, with double brackets)"},
    {"a title that is a number",
     R"(title = 1
)",
     ball_and_time,
     R"(study.toml:1:9: error: title: not a string
  found:    1
  expected: a title in quotes)"},
    {"a point without a name",
     R"([[point]]
mass = 1
position = [0, 0]
[observe]
x = "load.x"
)",
     ball_and_time,
     R"(study.toml:1:1: error: point number 1: 'name' is missing
  expected: a name in quotes)"},
    {"a constraint without a name",
     R"~([[constraint]]
require = "ball.x <= 1"
[measure]
n = "count(shock(wall))"
)~",
     ball_and_time,
     R"(study.toml:1:1: error: constraint number 1: 'name' is missing
  expected: a name in quotes)"},
    {"a name that is no name",
     R"([[point]]
name = "my load"
mass = 1
position = [0, 0]
)",
     ball_and_time,
     R"(study.toml:2:8: error: point 'my load': not a name
  found:    'my load'
  expected: letters, digits and _, beginning with a letter or _)"},
    {"a parameter whose key is no name",
     R"([parameters]
my-mass = 1
)",
     ball_and_time,
     R"(study.toml:2:1: error: parameter 'my-mass': not a name
  found:    'my-mass'
  expected: letters, digits and _, beginning with a letter or _)"},
    {"a name that is a number",
     R"([[point]]
name = 1
mass = 1
position = [0, 0]
)",
     ball_and_time,
     R"(study.toml:2:8: error: point number 1, name: not a string
  found:    1
  expected: a name in quotes)"},
    {"a reserved name",
     R"([parameters]
speed = 2
)",
     ball_and_time,
     R"(study.toml:2:1: error: parameter 'speed': the name is reserved
  found:    'speed'
  expected: a name that is not a function of the formula language, t or pi)"},
    {"t cannot be a parameter",
     R"([parameters]
t = 2
)",
     ball_and_time,
     R"(study.toml:2:1: error: parameter 't': the name is reserved
  found:    't'
  expected: a name that is not a function of the formula language, t or pi)"},
    {"one name for a parameter and a coordinate",
     R"([parameters]
phi = 1
[[coordinate]]
name = "phi"
position = 0
[system]
kinetic = "0.5*phi'^2"
)",
     ball_and_time,
     R"(study.toml:4:8: error: coordinate 'phi': the name is taken
  found:    'phi'
  expected: a name of its own
  hint:     it is already the name of parameter 'phi' in line 2)"},
    {"two points of one name",
     R"([[point]]
name = "a"
mass = 1
position = [0, 0]
[[point]]
name = "a"
mass = 1
position = [0, 0]
)",
     ball_and_time,
     R"(study.toml:6:8: error: point 'a': the name is taken
  found:    'a'
  expected: a name of its own
  hint:     it is already the name of point 'a' in line 2)"},
    {"two constraints of one name",
     R"([[constraint]]
name = "floor"
require = "ball.y >= 0"
[[constraint]]
name = "floor"
require = "ball.x >= 0"
)",
     ball_and_time,
     R"(study.toml:5:8: error: constraint 'floor': the name is taken
  found:    'floor'
  expected: a name of its own)"},
    {"an observable whose key is no name",
     R"([observe]
"ball.x" = "ball.x"
)",
     ball_and_time,
     R"(study.toml:2:1: error: observable 'ball.x': not a name
  found:    'ball.x'
  expected: letters, digits and _, beginning with a letter or _)"},
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
  expected: a number, a formula in quotes, or a distribution such as { uniform = [0, 1] })"},
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
  expected: it stands only in [observe] and [measure])"},
    {"a mean of logdensity",
     R"~([measure]
x = "mean(logdensity())"
)~",
     ball_and_time,
     R"~(study.toml:2:5: error: measure 'x': logdensity() has no integral or mean: a shock may end it
  found:    "mean(logdensity())"
  expected: initial, final, minimum, maximum or at of it)~"},
    {"logdensity as a force",
     R"~([system.force]
"ball.x" = "logdensity()"
)~",
     ball_and_time,
     R"(study.toml:2:13: error: [system.force] "ball.x": 'logdensity' cannot be used here
  found:    logdensity
  expected: it stands only in [observe] and [measure])"},
    {"an unknown distribution",
     R"([parameters]
a = { unifrom = [0, 1] }
)",
     ball_and_time,
     R"(study.toml:2:7: error: parameter 'a': unknown key 'unifrom'
  expected: one of: uniform, normal, lognormal, triangular, exponential, choice, grid, file and column
  hint:     did you mean 'uniform'?)"},
    {"two distributions at once",
     R"([parameters]
a = { uniform = [0, 1], normal = { mean = 0, std = 1 } }
)",
     ball_and_time,
     R"(study.toml:2:5: error: parameter 'a': more than one distribution
  found:    uniform and normal
  expected: one distribution)"},
    {"an empty distribution",
     R"([parameters]
a = {}
)",
     ball_and_time,
     R"(study.toml:2:5: error: parameter 'a': not a distribution
  found:    an empty table
  expected: one of: uniform, normal, lognormal, triangular, exponential, choice, grid or file)"},
    {"a uniform distribution backwards",
     R"([parameters]
a = { uniform = [2, 1] }
)",
     ball_and_time,
     R"(study.toml:2:17: error: parameter 'a', uniform: the ends are in the wrong order
  found:    2, 1
  expected: [a, b] with a <= b)"},
    {"a uniform distribution with one end",
     R"([parameters]
a = { uniform = [2] }
)",
     ball_and_time,
     R"(study.toml:2:17: error: parameter 'a', uniform: wrong number of entries
  found:    1
  expected: uniform = [a, b])"},
    {"a uniform distribution that is a table",
     R"([parameters]
a = { uniform = { low = 0, high = 1 } }
)",
     ball_and_time,
     R"(study.toml:2:17: error: parameter 'a', uniform: not an array
  found:    a table
  expected: uniform = [a, b])"},
    {"a negative standard deviation",
     R"([parameters]
s = -1
a = { normal = { mean = 0, std = "s" } }
)",
     ball_and_time,
     R"(study.toml:3:16: error: parameter 'a', normal: a negative standard deviation
  found:    0, -1
  expected: mean, std with std >= 0)"},
    {"a normal distribution without std",
     R"([parameters]
a = { normal = { mean = 0 } }
)",
     ball_and_time,
     R"(study.toml:2:16: error: parameter 'a', normal: 'std' is missing
  expected: a number or a formula for 'std')"},
    {"a lognormal distribution with a misspelt key",
     R"([parameters]
a = { lognormal = { mean = 0, sdt = 1 } }
)",
     ball_and_time,
     R"(study.toml:2:19: error: parameter 'a', lognormal: 'std' is missing
  expected: a number or a formula for 'std'
study.toml:2:31: error: parameter 'a', lognormal: unknown key 'sdt'
  expected: one of: mean and std)"},
    {"a triangle whose top is outside",
     R"([parameters]
a = { triangular = [0, 3, 2] }
)",
     ball_and_time,
     R"(study.toml:2:20: error: parameter 'a', triangular: the numbers are in the wrong order
  found:    0, 3, 2
  expected: [a, m, b] with a <= m <= b)"},
    {"an exponential distribution without a positive mean",
     R"([parameters]
a = { exponential = { mean = 0 } }
)",
     ball_and_time,
     R"(study.toml:2:21: error: parameter 'a', exponential: the mean is not positive
  found:    0
  expected: mean > 0)"},
    {"an empty choice",
     R"([parameters]
a = { choice = [] }
)",
     ball_and_time,
     R"(study.toml:2:16: error: parameter 'a', choice: wrong number of entries
  found:    0
  expected: choice = [..])"},
    {"a choice of words",
     R"([parameters]
a = { choice = ["red", "green"] }
)",
     ball_and_time,
     R"(study.toml:2:18: error: parameter 'a', choice entry 1: unknown name 'red'
  found:    red
  expected: a name defined in this study
study.toml:2:25: error: parameter 'a', choice entry 2: unknown name 'green'
  found:    green
  expected: a name defined in this study)"},
    {"a grid of no points",
     R"([parameters]
a = { grid = [0, 1, 0] }
)",
     ball_and_time,
     R"(study.toml:2:21: error: parameter 'a', grid entry 3: out of range
  found:    0
  expected: a whole number from 1 to 1000000000000)"},
    {"a grid of half a point",
     R"([parameters]
a = { grid = [0, 1, 2.5] }
)",
     ball_and_time,
     R"(study.toml:2:21: error: parameter 'a', grid entry 3: not a whole number
  found:    2.5
  expected: a whole number from 1 to 1000000000000)"},
    {"an infinite end",
     R"([parameters]
a = { uniform = [0, inf] }
)",
     ball_and_time,
     R"(study.toml:2:21: error: parameter 'a', uniform entry 2: not a finite number
  found:    inf
  expected: a finite number, or a formula in quotes)"},
    {"a column without a file",
     R"([parameters]
a = { uniform = [0, 1], column = "x" }
)",
     ball_and_time,
     R"(study.toml:2:34: error: parameter 'a', column: only a file has columns
  found:    "x"
  expected: no column, or file = "...")"},
    {"a file without a column",
     R"([parameters]
a = { file = "states.csv" }
)",
     ball_and_time,
     R"(study.toml:2:5: error: parameter 'a': 'column' is missing
  expected: the name of a column of the file)"},
    {"a distribution that uses a later parameter",
     R"([parameters]
a = { uniform = [0, "b"] }
b = 1
)",
     ball_and_time,
     R"(study.toml:2:22: error: parameter 'a', uniform entry 2: 'b' is defined later
  found:    b
  expected: parameters defined before this one
  hint:     parameters are read from top to bottom)"},
    {"grids and members that do not agree",
     R"([parameters]
a = { grid = [0, 1, 3] }
b = { grid = [0, 1, 4] }
[ensemble]
members = 13
)",
     ball_and_time,
     R"(study.toml:5:11: error: [ensemble] members: not the number of points of the grids
  found:    13
  expected: 12: the product of all grids
  hint:     leave it out, and it is that number)"},
    {"grids, the nominal member and members that do not agree",
     R"([parameters]
a = { grid = [0, 1, 3] }
[ensemble]
members = 3
include_nominal = true
)",
     ball_and_time,
     R"(study.toml:4:11: error: [ensemble] members: not the number of points of the grids
  found:    3
  expected: 4: the product of all grids, and the nominal member
  hint:     leave it out, and it is that number)"},
    {"a distribution as a mass",
     R"([[point]]
name = "a"
mass = { uniform = [1, 2] }
position = [0, 0]
)",
     ball_and_time,
     R"(study.toml:3:8: error: point 'a', mass: neither a number nor a formula
  found:    a table
  expected: a number, or a formula in quotes
  hint:     give a distribution a name in [parameters], and write that name here)"},
    {"a nominal member that cannot be drawn",
     R"([parameters]
s = { uniform = [-2, -1] }
a = { normal = { mean = 0, std = "s" } }
)",
     ball_and_time,
     R"(study.toml: error: 'a' of the nominal member: the numbers of its distribution are impossible
  found:    normal = { mean = 0, std = -1.5 }
  expected: finite mean and std, std >= 0)"},
    {"a joint with a matrix of the wrong size",
     R"([[joint]]
names = ["a", "b"]
mean = [0, 0, 0]
covariance = [[1, 0], [0]]
)",
     ball_and_time,
     R"(study.toml:3:8: error: joint number 1, mean: wrong number of entries
  found:    3
  expected: 2 numbers, one for each name
study.toml:4:23: error: joint number 1, covariance entry 2: wrong number of entries
  found:    1
  expected: 2 numbers, one for each name)"},
    {"a covariance that is not symmetric",
     R"([[joint]]
names = ["a", "b"]
mean = [0, 0]
covariance = [[1, 0.5], [0.4, 1]]
)",
     ball_and_time,
     R"(study.toml:4:14: error: joint number 1, covariance: not symmetric
  found:    0.5 in row 1, 0.4 in row 2
  expected: the covariance of 'a' and 'b' twice the same)"},
    {"a covariance with a negative eigenvalue",
     R"([[joint]]
names = ["a", "b"]
mean = [0, 0]
covariance = [[1, 2], [2, 1]]
)",
     ball_and_time,
     R"(study.toml:4:14: error: joint number 1, covariance: not a covariance
  found:    an eigenvalue of about -1
  expected: no negative eigenvalue)"},
    {"a joint without names",
     R"([[joint]]
mean = [0]
covariance = [[1]]
)",
     ball_and_time,
     R"(study.toml:1:1: error: joint number 1: 'names' is missing
  expected: the names of the parameters)"},
    {"a parameter drawn twice",
     R"([parameters]
a = { uniform = [0, 1] }
[[joint]]
names = ["a"]
mean = [0]
covariance = [[1]]
)",
     ball_and_time,
     R"(study.toml:2:5: error: parameter 'a': also drawn by a [[joint]]
  found:    a table
  expected: a plain number, which the joint replaces, or no entry)"},
    {"a parameter that uses a joint drawn after it",
     R"([parameters]
m = 1
c = "2*a"
[[joint]]
names = ["a"]
mean = ["m"]
covariance = [[1]]
)",
     ball_and_time,
     R"(study.toml:3:8: error: parameter 'c': 'a' is drawn by a [[joint]] with formulas, after all of [parameters]
  found:    a
  expected: parameters defined before this one
  hint:     a joint of plain numbers is drawn before [parameters])"},
    {"a name in two joints",
     R"([[joint]]
names = ["a"]
mean = [0]
covariance = [[1]]
[[joint]]
names = ["a"]
mean = [0]
covariance = [[1]]
)",
     ball_and_time,
     R"(study.toml:6:10: error: joint parameter 'a': the name is taken
  found:    'a'
  expected: a name of its own
  hint:     it is already the name of joint parameter 'a' in line 2)"},
    {"nothing that moves",
     R"(title = "empty"
)",
     time_alone,
     R"(study.toml: error: nothing here can move
  expected: at least one [[point]] or [[coordinate]])"},
    {"a point without mass and position",
     R"([[point]]
name = "a"
)",
     ball_and_time,
     R"(study.toml:1:1: error: point 'a': 'mass' is missing
  expected: a number or a formula of parameters
study.toml:1:1: error: point 'a': 'position' is missing
  expected: 1, 2 or 3 numbers: the point's coordinates)"},
    {"a mass that is not positive",
     R"([parameters]
m = -2
[[point]]
name = "a"
mass = "m"
position = [0, 0]
[[point]]
name = "b"
mass = 0
position = [0, 0]
)",
     ball_and_time,
     R"(study.toml:5:8: error: point 'a', mass: a mass must be positive
  found:    -2
  expected: a finite number > 0
study.toml:9:8: error: point 'b', mass: a mass must be positive
  found:    0
  expected: a finite number > 0)"},
    {"a mass that is not positive at the nominal member",
     R"([parameters]
m = { uniform = [-2, 1] }
[[point]]
name = "a"
mass = "m"
position = [0, 0]
)",
     ball_and_time,
     R"(study.toml:5:8: error: point 'a', mass: a mass must be positive
  found:    -0.5 at the nominal member, every distribution at its centre
  expected: a finite number > 0)"},
    {"a point in four dimensions",
     R"([[point]]
name = "a"
mass = 1
position = [0, 0, 0, 0]
[observe]
x = "a.x"
)",
     ball_and_time,
     R"(study.toml:4:12: error: point 'a', position: wrong number of entries
  found:    4
  expected: 1, 2 or 3 numbers: the point's coordinates)"},
    {"a position that is a number",
     R"~([[point]]
name = "a"
mass = 1
position = 0
[observe]
x = "a.x + distance(a, ball)"
)~",
     ball_and_time,
     R"(study.toml:4:12: error: point 'a', position: not an array
  found:    0
  expected: 1, 2 or 3 numbers: the point's coordinates)"},
    {"a velocity of another dimension",
     R"([[point]]
name = "a"
mass = 1
position = [0, 0]
velocity = [1]
)",
     ball_and_time,
     R"(study.toml:5:12: error: point 'a', velocity: wrong number of entries
  found:    1
  expected: 2 numbers, as many as in position)"},
    {"a position that uses a coordinate",
     R"([[point]]
name = "a"
mass = 1
position = [0, "ball.x"]
)",
     ball_and_time,
     R"(study.toml:4:17: error: point 'a', position entry 2: coordinates cannot be used here
  found:    ball.x
  expected: only numbers and parameters here)"},
    {"an anchor that uses a coordinate",
     R"([[anchor]]
name = "a"
position = [0, "ball.x"]
)",
     ball_and_time,
     R"(study.toml:3:17: error: anchor 'a', position entry 2: coordinates cannot be used here
  found:    ball.x
  expected: only numbers, parameters and t here)"},
    {"an anchor that uses a later anchor",
     R"([[anchor]]
name = "a"
position = [0, "b.x"]
[[anchor]]
name = "b"
position = [0, "a.x"]
)",
     ball_and_time,
     R"(study.toml:3:17: error: anchor 'a', position entry 2: coordinates cannot be used here
  found:    b.x
  expected: only numbers, parameters and t here)"},
    {"a coordinate without a position",
     R"([[coordinate]]
name = "phi"
[system]
kinetic = "phi'^2"
)",
     ball_and_time,
     R"(study.toml:1:1: error: coordinate 'phi': 'position' is missing
  expected: a number, a formula of parameters, or a distribution)"},
    {"a coordinate without kinetic energy",
     R"([[coordinate]]
name = "phi"
position = 0
)",
     ball_and_time,
     R"(study.toml:1:1: error: coordinate 'phi': has no kinetic energy
  expected: a square of phi' in [system] kinetic
  hint:     for a state without inertia use [[auxiliary]])"},
    {"a motion without kinetic energy",
     R"([[coordinate]]
name = "a"
position = 0
[[coordinate]]
name = "b"
position = 0
[system]
kinetic = "0.5*(a' + b')^2"
)",
     ball_and_time,
     R"(study.toml:8:11: error: [system] kinetic: the mass matrix is not positive definite
  found:    a motion of a' and b' without kinetic energy
  expected: kinetic energy > 0 for every motion at the start of the nominal member)"},
    {"a negative kinetic energy",
     R"([[coordinate]]
name = "a"
position = 0
[system]
kinetic = "-0.5*a'^2"
)",
     ball_and_time,
     R"(study.toml:5:11: error: [system] kinetic: the mass matrix is not positive definite
  found:    -1 for the square of a'
  expected: kinetic energy > 0 for every motion at the start of the nominal member)"},
    {"a kinetic energy that is infinite at the start",
     R"([[coordinate]]
name = "a"
position = 0
[system]
kinetic = "0.5*a'^2/a"
)",
     ball_and_time,
     R"(study.toml:5:11: error: [system] kinetic: the mass matrix is not finite
  found:    inf for the square of a'
  expected: kinetic energy > 0 for every motion at the start of the nominal member)"},
    {"a kinetic energy of the third degree",
     R"([[coordinate]]
name = "a"
position = 0
[system]
kinetic = "a'^3"
)",
     ball_and_time,
     R"(study.toml:5:11: error: [system] kinetic: not quadratic in the velocities
  found:    "a'^3"
  expected: at most squares and products of velocities
  hint:     write squares out, as in 0.5*m*(x'^2 + y'^2); abs, sqrt, hypot and speed hide them)"},
    {"a kinetic energy that hides its squares",
     R"([system]
kinetic = "0.5*speed(ball)^3"
)",
     ball_and_time,
     R"(study.toml:2:11: error: [system] kinetic: not quadratic in the velocities
  found:    "0.5*speed(ball)^3"
  expected: at most squares and products of velocities
  hint:     write squares out, as in 0.5*m*(x'^2 + y'^2); abs, sqrt, hypot and speed hide them)"},
    {"a potential that uses velocities",
     R"([system]
potential = "ball.x'"
)",
     ball_and_time,
     R"(study.toml:2:14: error: [system] potential: velocities cannot be used here
  found:    ball.x'
  expected: only numbers, parameters, t and coordinates here)"},
    {"an auxiliary without a rate",
     R"([[auxiliary]]
name = "p"
initial = 0
)",
     ball_and_time,
     R"(study.toml:1:1: error: auxiliary 'p': 'rate' is missing
  expected: a formula: the time derivative of the state)"},
    {"an auxiliary state with a prime",
     R"([[auxiliary]]
name = "p"
initial = 0
rate = "-p'"
)",
     ball_and_time,
     R"(study.toml:4:10: error: auxiliary 'p', rate: 'p' has no velocity
  found:    p'
  expected: a coordinate before the prime)"},
    {"gravity of another dimension",
     R"([system]
gravity = [0, 0, -9.81]
)",
     ball_and_time,
     R"(study.toml:2:11: error: [system] gravity: wrong number of entries
  found:    3
  expected: as many as every point has coordinates; 'ball' has 2)"},
    {"gravity without points",
     R"([[coordinate]]
name = "a"
position = 0
[system]
kinetic = "a'^2"
gravity = [1]
)",
     time_alone,
     R"(study.toml:6:11: error: [system] gravity: gravity acts on points, and there are none
  found:    an array
  expected: at least one [[point]]
  hint:     for coordinates write a potential)"},
    {"a force on something that is no coordinate",
     R"([system.force]
"bal.x" = 1
)",
     ball_and_time,
     R"(study.toml:2:1: error: [system.force] "bal.x": not a coordinate
  found:    'bal.x'
  expected: the name of a coordinate
  hint:     did you mean 'ball.x'?)"},
    {"a force on a point",
     R"([system.force]
ball = 1
)",
     ball_and_time,
     R"(study.toml:2:1: error: [system.force] "ball": not a coordinate
  found:    'ball'
  expected: the name of a coordinate
  hint:     a point has one force for each coordinate: "ball.x")"},
    {"a force whose key lacks its quotes",
     R"([system.force]
ball.x = 1
)",
     ball_and_time,
     R"(study.toml:2:1: error: [system.force] "ball": not a coordinate
  found:    'ball'
  expected: the name of a coordinate
  hint:     a key with a dot stands in quotes: "ball.x")"},
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
     R"(study.toml:3:11: error: constraint 'wall', require: mentions no coordinate
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
     R"(study.toml:9:11: error: constraint 'rope', require: mentions no coordinate
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
     R"(study.toml:3:11: error: constraint 'wall', require: its gradient is zero everywhere, so that it cannot restrict the motion
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
  found:    -1 at the nominal member, every distribution at its centre
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
  hint:     leave it out for a condition in force from the start)"},
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
     R"(study.toml:4:14: error: constraint 'wall', multiplier: the multiplier of a special condition follows from the motion
  found:    0.5
  expected: no multiplier, or variation = "general" beside it)"},
    {"an inequality varied generally",
     R"([[constraint]]
name = "wall"
require = "ball.x <= 1"
variation = "general"
)",
     ball_and_time,
     R"(study.toml:4:13: error: constraint 'wall', variation: an inequality cannot be varied generally
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
     R"(study.toml:5:1: error: constraint 'wall': an inequality has no rule beside a condition with variation = "general" (constraint 'rail', variation)
  found:    <= or >=
  expected: equations only
  hint:     give every condition variation = "special" to keep the inequality
study.toml:8:1: error: constraint 'late': a condition imposed on the way, by a shock, has no rule beside a condition with variation = "general" (constraint 'rail', variation)
  found:    from
  expected: no from: in force from the start
study.toml:12:1: error: impulse number 1: an impulse has no rule beside a condition with variation = "general" (constraint 'rail', variation)
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
  found:    cone.multiplier = 9 at the nominal member, every distribution at its centre
  expected: multipliers nearer to 0)"},
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
    {"an impulse without its time, target and size",
     R"([[impulse]]
)",
     ball_and_time,
     R"(study.toml:1:1: error: impulse number 1: 'at' is missing
  expected: the time of the impulse
study.toml:1:1: error: impulse number 1: neither velocity nor momentum
  expected: what the free body would gain: either velocity = [..] or momentum = [..]
study.toml:1:1: error: impulse number 1: 'on' is missing
  expected: the name of a point or a coordinate)"},
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
     R"(study.toml:6:6: error: impulse number 1, on: an anchor moves as it is told
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
  expected: what the free body would gain: either velocity = [..] or momentum = [..])"},
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
     R"(study.toml:2:6: error: measure 'x': a measure reduces over time
  found:    ball
  expected: one of initial, final, minimum, maximum, mean, integral, count, first, last, total or at as the outermost function)"},
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
    {"something around a measure",
     R"~([measure]
x = "2*final(ball.x)"
)~",
     ball_and_time,
     R"(study.toml:2:6: error: measure 'x': a measure reduces over time
  found:    2
  expected: one of initial, final, minimum, maximum, mean, integral, count, first, last, total or at as the outermost function)"},
    {"a reduction in an observable",
     R"~([observe]
x = "final(ball.x)"
)~",
     ball_and_time,
     R"(study.toml:2:6: error: observable 'x': 'final' reduces over time
  found:    final
  expected: reductions only as the outermost function of a [measure])"},
    {"a measure that is a number",
     R"([measure]
x = 1
)",
     ball_and_time,
     R"~(study.toml:2:5: error: measure 'x': not a string
  found:    1
  expected: a measure in quotes, such as "final(load.x)")~"},
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
study.toml:2:9: error: [ensemble] until: 'relative_stderr' is missing
  expected: a number > 0, as in { measure = "NAME", relative_stderr = 0.01 }
study.toml:2:11: error: [ensemble] until: unknown key 'relative_error'
  expected: one of: measure and relative_stderr)"},
    {"a goal beside a grid",
     R"toml([parameters]
push = { grid = [0, 1, 5] }
[ensemble]
until = { measure = "highest", relative_stderr = 0.1 }
[measure]
highest = "maximum(ball.x)"
)toml",
     ball_and_time,
     R"(study.toml:4:9: error: [ensemble] until: a grid has to be run to its end
  found:    until beside a grid
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
     R"(study.toml:3:11: error: [time] samples: samples and at exclude each other
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
  expected: "auto", "tsit5", "dop853" or "rk4"
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
     R"(study.toml:4:11: error: [statistics] histogram.heigth: nothing of that name is observed
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
study.toml:5:23: error: [output] trajectories entry 3: the member stands there twice
  found:    0
  expected: every member once)"},
    {"several mistakes are reported together, in the order of the file",
     R"([parameters]
g = "9.81 +"
L = -2
[[point]]
name = "load"
mass = 0
position = [0, 0]
[[constraint]]
name = "cable"
require = "distance(load, ball) <= L"
restitution = 2
[observe]
height = "load.z"
weight = "g*ball.y"
[ensemble]
membres = 3
)",
     ball_and_time,
     R"(study.toml:2:12: error: parameter 'g': the formula cannot go on like this
  found:    the end of the formula
  expected: a number, a name or '('
study.toml:6:8: error: point 'load', mass: a mass must be positive
  found:    0
  expected: a finite number > 0
study.toml:10:36: error: constraint 'cable', require: a distance must be compared with something positive
  found:    -2
  expected: a number > 0
  hint:     for points that must coincide write their coordinates: a.x == b.x
study.toml:11:15: error: constraint 'cable', restitution: a restitution lies between 0 and 1
  found:    2
  expected: a number from 0 to 1
study.toml:13:11: error: observable 'height': unknown name 'load.z'
  found:    load.z
  expected: a name defined in this study
  hint:     did you mean 'load.x'?
study.toml:16:1: error: [ensemble]: unknown key 'membres'
  expected: one of: members, seed, sampler, include_nominal, consistency and until
  hint:     did you mean 'members'?)"},
    {"empty names",
     R"([[point]]
name = ""
mass = 1
position = [0]
[[constraint]]
name = ""
require = "ball.x <= 1"
)",
     ball_and_time,
     R"(study.toml:1:1: error: point '': not a name
  found:    an empty string
  expected: letters, digits and _, beginning with a letter or _
study.toml:5:1: error: constraint '': not a name
  found:    an empty string
  expected: letters, digits and _, beginning with a letter or _)"},
    {"a broken anchor is not reported by those who use it",
     R"([[anchor]]
name = "hook"
position = ["2*", 0]
[[event]]
name = "gate"
when = "hook.x - 1"
[[constraint]]
name = "rope"
require = "hook.x <= 1"
)",
     ball_and_time,
     R"(study.toml:3:16: error: anchor 'hook', position entry 1: the formula cannot go on like this
  found:    the end of the formula
  expected: a number, a name or '(')"},
};

class MalformedStudy : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedStudy, is_told_where_and_why) {
  EXPECT_EQ(message_of(GetParam().text + GetParam().rest), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Table, MalformedStudy, testing::ValuesIn(malformed_studies), [](const auto& test) {
  std::string name = test.param.name;
  std::erase_if(name, [](char c) { return c == ',' || c == '-'; });
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

struct Override {
  std::string assignment, message;
};

const std::vector<Override> malformed_overrides = {
    {R"(parameters.g)",
     R"(--set: error: parameters.g: there is no '='
  expected: path.to.key=value)"},
    {R"(=1)",
     R"(--set: error: =1: an empty name in the path
  expected: path.to.key=value)"},
    {R"(parameters..g=1)",
     R"(--set: error: parameters..g=1: an empty name in the path
  expected: path.to.key=value)"},
    {R"(parameters."g=1)",
     R"(--set: error: parameters."g=1: a quote is not closed
  found:    "
  expected: path.to.key=value)"},
    {R"(parameters.g=)",
     R"(--set: error: parameters.g: the formula cannot go on like this
  found:    the end of the formula
  expected: a number, a name or '(')"},
    {R"(parameters.g=2*)",
     R"(--set: error: parameters.g: the formula cannot go on like this
  found:    the end of the formula
  expected: a number, a name or '(')"},
    {R"(parameters.g={ uniform = [2, 1] })",
     R"(--set: error: parameters.g, uniform: the ends are in the wrong order
  found:    2, 1
  expected: [a, b] with a <= b)"},
    {R"(paramters.g=1)",
     R"(--set: error: paramters.g: unknown key 'paramters'
  expected: one of: title, parameters, joint, anchor, point, coordinate, auxiliary, system, constraint, impulse, event, ensemble, time, integrator, observe, measure, statistics and output
  hint:     did you mean 'parameters'?)"},
    {R"(parameters.a b=1)",
     R"(--set: error: parameters.a b: not a name
  found:    'a b'
  expected: letters, digits and _, beginning with a letter or _)"},
    {R"(constraint.wal.restitution=0.5)",
     R"(--set: error: constraint.wal.restitution: there is no entry 'wal'
  expected: 0, or one of: wall
  hint:     did you mean 'wall'?)"},
    {R"(constraint.7.restitution=0.5)",
     R"(--set: error: constraint.7.restitution: there is no entry '7'
  expected: 0, or one of: wall)"},
    {R"(constraint.wall.restitution=2)",
     R"(--set: error: constraint.wall.restitution: a restitution lies between 0 and 1
  found:    2
  expected: a number from 0 to 1)"},
    {R"(constraint.wall.restitutoin=0.5)",
     R"(--set: error: constraint.wall.restitutoin: unknown key 'restitutoin'
  expected: one of: name, require, restitution, from, until, variation and multiplier
  hint:     did you mean 'restitution'?)"},
    {R"(point.ball.position.2=1)",
     R"(--set: error: point.ball.position.2: there is no entry '2'
  expected: a number from 0 to 1)"},
    {R"(point.ball.mass=-1)",
     R"(--set: error: point.ball.mass: a mass must be positive
  found:    -1
  expected: a finite number > 0)"},
    {R"(time.end=-1)",
     R"(--set: error: time.end: out of range
  found:    -1
  expected: a finite time > 0)"},
    {R"(time.end.x=5)",
     R"(--set: error: time.end.x: the path goes on, but there is no table
  found:    1
  expected: a path to a key of the study)"},
    {R"(time=5)",
     R"(--set: error: time: not a table
  found:    5
  expected: [time])"},
    {R"(point=5)",
     R"(--set: error: point: not a list of tables
  found:    5
  expected: [[point]], once for each point, with double brackets)"},
    {R"(impulse.0.at=1)",
     R"(--set: error: impulse.0.at: not a list of tables
  found:    a table
  expected: [[impulse]], once for each impulse, with double brackets)"},
    {R"(system.force.ball.x=-ball.x)",
     R"(--set: error: system.force.ball.x: not a coordinate
  found:    'ball'
  expected: the name of a coordinate
  hint:     a key with a dot stands in quotes: "ball.x")"},
    {R"(observe.x=ball.q)",
     R"(--set: error: observe.x: unknown name 'ball.q'
  found:    ball.q
  expected: a name defined in this study
  hint:     did you mean 'ball.x'?)"},
    {R"(ensemble.members=many)",
     R"(--set: error: ensemble.members: not a whole number
  found:    "many"
  expected: a whole number from 1 to 1000000000000)"},
    {R"(a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s=1)",
     R"(--set: error: a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s=1: the path is too long
  expected: path.to.key=value)"},
};

TEST(MalformedOverride, names_its_path) {
  const std::string study = R"([parameters]
g = 9.81
[system.force]
"ball.x" = 1
[[constraint]]
name = "wall"
require = "ball.x <= 1"
)" + ball_and_time;
  for (const Override& one : malformed_overrides) EXPECT_EQ(message_of(study, {one.assignment}), one.message);
}

// --- Sizes: nothing a file can hold may bring the program down ---

TEST(OversizedStudy, ten_thousand_parentheses_are_too_many) {
  const std::string text =
      "[observe]\nx = \"" + std::string(10000, '(') + "1" + std::string(10000, ')') + "\"\n";
  EXPECT_EQ(message_of(text + ball_and_time),
            R"(study.toml:2:207: error: observable 'x': the formula is nested too deeply
  found:    (
  expected: at most 200 parentheses, calls or exponents inside one another)");
}

TEST(OversizedStudy, ten_megabytes_are_no_formula) {
  const std::string text = "[observe]\nx = \"1" + std::string(10 << 20, ' ') + "+ 1\"\n";
  EXPECT_EQ(message_of(text + ball_and_time),
            R"(study.toml:2:6: error: observable 'x': the formula is too long
  found:    10485764 characters
  expected: at most 200000 characters)");
}

TEST(OversizedStudy, a_long_sum_is_no_deep_formula) {
  std::string sum = "1";
  for (int i = 0; i < 40000; ++i) sum += "+t";
  EXPECT_EQ(message_of("[observe]\nx = \"" + sum + "\"\n" + ball_and_time), "no error");
}

TEST(OversizedStudy, deep_nesting_is_refused_before_it_is_parsed) {
  const std::string too_deep = R"(: error: tables or arrays are nested too deeply
  expected: at most 32 brackets inside one another and 16 dots in a key)";
  EXPECT_EQ(message_of("a = " + std::string(100000, '[') + std::string(100000, ']') + "\n"),
            "study.toml:1:37" + too_deep);
  std::string tables, key = "a";
  for (int i = 0; i < 100000; ++i) {
    tables += "{a=";
    key += ".a";
  }
  EXPECT_EQ(message_of("a = " + tables + "\n"), "study.toml:1:101" + too_deep);
  EXPECT_EQ(message_of(key + " = 1\n"), "study.toml:1:34" + too_deep);
  EXPECT_EQ(message_of("[" + key + "]\n"), "study.toml:1:35" + too_deep);
}

TEST(OversizedStudy, a_study_beyond_the_size_limit_is_refused) {
  EXPECT_EQ(message_of(std::string((16 << 20) + 1, '\n')), R"(study.toml: error: the study is too large
  found:    16777217 bytes
  expected: at most 16777216 bytes
  hint:     many numbers belong into a CSV file, drawn with { file = ..., column = ... })");
}

TEST(OversizedStudy, too_many_values_are_refused) {
  std::string text = "[output]\ntrajectories = [0";
  for (int i = 0; i < 1000000; ++i) text += ",0";
  EXPECT_EQ(message_of(text + "]\n" + ball_and_time), R"(study.toml: error: too many values
  expected: at most 1000000 values in one study)");
}

TEST(OversizedStudy, too_many_coordinates_are_refused) {
  std::string text;
  for (int i = 0; i < 1366; ++i)
    text += "[[point]]\nname = \"p" + std::to_string(i) + "\"\nmass = 1\nposition = [0, 0, 0]\n";
  EXPECT_EQ(message_of(text + time_alone), R"(study.toml: error: too many coordinates and auxiliary states
  found:    4098
  expected: at most 4096)");
}

TEST(OversizedStudy, too_many_constraints_are_refused) {
  std::string text;
  for (int i = 0; i < 4097; ++i)
    text += "[[constraint]]\nname = \"c" + std::to_string(i) + "\"\nrequire = \"ball.x <= 1\"\n";
  EXPECT_EQ(message_of(text + ball_and_time), R"(study.toml: error: too many constraints
  found:    4097
  expected: at most 4096)");
}

TEST(OversizedStudy, a_flood_of_mistakes_is_cut_short) {
  std::string text = "[observe]\n";
  for (int i = 0; i < 1000; ++i) text += "x" + std::to_string(i) + " = \"q\"\n";
  const std::string message = message_of(text + ball_and_time);
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 50 * 3);
  EXPECT_TRUE(message.ends_with("study.toml:51:8: error: and 950 more problems")) << message;
}

// --- Bytes ---

TEST(StudyBytes, bytes_that_are_not_text_are_refused) {
  EXPECT_EQ(message_of("title = \"\xff\"\n" + ball_and_time),
            "study.toml:1:9: error: not valid TOML: the text is not UTF-8");
  EXPECT_EQ(message_of("\xff = 1\n" + ball_and_time),
            R"(study.toml:1:1: error: not valid TOML: a character that cannot stand here
  found:    byte 255
  expected: such characters only in quotes and comments)");
  EXPECT_EQ(message_of(std::string("title = \"a\0b\"\n", 14) + ball_and_time),
            R"(study.toml:1:11: error: not valid TOML (string)
  found:    the end of the line, or another control character
  expected: the closing quote
  hint:     text of several lines stands in three quotes)");
}

TEST(StudyBytes, characters_beyond_ascii_stand_only_in_quotes_and_comments) {
  EXPECT_EQ(message_of("title = \"é\" # é\n" + ball_and_time), "no error");
  EXPECT_EQ(message_of("title = \"é\"\nmasse_é = 1\n" + ball_and_time),
            R"(study.toml:2:7: error: not valid TOML: a character that cannot stand here
  found:    é
  expected: such characters only in quotes and comments)");
}

TEST(StudyBytes, windows_line_ends_do_not_move_the_place) {
  EXPECT_EQ(message_of("title = \"a\"\r\n[observe]\r\nx = \"1 + q\"\r\n" + ball_and_time),
            R"(study.toml:3:10: error: observable 'x': unknown name 'q'
  found:    q
  expected: a name defined in this study)");
}

}  // namespace
}  // namespace zwang
