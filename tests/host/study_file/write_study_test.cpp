// study.toml as written by a run loads again as the same study.
#include "host/study_file/write_study.h"

#include <gtest/gtest.h>

#include "host/program/kernel_program.h"
#include "host/sample/csv_inputs.h"
#include "host/sample/member.h"
#include "host/study_file/load_study.h"
#include "host/toml/document.h"
#include "host/toml/write_toml.h"
#include "tests/support/scratch.h"

namespace zwang::write_study_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> config_paths() {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(std::string(ZWANG_SOURCE_DIR) + "/configs"))
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The text for the compiler contains the whole system and the method; everything else is compared separately.
void expect_same(const Study& a, const Study& b) {
  EXPECT_TRUE(cpu_program(a, LaneChoice::single).text.sources ==
              cpu_program(b, LaneChoice::single).text.sources);
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.ensemble.members, b.ensemble.members);
  EXPECT_EQ(a.ensemble.seed, b.ensemble.seed);
  EXPECT_EQ(a.ensemble.sampler, b.ensemble.sampler);
  EXPECT_EQ(a.ensemble.include_nominal, b.ensemble.include_nominal);
  EXPECT_EQ(a.ensemble.consistency, b.ensemble.consistency);
  EXPECT_EQ(a.time.outputs, b.time.outputs);
  EXPECT_EQ(a.time.end, b.time.end);
  EXPECT_EQ(a.integrator.method, b.integrator.method);
  EXPECT_EQ(a.integrator.step, b.integrator.step);
  EXPECT_EQ(a.integrator.rtol, b.integrator.rtol);
  EXPECT_EQ(a.integrator.atol, b.integrator.atol);
  EXPECT_EQ(a.integrator.max_step, b.integrator.max_step);
  EXPECT_EQ(a.integrator.max_steps, b.integrator.max_steps);
  EXPECT_EQ(a.integrator.max_events, b.integrator.max_events);
  EXPECT_EQ(a.integrator.contact_tolerance, b.integrator.contact_tolerance);
  EXPECT_EQ(a.integrator.rest_speed, b.integrator.rest_speed);
  EXPECT_EQ(a.integrator.accumulation_gap, b.integrator.accumulation_gap);
  EXPECT_EQ(a.statistics.quantiles, b.statistics.quantiles);
  ASSERT_EQ(a.statistics.histograms.size(), b.statistics.histograms.size());
  for (const auto& [name, histogram] : a.statistics.histograms) {
    EXPECT_EQ(histogram.bins, b.statistics.histograms.at(name).bins);
    EXPECT_EQ(histogram.range, b.statistics.histograms.at(name).range);
  }
  EXPECT_EQ(a.output.members, b.output.members);
  EXPECT_EQ(a.output.trajectories, b.output.trajectories);
  for (const unsigned long long member : {0ULL, 1ULL}) {
    if (member >= static_cast<unsigned long long>(a.ensemble.members)) continue;
    const PreparedMember x = prepare_member(a, member), y = prepare_member(b, member);
    EXPECT_EQ(x.inputs.parameters, y.inputs.parameters);
    EXPECT_EQ(x.start.q, y.start.q);
    EXPECT_EQ(x.start.v, y.start.v);
    EXPECT_EQ(x.start.z, y.start.z);
  }
}

TEST(StudyAsRun, every_config_loads_again_as_the_same_study) {
  for (const std::string& path : config_paths()) {
    SCOPED_TRACE(path);
    const Study study = load_study(path);
    const std::string text = study_as_run(study);
    const Study again = read_study(text, "again.toml");
    expect_same(study, again);
    // No default is left to be filled in.
    EXPECT_EQ(study_as_run(again), text);
  }
}

