// Loading studies: the contents of the TOML file arrive unchanged in the Study.
#include "host/study/study.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "host/sample/sample.h"
#include "host/study_file/load_study.h"
#include "src/expression/print_expression.h"

namespace zwang::study_test {
namespace {

// A point in the plane and an end time, appended to the text of tests about something else.
const std::string ball_and_time = R"(
[[point]]
name = "ball"
mass = 2
position = [1, 0]
velocity = [0, 3]
[time]
end = 4
)";

Study read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_study(text, "study.toml", overrides);
}

std::string text_of(const Study& study, Expr e) {
  return expression_text(*study.system->pool, e, study.system->namer());
}

// The value of an expression at a state, with the parameters of the nominal member.
double value_of(const Study& study, Expr e, std::vector<double> q, std::vector<double> v = {}, double t = 0) {
  const std::vector<double> parameters = nominal_member(study).parameters;
  v.resize(q.size());
  const Inputs<double> inputs{.time = t, .parameters = parameters, .coordinates = q, .velocities = v};
  return Program(*study.system->pool, {e}).run<double>(inputs).front();
}

std::string message_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    read(text, overrides);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The example of docs/study-file.md, completed with the parameters that it leaves out.
const std::string whole_example = R"~(
title = "Payload on a cable that can go slack"

[parameters]
g    = 9.81
L    = 2.0
mass = { normal = { mean = 1.0, std = 0.05 } }
beta = 0.1
flow = 1
J    = 0.5
k    = 3
drag = "0.1*beta"
torque = 0

[[anchor]]
name = "hook"
position = ["0.2*sin(3*t)", 0, 0]

[[point]]
name = "load"
mass = "mass"
position = [0, 0, "-L"]
velocity = [{ uniform = [2.0, 6.0] }, { normal = { mean = 0, std = 0.3 } }, 0]

[[coordinate]]
name = "phi"
position = 0.1
velocity = 0

[[auxiliary]]
name = "p"
initial = 1
rate = "beta*(flow - phi*sqrt(p))"

[system]
gravity   = [0, 0, "-g"]
kinetic   = "0.5*J*phi'^2"
potential = "0.5*k*phi^2"
[system.force]
"load.x" = "-drag*load.x'"
phi      = "torque"

[[constraint]]
name = "cable"
require = "distance(load, hook) <= L"
restitution = 0.0
from = 0.0
until = inf
variation = "special"
multiplier = 0.0

[[impulse]]
at = 1.5
on = "load"
velocity = [0.5, 0, 0]

[[event]]
name = "gate"
when = "load.x - 1"
direction = 0

[ensemble]
members = 10000
seed = 1
sampler = "random"
include_nominal = false
consistency = "project"

[time]
end = 10.0
samples = 101
stop = "load.z > 0"

[integrator]
method = "tsit5"
rtol = 1e-9
atol = 1e-9
max_step = inf
max_steps = 1000000
max_events = 100000
precision = "double"

[observe]
height  = "load.z"
tension = "reaction(cable)"
energy  = "kinetic() + potential()"

[measure]
peak_tension = "maximum(reaction(cable))"
first_slack  = "first(release(cable))"
snaps        = "count(shock(cable))"
hardest_snap = "maximum(impulse(cable))"
slack_time   = "integral(open(cable))"
final_x      = "final(load.x)"
gates        = "count(event(gate))"

[statistics]
quantiles = [0.05, 0.25, 0.5, 0.75, 0.95]
histogram.height = { bins = 60 }

[output]
members = true
trajectories = [0, 1, 2]
)~";

