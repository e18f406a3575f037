// Studies with several mistakes, malformed overrides on the command line, oversized studies and invalid
// bytes.
#include "tests/support/malformed.h"

namespace zwang::malformed_test {

TEST_P(MalformedStudy, is_told_where_and_why) {
  EXPECT_EQ(message_of(GetParam().text + GetParam().rest), GetParam().message);
}

namespace {

const std::vector<Malformed> studies = {
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
  expected: one of: members, members_per_point, streams, seed, sampler, include_nominal, consistency and until
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

INSTANTIATE_TEST_SUITE_P(Several, MalformedStudy, testing::ValuesIn(studies), malformed_name);

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
  expected: one of: title, parameters, joint, anchor, point, body, coordinate, auxiliary, system, force, surface, link, contact, constraint, impulse, event, ensemble, time, integrator, observe, measure, given, units, statistics, output, sensitivity and record
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
  expected: one of: name, require, restitution, from, until, variation, multiplier, friction, friction_static, slip, restitution_tangential, limit, impulse_limit and breaks
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
     R"(--set: error: time.end.x: the path continues below a value that is not a table
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
  hint:     write a key with a dot in quotes: "ball.x")"},
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

// --- Sizes: no file may crash the program ---

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
  hint:     put many numbers into a CSV file and draw them with { file = ..., column = ... })");
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
            R"(study.toml:1:1: error: not valid TOML: a character that is not allowed here
  found:    byte 255
  expected: such characters only in quotes and comments)");
  EXPECT_EQ(message_of(std::string("title = \"a\0b\"\n", 14) + ball_and_time),
            R"(study.toml:1:11: error: not valid TOML (string)
  found:    the end of the line, or another control character
  expected: the closing quote
  hint:     write text of several lines in triple quotes)");
}

TEST(StudyBytes, characters_beyond_ascii_stand_only_in_quotes_and_comments) {
  EXPECT_EQ(message_of("title = \"é\" # é\n" + ball_and_time), "no error");
  EXPECT_EQ(message_of("title = \"é\"\nmasse_é = 1\n" + ball_and_time),
            R"(study.toml:2:7: error: not valid TOML: a character that is not allowed here
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
}  // namespace zwang::malformed_test