TEST(StudyAsRun, defaults_and_what_the_command_line_changed_are_written_out) {
  Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/slung_load.toml",
                           {"parameters.L=0.1", "constraint.cable.restitution=0.25", "ensemble.members=2"});
  study.ensemble.seed = 99;  // as --seed does
  const std::string text = study_as_run(study);
  for (const char* line :
       {"\nL = 0.1\n", "\nrestitution = 0.25\n", "\nseed = 99\n", "\nmembers = 2\n",
        "\nsampler = \"random\"\n", "\nconsistency = \"error\"\n", "\nmethod = \"auto\"\n",
        "\nmax_step = inf\n", "\nrest_speed = 1e-12\n", "\nfrom = -inf\n",
        "\nhistogram.height = { bins = 60 }\n", "\ntrajectories = [0, 1]\n",
        "\nforce.\"load.x\" = \"-drag*load.x'\"\n", "\nmass = { normal = { mean = 1.0, std = 0.05 } }\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  EXPECT_EQ(read_study(text, "again.toml").ensemble.seed, 99U);
}

TEST(StudyAsRun, the_columns_that_are_read_stand_beside_it) {
  const Scratch scratch;
  write_text(scratch.folder("here") / "states.csv", "x,unused,v\n1e-300,a,0.1\n-3,b,4\n5,c,6\n");
  write_text(scratch.folder("here/more") / "other.csv", "x\n0.30000000000000004\n8\n");
  write_text(scratch.path() / "here" / "ball.toml", R"([parameters]
file = "1"
column = "2"
x = { file = "states.csv", column = "x" }
[[point]]
name = "ball"
mass = 1
position = ["x"]
velocity = [{ file = "./states.csv", column = "v" }]
[[point]]
name = "second"
mass = 1
position = [{ file = "more/other.csv", column = "x" }]
velocity = [{ file = "more/../states.csv", column = "v" }]
[ensemble]
members = 2
[time]
end = 1
)");
  const Study study = load_study(scratch.path() / "here" / "ball.toml");
  const CsvInputs inputs(study);
  EXPECT_EQ(inputs.text(), "x,v,x_2\n1e-300,0.1,0.30000000000000004\n-3,4,8\n");
  EXPECT_EQ(inputs.paths().size(), 3U);
  write_text(scratch.folder("there") / "study.toml", study_as_run(study));
  write_text(scratch.folder("there") / csv_inputs_name, inputs.text());
  const Study again = load_study(scratch.path() / "there" / "study.toml");
  expect_same(study, again);
  EXPECT_EQ(study_as_run(again), study_as_run(study));
  EXPECT_EQ(CsvInputs(again).text(), inputs.text());
}

TEST(StudyAsRun, a_goal_for_the_ensemble_stays) {
  const std::string path = std::string(ZWANG_SOURCE_DIR) + "/configs/slung_load.toml";
  const Study study = load_study(path, {"ensemble.until={ measure = \"snaps\", relative_stderr = 0.1 }"});
  const Study again = read_study(study_as_run(study), "again.toml");
  ASSERT_TRUE(again.ensemble.until.has_value());
  EXPECT_EQ(again.ensemble.until->measure, "snaps");
  EXPECT_EQ(again.ensemble.until->limit, 0.1);
}

// Compares two trees by their contents, without marks.
bool equal(const Value& a, const Value& b) {
  if (a.kind != b.kind || a.integer != b.integer || a.text != b.text) return false;
  if (a.number != b.number || std::signbit(a.number) != std::signbit(b.number)) return false;
  if (a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!equal(a.items[i], b.items[i])) return false;
  for (std::size_t i = 0; i < a.entries.size(); ++i)
    if (a.entries[i].key != b.entries[i].key || !equal(a.entries[i].value, b.entries[i].value)) return false;
  return true;
}

TEST(TomlText, awkward_values_read_back_as_the_same_bits_in_the_same_order) {
  const Document document(R"(zebra = 1
apple = 0.1
tiny = 5e-324
large = 1.7976931348623157e308
near = 0.30000000000000004
whole = 1e22
negative = -0.0
infinite = -inf
text = """
two lines, a "quote", a \\ and a tab	"""
literal = 'C:\path'
unicode = "h\u00e9 \u0001 \u007f"
"a key" = true
"" = []
mixed = [1, 2.0, "x", { a = 1, "b c" = [] }]
deep = { z = { y = { x = 1 } }, a = {} }
[table]
dotted.b.c = 1
dotted.a = 2
last = -9223372036854775808
[[list]]
name = "one"
[[list]]
inner = { k = 1e-9 }
)",
                          "test.toml");
  const std::string text = toml_text(document.root());
  EXPECT_TRUE(equal(document.root(), Document(text, "again.toml").root())) << text;
}

}  // namespace
}  // namespace zwang::write_study_test