TEST(Study, reads_the_whole_example) {
  const Study study = read_study(whole_example, "folder/slung_load.toml");
  const System& system = *study.system;

  EXPECT_EQ(study.name, "slung_load");
  EXPECT_EQ(study.path, "folder/slung_load.toml");
  EXPECT_EQ(study.title, "Payload on a cable that can go slack");
  EXPECT_EQ(study.text, whole_example);
  EXPECT_EQ(system.coordinates, (std::vector<std::string>{"load.x", "load.y", "load.z", "phi"}));
  EXPECT_EQ(system.auxiliaries, std::vector<std::string>{"p"});
  ASSERT_EQ(system.points.size(), 1u);
  EXPECT_EQ(text_of(study, system.points[0].mass), "mass");
  ASSERT_EQ(system.constraints.size(), 1u);
  EXPECT_TRUE(system.constraints[0].moving);
  ASSERT_EQ(system.impulses.size(), 1u);
  EXPECT_EQ(system.impulses[0].coordinates, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_FALSE(system.impulses[0].momentum);
  ASSERT_EQ(system.watches.size(), 1u);
  EXPECT_EQ(text_of(study, *system.stop), "load.z");
  EXPECT_EQ(study.ensemble.members, 10000);
  EXPECT_EQ(study.time.outputs.size(), 101u);
  EXPECT_EQ(study.time.outputs.back(), 10.0);
  EXPECT_EQ(study.statistics.histograms.at("height").bins, 60);
  EXPECT_TRUE(study.output.members);
  EXPECT_EQ(study.output.trajectories, (std::vector<long long>{0, 1, 2}));
}

TEST(Study, observables_and_measures_keep_the_order_of_the_file) {
  const Study study = read(whole_example);
  std::vector<std::string> names;
  for (const NamedExpr& observable : study.system->observables) names.push_back(observable.name);
  for (const Measure& measure : study.system->measures) names.push_back(measure.name);
  EXPECT_EQ(names, (std::vector<std::string>{"height", "tension", "energy", "peak_tension", "first_slack",
                                             "snaps", "hardest_snap", "slack_time", "final_x", "gates"}));
  EXPECT_EQ(study.system->reductions[5].reduction, Reduction::final);
  EXPECT_EQ(study.system->reductions[3].pattern, EventPattern::impulse);
  EXPECT_EQ(study.system->reductions[6].pattern, EventPattern::watched);
}

TEST(Study, kinetic_and_potential_in_formulas_are_those_of_the_system) {
  const Study study = read(R"~([observe]
T = "kinetic()"
V = "potential()"
[system]
gravity = [0, -9.81]
potential = "ball.x^2"
)~" + ball_and_time);
  EXPECT_EQ(study.system->observables[0].value, study.system->kinetic_energy);
  EXPECT_EQ(study.system->observables[1].value, study.system->potential_energy);
}

TEST(Study, every_config_loads) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(ZWANG_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".toml") continue;
    SCOPED_TRACE(entry.path().string());
    EXPECT_NO_THROW(load_study(entry.path().string()));
    ++count;
  }
  EXPECT_GT(count, 0u);
}

TEST(Study, a_file_that_is_not_there_is_named) {
  try {
    load_study("no/such/study.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "no/such/study.toml: error: there is no such file\n  expected: the path of a study");
  }
}

// --- Parameters ---

TEST(Parameters, are_read_in_the_order_of_the_file) {
  const Study study = read(R"([parameters]
zeta = 2
alpha = "3*zeta"
mid = "alpha - zeta"
)" + ball_and_time);
  EXPECT_EQ(study.system->parameters, (std::vector<std::string>{"zeta", "alpha", "mid"}));
  EXPECT_EQ(nominal_member(study).parameters, (std::vector<double>{2, 6, 4}));
}

TEST(Parameters, may_be_distributions_with_expressions_of_earlier_ones) {
  const Study study = read(R"([parameters]
a = 1
u = { uniform = [0, "2*a"] }
n = { normal = { mean = "a", std = 0.5 } }
l = { lognormal = { mean = 0, std = 1 } }
t3 = { triangular = [0, "a", 4] }
e = { exponential = { mean = 3 } }
c = { choice = [1, 2, "a"] }
same = { uniform = [1, 1] }
)" + ball_and_time);
  using Kind = Distribution::Kind;
  const std::vector<Kind> kinds = {Kind::uniform,     Kind::normal, Kind::lognormal, Kind::triangular,
                                   Kind::exponential, Kind::choice, Kind::uniform};
  ASSERT_EQ(study.parameters.size(), kinds.size() + 1);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    ASSERT_TRUE(study.parameters[i + 1].distribution.has_value());
    EXPECT_EQ(study.parameters[i + 1].distribution->kind, kinds[i]);
  }
  EXPECT_EQ(nominal_member(study).parameters, (std::vector<double>{1, 1, 1, 1, 1, 3, 1, 1}));
}

