// Error messages for malformed TOML, tables, keys and names.
#include "tests/support/malformed.h"

namespace zwang::malformed_toml_test {
namespace {

const std::vector<Malformed> studies = {
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
  hint:     write text of several lines in triple quotes)"},
    {"a table stands twice",
     R"([observe]
[system]
[observe]
)",
     ball_and_time,
     R"(study.toml:3:1: error: not valid TOML (table header): cannot redefine existing table 'observe'
  hint:     every key and [table] may appear once; tables that repeat have double brackets: [[point]])"},
    {"a key stands twice",
     R"([parameters]
g = 1
g = 2
)",
     ball_and_time,
     R"(study.toml:3:5: error: not valid TOML (key-value pair): cannot redefine existing integer 'g'
  hint:     every key and [table] may appear once; tables that repeat have double brackets: [[point]])"},
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
  expected: one of: title, parameters, joint, anchor, point, body, coordinate, auxiliary, system, force, surface, link, contact, constraint, impulse, event, ensemble, time, integrator, observe, measure, given, units, statistics, output, sensitivity and record
  hint:     did you mean 'integrator'?)"},
    {"an unknown key in a table",
     R"([integrator]
rtoll = 1e-9
)",
     ball_and_time,
     R"(study.toml:2:1: error: [integrator]: unknown key 'rtoll'
  expected: one of: method, step, rtol, atol, max_step, max_steps, max_events, precision, contact_tolerance, rest_speed, accumulation_gap and painleve_margin
  hint:     did you mean 'rtol'?)"},
    {"an unknown key in an entry",
     R"([[constraint]]
name = "wall"
require = "ball.x <= 1"
restitutoin = 0.5
)",
     ball_and_time,
     R"(study.toml:4:1: error: constraint 'wall': unknown key 'restitutoin'
  expected: one of: name, require, restitution, from, until, variation, multiplier, friction, friction_static, slip, restitution_tangential, limit, impulse_limit and breaks
  hint:     did you mean 'restitution'?)"},
    {"an unknown key at the top with nothing near it",
     R"(colour = "red"
)",
     ball_and_time,
     R"(study.toml:1:1: error: unknown key 'colour'
  expected: one of: title, parameters, joint, anchor, point, body, coordinate, auxiliary, system, force, surface, link, contact, constraint, impulse, event, ensemble, time, integrator, observe, measure, given, units, statistics, output, sensitivity and record)"},
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
  expected: one of: title, parameters, joint, anchor, point, body, coordinate, auxiliary, system, force, surface, link, contact, constraint, impulse, event, ensemble, time, integrator, observe, measure, given, units, statistics, output, sensitivity and record
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
  expected: a name that is not used yet
  hint:     it is already the name of parameter 'phi' on line 2)"},
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
  expected: a name that is not used yet
  hint:     it is already the name of point 'a' on line 2)"},
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
  expected: a name that is not used yet)"},
    {"an observable whose key is no name",
     R"([observe]
"ball.x" = "ball.x"
)",
     ball_and_time,
     R"(study.toml:2:1: error: observable 'ball.x': not a name
  found:    'ball.x'
  expected: letters, digits and _, beginning with a letter or _)"},
};

INSTANTIATE_TEST_SUITE_P(Toml, MalformedStudy, testing::ValuesIn(studies), malformed_name);

}  // namespace
}  // namespace zwang::malformed_toml_test
