// The report: one self-contained page that names missing data and survives any text in a study. Its behaviour
// in a browser is checked by tests/python/check_report.py.
#include "host/report/report_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "host/report/report_data.h"
#include "host/results/run_table.h"
#include "src/base/error.h"
#include "tests/support/result_files_fixture.h"
#include "tests/support/run_program.h"

namespace zwang::report_test {
namespace {

std::string without(std::string text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at != std::string::npos) text.erase(at, part.size());
  return text;
}

// Runs a study with the reference into `results` of the folder.
std::filesystem::path run_study(const Scratch& scratch, const std::string& text,
                                const std::vector<std::string>& more = {}) {
  write_text(scratch.path() / "study.toml", text);
  std::vector<std::string> arguments = {"run",   "study.toml", "--backend",   "reference",
                                        "--out", "results",    "--overwrite", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProgramRun made = run_program(scratch.path(), arguments);
  EXPECT_EQ(made.code, 0) << made.err;
  return scratch.path() / "results";
}

TEST(Report, run_writes_it_beside_the_results_when_asked) {
  const Scratch scratch;
  const std::filesystem::path folder = run_study(scratch, ball_study, {"--report"});
  const std::string page = read_text(folder / "report.html");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_EQ(page.find("{{"), std::string::npos) << "a mark of the template was left standing";
  EXPECT_LT(page.size(), 5'000'000u);
}

TEST(Report, a_run_without_it_takes_away_the_report_of_the_run_before) {
  const Scratch scratch;
  run_study(scratch, ball_study, {"--report"});
  const std::filesystem::path folder = run_study(scratch, ball_study);
  EXPECT_FALSE(std::filesystem::exists(folder / "report.html"));
}

TEST(Report, holds_no_address_but_that_of_the_picture_language) {
  const Scratch scratch;
  const std::string page = report_page(run_study(scratch, ball_study));
  const std::regex address(R"(https?://[^"'\s)]+)");
  for (std::sregex_iterator found(page.begin(), page.end(), address), end; found != end; ++found)
    EXPECT_EQ(found->str(), "http://www.w3.org/2000/svg");
}

TEST(Report, text_of_the_study_cannot_leave_its_place) {
  const Scratch scratch;
  const std::string evil =
      "</script><script>window.intruded = 1</script><img src=x onerror=window.intruded=1>{{data}}";
  const std::string text =
      "# " + evil + "\n" +
      std::regex_replace(ball_study, std::regex("title = [^\n]*"), "title = '" + evil + "'");
  const std::string page = report_page(run_study(scratch, text));
  EXPECT_EQ(page.find("<script>window"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;window.intruded"), std::string::npos);
  // The page's own elements: the data and the script.
  EXPECT_EQ(page.find("</script>", page.find("</script>", page.find("</script>") + 1) + 1),
            std::string::npos);
}

TEST(Report, tells_the_same_numbers_as_the_files) {
  const Scratch scratch;
  const ReportJson data = report_data(ReportSource(run_study(scratch, ball_study)));
  const ReportJson summary = ReportJson::parse(read_text(scratch.path() / "results/summary.json"));
  ASSERT_EQ(data["measures"].size(), 3u);
  const ReportJson& bounces = data["measures"][0];
  EXPECT_EQ(bounces["name"], "bounces");
  EXPECT_NEAR(bounces["mean"].get<double>(), summary["measures"]["bounces"]["mean"].get<double>(), 1e-5);
  EXPECT_EQ(bounces["meaning"]["pattern"], "shock");
  EXPECT_EQ(bounces["meaning"]["target"], "floor");
  long long inside = 0;
  for (const auto& count : bounces["histogram"]["counts"][0]) inside += count.get<long long>();
  EXPECT_EQ(inside, summary["measures"]["bounces"]["count"].get<long long>());
  // Every member that bounced has a first bounce.
  EXPECT_EQ(bounces["positive"], summary["measures"]["first_bounce"]["count"]);
  EXPECT_EQ(data["motion"]["members"], ReportJson({0, 3, 1}));
  EXPECT_EQ(data["time"].size(), 9u);
}

TEST(Report, bins_of_members_hold_every_member_that_has_a_value) {
  const Scratch scratch;
  const ReportJson data = report_data(ReportSource(run_study(scratch, ball_study)));
  const ReportJson& highest = data["measures"][2];
  long long inside = 0;
  for (const auto& count : highest["histogram"]["counts"][0]) inside += count.get<long long>();
  EXPECT_EQ(inside, highest["count"].get<long long>());
}

TEST(Report, a_histogram_beside_infinite_values_has_the_finite_ones) {
  const Scratch scratch;
  const ReportJson data = report_data(ReportSource(run_study(scratch, R"toml(
[parameters]
a = { choice = [0, 1, 2] }
[[point]]
name = "p"
mass = 1
position = ["a"]
[ensemble]
members = 60
[time]
end = 1
samples = 2
[measure]
log_end = "log(abs(final(p.x)))"
[output]
members = true
)toml")));
  const ReportJson& measure = data["measures"][0];
  long long inside = 0;
  for (const auto& count : measure["histogram"]["counts"][0]) inside += count.get<long long>();
  EXPECT_GT(measure["infinite"].get<long long>(), 0);
  EXPECT_EQ(inside + measure["infinite"].get<long long>(), 60);
}

TEST(Report, does_without_the_files_nobody_asked_for) {
  const Scratch scratch;
  const std::string bare = without(without(ball_study, "members = true"), "trajectories = [0, 3, 1]");
  const ReportJson data = report_data(ReportSource(run_study(scratch, bare)));
  EXPECT_TRUE(data["motion"].is_null());
  EXPECT_TRUE(data["sample"].is_null());
  EXPECT_TRUE(data["measures"][0]["positive"].is_null());
  EXPECT_FALSE(data["measures"][0]["histogram"].is_null()) << "statistics.nc has this one";
  EXPECT_TRUE(data["measures"][2]["histogram"].is_null());
}

TEST(Report, knows_where_walls_anchors_and_strings_are) {
  const Scratch scratch;
  const std::string text = R"toml(
[parameters]
L = { uniform = [1.0, 2.0] }
[[anchor]]
name = "hook"
position = ["0.5*t", 3]
[[point]]
name = "load"
mass = 1
position = [0, 2]
[system]
gravity = [0, -1]
[[constraint]]
name = "cable"
require = "L >= distance(load, hook)"
[[constraint]]
name = "floor"
require = "load.y >= -0.25*t"
[time]
at = [0, 1]
[ensemble]
members = 3
[output]
members = true
trajectories = [2]
)toml";
  const ReportSource source(run_study(scratch, text));
  const ReportJson scene = report_data(source)["motion"]["scene"];
  EXPECT_EQ(scene["anchors"][0]["place"][0], ReportJson::parse("[[0.0, 0.5]]"));
  EXPECT_EQ(scene["anchors"][0]["place"][1], ReportJson::parse("[[3.0]]"));
  ASSERT_EQ(scene["links"].size(), 1u);
  EXPECT_EQ(scene["links"][0]["kind"], "string");
  // The string's length is member 2's own draw.
  const double length = scene["links"][0]["length"][0][0].get<double>();
  EXPECT_NEAR(length, report_data(source)["sample"]["rows"][2].back().get<double>(), 1e-5);
  ASSERT_EQ(scene["walls"].size(), 1u);
  EXPECT_EQ(scene["walls"][0]["side"], "above");
  EXPECT_EQ(scene["walls"][0]["place"], ReportJson::parse("[[0.0, -0.25]]"));
}

// Three members of every system, run by the reference: drawing must work for any system.
TEST(Report, of_every_study_that_comes_along_can_be_written) {
  for (const auto& entry : std::filesystem::directory_iterator(ZWANG_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".toml") continue;
    SCOPED_TRACE(entry.path());
    const Scratch scratch;
    const bool one = read_text(entry.path()).find("members") == std::string::npos;
    std::vector<std::string> arguments = {
        "run",      entry.path().string(), "--backend", "reference", "--out", "results", "--quiet",
        "--report", "--max-failed",        "1"};
    if (!one) arguments.insert(arguments.end(), {"--members", "3"});
    const ProgramRun made = run_program(scratch.path(), arguments);
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_GT(read_text(scratch.path() / "results/report.html").size(), 80'000u);
  }
}

TEST(Report, refuses_a_folder_without_results) {
  const Scratch scratch;
  EXPECT_THROW(report_page(scratch.path() / "nowhere"), Error);
  EXPECT_THROW(report_page(scratch.folder("empty")), Error);
  write_text(scratch.folder("broken") / "summary.json", "{}");
  EXPECT_THROW(report_page(scratch.path() / "broken"), Error);
}

TEST(Report, a_damaged_file_of_the_results_is_named) {
  const Scratch scratch;
  const std::filesystem::path folder = run_study(scratch, ball_study);
  write_text(folder / "trajectories.nc", "no NetCDF");
  const ProgramRun made = run_program(scratch.path(), {"report", "results"});
  EXPECT_EQ(made.code, 1);
  EXPECT_NE(made.err.find("trajectories.nc"), std::string::npos) << made.err;
}

// --- In a browser ------------------------------------------------------------------------------------------

constexpr int skipped = 77;

// Output of check_report.py for a page; empty if there is no browser.
void expect_good_page(const std::filesystem::path& page, const std::string& options = "") {
  const std::string command =
      "timeout 300 /usr/bin/python3 " + shell_word(ZWANG_SOURCE_DIR "/tests/python/check_report.py") + " " +
      shell_word(page.string()) + " " + options + " > " + shell_word(page.string() + ".log") + " 2>&1";
  const int code = std::system(command.c_str());
  const std::string told = read_text(page.string() + ".log");
  if (WIFEXITED(code) && (WEXITSTATUS(code) == skipped || WEXITSTATUS(code) == 127))
    GTEST_SKIP() << "no browser to look with: " << told;
  EXPECT_EQ(code, 0) << told;
}

TEST(ReportInBrowser, of_a_study_with_evil_text_works_and_runs_none_of_it) {
  const Scratch scratch;
  const std::string evil =
      "</script><script>window.intruded = 1</script><img src=x onerror=window.intruded=1>";
  const std::string text =
      "# " + evil + "\n" +
      std::regex_replace(ball_study, std::regex("title = [^\n]*"), "title = '" + evil + "'");
  expect_good_page(run_study(scratch, text, {"--report"}) / "report.html");
}

// One output, a value that is never finite, identical members.
TEST(ReportInBrowser, of_a_study_with_hardly_anything_in_it_works) {
  const Scratch scratch;
  const std::string text = R"toml(
[[point]]
name = "p"
mass = 1
position = [1]
velocity = [1]
[ensemble]
members = 3
[time]
at = [2]
[observe]
x = "p.x"
never = "1/(p.x - p.x)"
[measure]
same = "final(p.x')"
never = "final(log(-p.x))"
[output]
members = true
trajectories = [1]
)toml";
  expect_good_page(run_study(scratch, text, {"--report"}) / "report.html");
}

TEST(ReportInBrowser, of_members_that_all_fail_works_and_says_so) {
  const Scratch scratch;
  write_text(scratch.path() / "study.toml", read_text(ZWANG_SOURCE_DIR "/configs/cone_apex.toml"));
  const ProgramRun made = run_program(scratch.path(), {"run", "study.toml", "--backend", "reference", "--out",
                                                       "results", "--quiet", "--report"});
  ASSERT_EQ(made.code, 3) << made.err;
  expect_good_page(scratch.path() / "results/report.html");
}

// Curves, records, changes of mode as events, the share of a condition along the sweep.
TEST(ReportInBrowser, of_a_sweep_with_friction_works) {
  const Scratch scratch;
  const std::string text = R"toml(title = "Box on a shaken floor"
[parameters]
mu = { uniform = [0.2, 0.5] }
F = { sweep = { values = [0.3, 0.6] } }
[[point]]
name = "box"
mass = 1
position = [0, 0]
velocity = [1, 0]
[system]
gravity = [0, -9.81]
[system.force]
"box.x" = "9.81*F*sin(2*t)"
[[constraint]]
name = "floor"
require = "box.y >= 0"
friction = "mu"
[[record]]
name = "stops"
at = "sticks(floor)"
values = { x = "box.x" }
[time]
end = 4
samples = 5
[measure]
stuck = "count(sticks(floor))"
ever = "probability(stuck > 0.5)"
[[given]]
name = "often"
when = "stuck >= 2"
[ensemble]
members_per_point = 8
[output]
members = true
trajectories = [0, 9]
)toml";
  const std::filesystem::path folder = run_study(scratch, text, {"--report"});
  const ReportJson data = report_data(ReportSource(folder));
  EXPECT_EQ(data["sweep"]["measures"].back()["name"], "given often");
  EXPECT_EQ(data["sweep"]["measures"][1]["kind"], "probability");
  expect_good_page(folder / "report.html");
}

TEST(ReportInBrowser, shows_contacts_that_stick_and_no_broken_cable) {
  const Scratch scratch;
  const std::string text = R"toml(title = "Box on a shaken floor, drawn by a cable"
[[anchor]]
name = "hook"
position = [0, 1]
[[point]]
name = "box"
mass = 1
position = [0, 0]
velocity = [1.5, 0]
[system]
gravity = [0, -9.81]
[system.force]
"box.x" = "4.6*sin(2*t)"
[[constraint]]
name = "floor"
require = "box.y >= 0"
friction = 0.4
[[constraint]]
name = "cable"
require = "distance(hook, box) <= 1.2"
limit = 5
impulse_limit = 0.1
breaks = true
[time]
end = 4
samples = 9
[output]
trajectories = [0]
)toml";
  const std::filesystem::path folder = run_study(scratch, text, {"--report"});
  const ReportJson motion = report_data(ReportSource(folder))["motion"];
  ASSERT_EQ(motion["scene"]["contacts"].size(), 1u);
  EXPECT_EQ(motion["scene"]["contacts"][0]["touching"], ReportJson({"box"}));
  const auto listed = [&](const std::string& kind) {
    return std::any_of(motion["events"].begin(), motion["events"].end(),
                       [&](const ReportJson& event) { return event["kind"] == kind; });
  };
  EXPECT_TRUE(listed("break"));
  EXPECT_TRUE(listed("stick"));
  EXPECT_TRUE(listed("slide"));
  expect_good_page(folder / "report.html");
}

TEST(ReportInBrowser, of_a_study_that_keeps_no_members_works) {
  const Scratch scratch;
  const std::string bare = without(without(ball_study, "members = true"), "trajectories = [0, 3, 1]");
  expect_good_page(run_study(scratch, bare, {"--report"}) / "report.html");
}

TEST(ReportInBrowser, of_the_slung_load_looks_as_in_the_documentation) {
  const Scratch scratch;
  const ProgramRun made =
      run_program(scratch.path(), {"run", ZWANG_SOURCE_DIR "/configs/slung_load.toml", "--backend", "cpu",
                                   "--out", "results", "--quiet", "--report"});
  ASSERT_EQ(made.code, 0) << made.err;
  expect_good_page(scratch.path() / "results/report.html",
                   "--compare " + shell_word(ZWANG_SOURCE_DIR "/docs"));
}

}  // namespace
}  // namespace zwang::report_test