TEST(Parameters, draws_elsewhere_become_hidden_ones_named_for_their_place) {
  const Study study = read(R"([parameters]
a = 1
[[anchor]]
name = "hook"
position = [0, { uniform = [0, 1] }]
[[coordinate]]
name = "phi"
position = { uniform = [0, "a"] }
velocity = { uniform = [1, 2] }
[[point]]
name = "load"
mass = 1
position = [0, { normal = { mean = 5, std = 1 } }]
velocity = [{ uniform = [2, 6] }, 0]
[[auxiliary]]
name = "p"
initial = { exponential = { mean = 7 } }
rate = "-p"
[system]
kinetic = "phi'^2"
[[constraint]]
name = "cable"
require = "norm(load) <= 9"
restitution = { uniform = [0, 1] }
[time]
end = 1
)");
  EXPECT_EQ(study.system->parameters, (std::vector<std::string>{"a", "hook.y", "load.y", "load.x'", "phi",
                                                                "phi'", "p", "cable.restitution"}));
  const MemberInputs nominal = nominal_member(study);
  EXPECT_EQ(nominal.start.q, (Eigen::VectorXd(3) << 0, 5, 0.5).finished());
  EXPECT_EQ(nominal.start.v, (Eigen::VectorXd(3) << 4, 0, 1.5).finished());
  EXPECT_EQ(nominal.start.z(0), 7);
  EXPECT_EQ(text_of(study, study.system->constraints[0].restitution), "cable.restitution");
}

TEST(Joint, of_plain_numbers_comes_before_the_parameters_and_replaces_a_number_there) {
  const Study study = read(R"([parameters]
b = "2*a"
a = 100
[[joint]]
names = ["a", "c"]
mean = [1, 2]
covariance = [[1, 0.5], [0.5, 1]]
)" + ball_and_time);
  EXPECT_EQ(study.system->parameters, (std::vector<std::string>{"a", "c", "b"}));
  EXPECT_EQ(study.parameters[1].joint, 0u);
  EXPECT_EQ(study.parameters[1].joint_component, 1u);
  EXPECT_EQ(nominal_member(study).parameters, (std::vector<double>{1, 2, 2}));
}

TEST(Joint, with_formulas_comes_after_the_parameters) {
  const Study study = read(R"([[joint]]
names = ["x", "y"]
mean = ["m", 0]
covariance = [["s^2", 0], [0, 1]]
[parameters]
m = 3
s = 0.5
)" + ball_and_time);
  EXPECT_EQ(study.system->parameters, (std::vector<std::string>{"m", "s", "x", "y"}));
  EXPECT_EQ(nominal_member(study).parameters, (std::vector<double>{3, 0.5, 3, 0}));
}

TEST(Grid, says_how_many_members_there_are) {
  const std::string grids = R"([parameters]
a = { grid = [0, 1, 3] }
b = { grid = [5, 2, 4] }
)" + ball_and_time;
  EXPECT_EQ(read(grids).ensemble.members, 12);
  EXPECT_EQ(read(grids, {"ensemble.members=12"}).ensemble.members, 12);
  EXPECT_EQ(read(grids, {"ensemble.include_nominal=true"}).ensemble.members, 13);
  EXPECT_EQ(read(ball_and_time).ensemble.members, 1);
}

class CsvStudy : public testing::Test {
 protected:
  CsvStudy() {
    std::filesystem::create_directories(folder / "data");
    write("states.csv", "x, vx,name\r\n1, 2.5,a\r\n-3,4e-1,b\r\n");
  }
  ~CsvStudy() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  // The error message, or "" if the study loads; v is the distribution of a parameter.
  std::string load(const std::string& v, int members = 2) {
    const std::string text =
        "[parameters]\nv = " + v + "\n[ensemble]\nmembers = " + std::to_string(members) + ball_and_time;
    try {
      study = read_study(text, (folder / "study.toml").string());
      return "";
    } catch (const Error& error) {
      std::string message = error.what();
      // Remove the temporary folder from the message.
      for (std::size_t at; (at = message.find(folder.string() + "/")) != std::string::npos;)
        message.erase(at, folder.string().size() + 1);
      return message;
    }
  }

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("zwang_study_test_" + std::to_string(::getpid()));
  Study study;
};

TEST_F(CsvStudy, columns_are_read_by_name_with_either_line_ending) {
  ASSERT_EQ(load(R"({ file = "states.csv", column = "vx" })"), "");
  EXPECT_EQ(study.parameters[0].distribution->file_values, (std::vector<double>{2.5, 0.4}));
  write("data/unix.csv", "x\n7\n8\n9\n");
  ASSERT_EQ(load(R"({ file = "data/unix.csv", column = "x" })", 3), "");
  EXPECT_EQ(study.parameters[0].distribution->file_values, (std::vector<double>{7, 8, 9}));
}

TEST_F(CsvStudy, mistakes_name_the_line_of_the_file) {
  EXPECT_EQ(load(R"({ file = "none.csv", column = "x" })"),
            R"(study.toml:2:14: error: parameter 'v', file: there is no file 'none.csv'
  found:    none.csv
  expected: a CSV file, relative to the folder of the study)");
  EXPECT_EQ(load(R"({ file = "states.csv", column = "vy" })"),
            R"(study.toml:2:37: error: parameter 'v', column: 'states.csv' has no such column
  found:    "vy"
  expected: one of: x, vx and name
  hint:     did you mean 'vx'?)");
  EXPECT_EQ(
      load(R"({ file = "states.csv", column = "name" })"),
      R"(study.toml:2:37: error: parameter 'v', column: line 2 of 'states.csv' has no number in this column
  found:    a
  expected: a finite number such as 0.5 or 1e-3)");
  EXPECT_EQ(load(R"({ file = "states.csv", column = "x" })", 3),
            R"(study.toml:2:14: error: parameter 'v', file: the file has too few rows
  found:    2 rows
  expected: 3, one for each member)");
  write("ragged.csv", "x,y\n1,2\n3\n");
  EXPECT_EQ(
      load(R"({ file = "ragged.csv", column = "x" })"),
      R"(study.toml:2:14: error: parameter 'v', file: line 3 of 'ragged.csv' does not have as many cells as the header
  found:    1 cell
  expected: 2)");
  write("twice.csv", "x,x\n1,2\n");
  EXPECT_EQ(load(R"({ file = "twice.csv", column = "x" })"),
            R"(study.toml:2:36: error: parameter 'v', column: 'twice.csv' has two columns of that name
  found:    "x"
  expected: a different name for every column)");
  write("empty.csv", "");
  EXPECT_EQ(load(R"({ file = "empty.csv", column = "x" })"),
            R"(study.toml:2:14: error: parameter 'v', file: the file 'empty.csv' is empty
  expected: a header row with the columns' names)");
}

TEST_F(CsvStudy, a_file_outside_the_folder_of_the_study_is_refused) {
  const std::string inside = (folder / "states.csv").string();  // absolute paths are refused too
  for (const std::string& path : {std::string("/etc/passwd"), std::string("../states.csv"),
                                  std::string("data/../../states.csv"), std::string("//states.csv"), inside})
    EXPECT_NE(
        load("{ file = \"" + path + "\", column = \"x\" }")
            .find("study.toml:2:14: error: parameter 'v', file: a file outside the folder of the study"),
        std::string::npos)
        << path;
  EXPECT_EQ(load(R"({ file = "../states.csv", column = "x" })"),
            R"(study.toml:2:14: error: parameter 'v', file: a file outside the folder of the study
  found:    "../states.csv"
  expected: a path relative to the study that stays in its folder)");
  EXPECT_EQ(load(R"({ file = "data/../states.csv", column = "x" })"), "");
}

TEST_F(CsvStudy, a_link_out_of_the_folder_of_the_study_is_refused) {
  const std::filesystem::path elsewhere = folder.parent_path() / (folder.filename().string() + "_elsewhere");
  std::filesystem::create_directory(elsewhere);
  std::ofstream(elsewhere / "secret.csv") << "x\n1\n";
  std::filesystem::create_symlink(elsewhere / "secret.csv", folder / "link.csv");
  std::filesystem::create_directory_symlink(elsewhere, folder / "deep");
  std::filesystem::create_symlink("states.csv", folder / "inside.csv");
  EXPECT_EQ(load(R"({ file = "link.csv", column = "x" })"),
            R"(study.toml:2:14: error: parameter 'v', file: a link that leads outside the folder of the study
  found:    "link.csv"
  expected: a file that lies in the folder of the study)");
  EXPECT_NE(load(R"({ file = "deep/secret.csv", column = "x" })").find("a link that leads outside"),
            std::string::npos);
  EXPECT_EQ(load(R"({ file = "inside.csv", column = "x" })"), "");
  std::filesystem::remove_all(elsewhere);
}

// --- Conditions ---

struct Sign {
  const char* require;
  double outside;  // f at ball = (3, 4), where the left side of "norm(ball) <= 2" is 5
};

class ConditionSign : public testing::TestWithParam<Sign> {};

// d = 5, R = 2: d - R is 3, and (d^2 - R^2)/(2R) is 5.25.
TEST_P(ConditionSign, is_that_of_mayer) {
  const std::string before = R"([parameters]
R = 2
[[anchor]]
name = "o"
position = [0, 0]
[[constraint]]
name = "c"
)";
  const Study study = read(before + "require = \"" + GetParam().require + "\"\n" + ball_and_time);
  const Constraint& c = study.system->constraints[0];
  EXPECT_DOUBLE_EQ(value_of(study, c.value, {3, 4}), GetParam().outside);
  const bool distance = std::abs(GetParam().outside) == 5.25;
  ASSERT_EQ(c.radius.has_value(), distance);
  if (distance) {
    EXPECT_EQ(text_of(study, *c.radius), "R");
    EXPECT_DOUBLE_EQ(value_of(study, *c.end_gradient, {3, 4}), 2.5);
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllForms, ConditionSign,
    testing::Values(Sign{"norm(ball) <= R", 5.25}, Sign{"R >= norm(ball)", 5.25},
                    Sign{"norm(ball) >= R", -5.25}, Sign{"R <= norm(ball)", -5.25},
                    Sign{"norm(ball) == R", 5.25}, Sign{"R == norm(ball)", -5.25},
                    Sign{"distance(ball, o) <= R", 5.25}, Sign{"(distance(o, ball)) <= R", 5.25},
                    Sign{"norm(ball) - R <= 0", 3}, Sign{"norm(ball) <= R + 0*ball.x", 5.25},
                    Sign{"norm(ball) <= R + ball.x - ball.x", 3}, Sign{"ball.x <= 1", 2},
                    Sign{"ball.x >= 1", -2}, Sign{"ball.x == 1", 2}, Sign{"1 == ball.x", -2}));

TEST(Condition, is_on_velocities_when_it_mentions_them) {
  const Study study = read(R"([[constraint]]
name = "floor"
require = "ball.y >= 0"
[[constraint]]
name = "knife"
require = "ball.x' == ball.y*ball.y'"
[[constraint]]
name = "clutch"
require = "ball.x' <= t"
)" + ball_and_time);
  const std::vector<Constraint>& c = study.system->constraints;
  EXPECT_TRUE(c[0].holonomic && !c[0].equation);
  EXPECT_TRUE(!c[1].holonomic && c[1].equation);
  EXPECT_TRUE(!c[2].holonomic && !c[2].equation && c[2].moving);
}

TEST(Condition, reaction_is_the_tension_or_the_size_of_the_whole_force) {
  const Study study = read(R"~([[point]]
name = "other"
mass = 1
position = [0, 0]
[[constraint]]
name = "string"
require = "distance(ball, other) <= 2"
[[constraint]]
name = "wall"
require = "3*ball.x + 4*ball.y <= 50"
[observe]
tension = "reaction(string)"
push = "reaction(wall)"
gap = "value(wall)"
free = "open(wall)"
)~" + ball_and_time);
  const System& system = *study.system;
  // other = (0, 0), ball = (2, 0)
  const std::vector<double> q = {0, 0, 2, 0}, v(4), multipliers = {7, 11}, closed = {1, 0};
  const Inputs<double> inputs{
      .coordinates = q, .velocities = v, .multipliers = multipliers, .closed = closed};
  std::vector<Expr> all;
  for (const NamedExpr& observable : system.observables) all.push_back(observable.value);
  EXPECT_EQ(Program(*system.pool, all).run<double>(inputs), (std::vector<double>{7, 55, -44, 1}));
}

TEST(Condition, from_and_until_are_left_out_when_infinite) {
  const std::string wall = "[[constraint]]\nname = \"wall\"\nrequire = \"ball.x <= 2\"\n";
  const auto read_wall = [&](const std::string& more) {
    return read("[parameters]\nT = 3\n" + wall + more + ball_and_time).system->constraints[0];
  };
  EXPECT_FALSE(read_wall("").from || read_wall("").until);
  EXPECT_FALSE(read_wall("from = -inf\nuntil = inf\n").from || read_wall("from = -inf\nuntil = inf\n").until);
  EXPECT_TRUE(read_wall("from = 0\n").from);
  EXPECT_TRUE(read_wall("from = 1\nuntil = \"T\"\n").until);
}

// --- Time, overrides, locations ---

TEST(Time, outputs_are_equally_spaced_or_given) {
  const std::string ball = ball_and_time.substr(0, ball_and_time.find("[time]"));
  const auto times = [&](const std::string& text) { return read(ball + "[time]\n" + text).time; };
  EXPECT_EQ(times("end = 2\nsamples = 5\n").outputs, (std::vector<double>{0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(times("end = \"1/2\"\n").outputs.size(), 101u);
  EXPECT_EQ(times("at = [0.5, 1, \"2*pi\"]\n").end, 2 * M_PI);
  EXPECT_EQ(times("at = [1]\nend = 3\n").end, 3);
}

TEST(Time, stop_is_positive_when_met) {
  for (const std::string text : {"ball.x > 2", "ball.x >= 2", "2 < ball.x", "2 <= ball.x"}) {
    const Study study = read(ball_and_time, {"time.stop=" + text});
    EXPECT_EQ(value_of(study, *study.system->stop, {5, 0}), 3) << text;
  }
}

TEST(Impulse, acts_on_a_point_or_on_a_coordinate) {
  const Study study = read(R"([[impulse]]
at = 1
on = "ball"
momentum = [1, "ball.x'"]
[[impulse]]
at = "2 - 1"
on = "ball.y"
velocity = 3
)" + ball_and_time);
  const std::vector<ImpulseFormula>& impulses = study.system->impulses;
  EXPECT_TRUE(impulses[0].momentum);
  EXPECT_EQ(impulses[0].coordinates, (std::vector<std::size_t>{0, 1}));
  EXPECT_FALSE(impulses[1].momentum);
  EXPECT_EQ(impulses[1].coordinates, (std::vector<std::size_t>{1}));
  EXPECT_EQ(impulses[1].amounts.size(), 1u);
}

TEST(Anchor, moves_with_the_derivative_of_its_place) {
  const Study study = read(R"([[anchor]]
name = "hook"
position = ["t^2", "1 + hook_speed*t"]
[[anchor]]
name = "second"
position = ["hook.x + 1", 0]
[parameters]
hook_speed = 2
[observe]
vx = "hook.x'"
vy = "hook.y'"
second = "second.x'"
)" + ball_and_time);
  std::vector<double> velocities;
  for (const NamedExpr& observable : study.system->observables)
    velocities.push_back(value_of(study, observable.value, {0, 0}, {0, 0}, 3));
  EXPECT_EQ(velocities, (std::vector<double>{6, 2, 6}));
}

TEST(Integrator, settings_arrive) {
  const Study study = read(R"([integrator]
method = "rk4"
step = 1e-2
rtol = "1e-3/10"
max_step = 0.5
max_steps = 1e6
accumulation_gap = 1e-5
)" + ball_and_time);
  EXPECT_EQ(study.integrator.method, IntegratorSettings::Method::rk4);
  EXPECT_EQ(study.integrator.step, 1e-2);
  EXPECT_EQ(study.integrator.rtol, 1e-4);
  EXPECT_EQ(study.integrator.max_step, 0.5);
  EXPECT_EQ(study.integrator.max_steps, 1000000);
  EXPECT_EQ(study.integrator.accumulation_gap, 1e-5);
}

TEST(Override, replaces_and_adds_values_by_path) {
  const std::string text = R"([parameters]
g = { uniform = [0, 1] }
[[constraint]]
name = "cable"
require = "norm(ball) <= 2"
)" + ball_and_time;
  const Study study =
      read(text, {"parameters.g=1", "constraint.cable.restitution=0.5", "point.0.mass=\"2*g\"",
                  "time.end = 5", "ensemble.members=20", "system.force.\"ball.x\"=-ball.x",
                  "point.ball.position.1=7", "observe.height=ball.y", "title=a new title"});
  const System& system = *study.system;
  EXPECT_FALSE(study.parameters[0].drawn());
  EXPECT_EQ(text_of(study, system.constraints[0].restitution), "0.5");
  EXPECT_EQ(text_of(study, system.points[0].mass), "2*g");
  EXPECT_EQ(study.time.end, 5);
  EXPECT_EQ(study.ensemble.members, 20);
  EXPECT_EQ(text_of(study, system.force[0]), "-ball.x");
  EXPECT_EQ(nominal_member(study).start.q(1), 7);
  EXPECT_EQ(system.observables.at(0).name, "height");
  EXPECT_EQ(study.title, "a new title");
  EXPECT_EQ(study.text, text);
}

TEST(Override, of_a_parameter_keeps_its_place_in_the_order) {
  const Study study =
      read("[parameters]\na = 1\nb = \"2*a\"\n" + ball_and_time, {"parameters.a=5", "parameters.c=b + 1"});
  EXPECT_EQ(nominal_member(study).parameters, (std::vector<double>{5, 10, 11}));
}

TEST(Location, is_found_through_every_kind_of_string) {
  const auto where = [](const std::string& value) {
    const std::string message = message_of("[observe]\nx = " + value + "\n" + ball_and_time);
    return message.substr(0, message.find(": error"));
  };
  EXPECT_EQ(where(R"("1 + q")"), "study.toml:2:10");
  EXPECT_EQ(where(R"('1 + q')"), "study.toml:2:10");
  EXPECT_EQ(where("\"\"\"1 + q\"\"\""), "study.toml:2:12");
  EXPECT_EQ(where("\"\"\"\n1 +\n  q\"\"\""), "study.toml:4:3");
  EXPECT_EQ(where("'''\r\n1 +\r\n  q'''"), "study.toml:4:3");
  EXPECT_EQ(where("\"\"\"1 + \\\n\n   q\"\"\""), "study.toml:4:4");
  EXPECT_EQ(where(R"("\u0031\t+ \U00000071")"), "study.toml:2:16");
  EXPECT_EQ(where(R"("1 +")"), "study.toml:2:9");
  EXPECT_EQ(where(R"("é")"), "study.toml:2:6");
}

TEST(Location, does_not_count_a_byte_order_mark) {
  const std::string message = message_of("\xEF\xBB\xBFtitle = 1\n" + ball_and_time);
  EXPECT_EQ(message.substr(0, message.find(": error")), "study.toml:1:9");
}

}  // namespace
}  // namespace zwang::study_test
