// `zwang run` as a process: exit codes, printed text, and the files in the results folder.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "host/netcdf/netcdf_source.h"
#include "host/results/run_table.h"
#include "tests/support/netcdf_reader.h"
#include "tests/support/run_fixture.h"
#include "tests/support/run_program.h"

namespace zwang::run_program_test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using Json = nlohmann::json;

class RunProgram : public ::testing::Test {
 protected:
  RunProgram() {
    write_text(folder / "ball.toml", thrown_ball + "[output]\nmembers = true\ntrajectories = [0, 5]\n");
    write_text(folder / "troubles.toml", troubles);
  }
  // With the reference backend, which needs no compiler; no test here is about speed.
  ProgramRun run(Arguments arguments) const {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--backend", "reference"});
    return run_program(folder, arguments);
  }
  Json summary(const std::string& out) const { return Json::parse(read_text(folder / out / "summary.json")); }
  // The summary without timings.
  Json timeless_summary(const std::string& out) const {
    Json json = summary(out);
    json.erase("performance");
    return json;
  }
  std::vector<std::string> names_in(const std::string& out) const {
    std::vector<std::string> names;
    if (!fs::exists(folder / out)) return names;
    for (const auto& entry : fs::directory_iterator(folder / out)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  Scratch scratch;
  fs::path folder = scratch.path();
};

const std::vector<std::string> all_files = {"members.nc", "statistics.nc", "study.toml", "summary.json",
                                            "trajectories.nc"};

TEST_F(RunProgram, WritesItsFilesAndEndsWithATable) {
  const ProgramRun made = run({"ball.toml"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(names_in("results/ball"), all_files);
  for (const char* piece :
       {"A ball thrown up", "300 members, 300 in the statistics", "highest", "95 % interval", "at t = 0.9",
        "events   contact ", "audit    ", "results/ball: summary.json"})
    EXPECT_NE(made.out.find(piece), std::string::npos) << piece << " in\n" << made.out;
  EXPECT_EQ(summary("results/ball")["members"]["entered"], 300);
}

// All output fits into 80 columns, except the command to copy.
TEST_F(RunProgram, TheTableFitsEightyColumns) {
  const std::vector<Arguments> runs = {
      {"ball.toml", "--set", "measure.a_measure_with_a_long_name=-1e-15*final(ball.x)"},
      {"troubles.toml"},
      {"ball.toml", "--set", "ensemble.consistency=reject", "--set",
       "point.ball.position=[{ uniform = [-1, 1] }]"}};
  for (std::size_t k = 0; k < runs.size(); ++k) {
    Arguments arguments = runs[k];
    arguments.insert(arguments.end(),
                     {"--out", "a_folder_with_a_long_name_" + std::to_string(k), "--members", "60"});
    const ProgramRun made = run(arguments);
    std::istringstream lines(made.out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(line.size() <= 80 || line.starts_with("to replay one: ")) << line.size() << ": " << line;
  }
}

TEST_F(RunProgram, AnUnknownParameterIsAnErrorWithASuggestion) {
  const ProgramRun added = run({"ball.toml", "--members", "5", "--set", "parameters.sped_up=2"});
  EXPECT_EQ(added.code, 1);
  EXPECT_NE(added.err.find("--set: error: parameters.sped_up: the study has no such parameter"),
            std::string::npos)
      << added.err;
  EXPECT_NE(added.err.find("did you mean 'speed_up'?"), std::string::npos) << added.err;
  EXPECT_FALSE(fs::exists(folder / "results"));
}

TEST_F(RunProgram, NumbersOfMembersAreWholeAlsoAsPowersOfTen) {
  ASSERT_EQ(run({"ball.toml", "--members", "1.2e1", "--out", "dozen"}).code, 0);
  EXPECT_EQ(summary("dozen")["members"]["requested"], 12);
  for (const std::string wrong : {"0", "-3", "1e-3", "2.5", "1e14", "many"}) {
    const ProgramRun none = run({"ball.toml", "--members", wrong, "--out", "x"});
    EXPECT_EQ(none.code, 1) << wrong;
    EXPECT_NE(none.err.find("--members"), std::string::npos) << none.err;
  }
  EXPECT_NE(run({"ball.toml", "--members", "1e14", "--out", "x"}).err.find("from 1 to 1000000000000"),
            std::string::npos);
}

// A grid decides the number of members: the message names the option that was given, not --set.
TEST_F(RunProgram, AMessageNamesTheOptionThatWasGiven) {
  const ProgramRun made =
      run({"ball.toml", "--set", "parameters.speed_up={ grid = [1, 2, 3] }", "--members", "5"});
  EXPECT_EQ(made.code, 1);
  EXPECT_NE(made.err.find("--members: error: not the number of points"), std::string::npos) << made.err;
}

TEST_F(RunProgram, WithJsonAnErrorIsJsonToo) {
  const ProgramRun study = run({"ball.toml", "--json", "--set", "time.ned=3"});
  EXPECT_EQ(study.code, 1);
  const Json json = Json::parse(study.out);
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["errors"].size(), 1u);
  EXPECT_EQ(json["errors"][0]["hint"], "did you mean 'end'?") << study.out;
  const ProgramRun usage = run({"ball.toml", "--json", "--members", "none"});
  EXPECT_EQ(Json::parse(usage.out)["exit_code"], 1);
  EXPECT_NE(Json::parse(usage.out)["errors"][0]["message"].get<std::string>().find("--members"),
            std::string::npos);
}

// The first 1024 members decide, whatever the batches.
TEST_F(RunProgram, ARunInWhichEverythingFailsStopsAndNamesTheFormula) {
  const std::string failing = R"toml(system.force={ "ball.x" = "log(ball.x - 50)" })toml";
  for (const std::string batch : {"100", "4000"}) {
    const ProgramRun made =
        run({"ball.toml", "--members", "5000", "--set", failing, "--batch", batch, "--out", "failing"});
    EXPECT_EQ(made.code, 3) << made.err;
    EXPECT_NE(made.err.find("the force on ball.x: log(ball.x - 50) = "), std::string::npos) << made.err;
    EXPECT_NE(made.err.find("all of the first 1024 members fail"), std::string::npos) << made.err;
    EXPECT_FALSE(fs::exists(folder / "failing/summary.json"));
  }
  // Fewer members than decide, or any share allowed: all are run and the table gives the cause.
  for (const Arguments& few :
       {Arguments{"--members", "30"}, Arguments{"--members", "1500", "--max-failed", "100%"}}) {
    Arguments arguments = {"ball.toml", "--set", failing, "--out", "failing", "--overwrite"};
    arguments.insert(arguments.end(), few.begin(), few.end());
    const ProgramRun made = run(arguments);
    EXPECT_NE(made.out.find("log(ball.x - 50) = "), std::string::npos) << made.out;
    EXPECT_EQ(made.out.find("highest"), std::string::npos) << "a table of dashes\n" << made.out;
  }
}

TEST_F(RunProgram, DryFrictionAsAForceAndAnUnbalancedSobolSampleGetNotes) {
  const ProgramRun friction = run({"ball.toml", "--members", "3", "--set",
                                   R"toml(system.force={ "ball.x" = "-0.1*sign(ball.x')" })toml", "--set",
                                   "integrator.max_steps=100", "--max-failed", "100%"});
  EXPECT_NE(friction.err.find("the force on ball.x contains sign(ball.x')"), std::string::npos)
      << friction.err;
  const ProgramRun sobol =
      run({"ball.toml", "--members", "100", "--set", "ensemble.sampler=sobol", "--out", "sobol"});
  EXPECT_NE(sobol.err.find("such as 64 or 128"), std::string::npos) << sobol.err;
}

// With the default rule, on every backend and before anything is written.
TEST_F(RunProgram, AStartOffItsConstraintsEndsTheRun) {
  const std::string start = "point.ball.position=[{ uniform = [-1, 1] }]";
  for (const std::string backend : {"reference", "cpu"}) {
    const ProgramRun made = run_program(folder, {"run", "ball.toml", "--members", "20", "--set", start,
                                                 "--backend", backend, "--out", "off"});
    EXPECT_EQ(made.code, 1);
    EXPECT_NE(made.err.find("violates the constraint 'table'; nothing was computed"), std::string::npos)
        << made.err;
    EXPECT_NE(made.err.find("consistency = \"project\""), std::string::npos) << made.err;
    EXPECT_FALSE(fs::exists(folder / "off/summary.json"));
  }
  const ProgramRun moved = run({"ball.toml", "--members", "20", "--set", start, "--set",
                                "ensemble.consistency=project", "--out", "moved"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_NE(moved.out.find(" of 20 moved onto their constraints"), std::string::npos) << moved.out;
  EXPECT_NE(moved.out.find("WARNING: in "), std::string::npos) << moved.out;
  const Json told = summary("moved")["members"]["start"];
  EXPECT_EQ(told["consistency"], "project");
  EXPECT_EQ(told["drawn_values_changed"], told["moved"]);
  EXPECT_EQ(told["largest_drawn_change_of"], "ball.x");
  EXPECT_GT(told["largest_drawn_change"], 0.5);
}

// Without a terminal nobody can answer: the run is refused before anything is computed.
TEST_F(RunProgram, MoreThanTenGigabytesNeedYes) {
  const ProgramRun made = run({"ball.toml", "--members", "1e10", "--out", "huge"});
  EXPECT_EQ(made.code, 1);
  EXPECT_NE(made.err.find(" TB of disk"), std::string::npos) << made.err;
  EXPECT_NE(made.err.find("--yes"), std::string::npos) << made.err;
  EXPECT_FALSE(fs::exists(folder / "huge/summary.json"));
}

TEST_F(RunProgram, UnitsAreLabelsInTableAndFiles) {
  const Arguments labels = {"--set", "units.highest=m", "--set", "units.time=s", "--set", "units.height=m"};
  Arguments arguments = {"ball.toml", "--members", "20"};
  arguments.insert(arguments.end(), labels.begin(), labels.end());
  const ProgramRun made = run(arguments);
  EXPECT_NE(made.out.find("highest (m)"), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("at t = 0.9 s"), std::string::npos) << made.out;
  EXPECT_EQ(summary("results/ball")["units"]["highest"], "m");
  const NetcdfSource file(folder / "results/ball/statistics.nc");
  EXPECT_EQ(file.texts("measure_units"), (std::vector<std::string>{"m", ""}));
  EXPECT_EQ(file.texts("observable_units"), std::vector<std::string>{"m"});
  const ProgramRun unknown = run({"ball.toml", "--set", "units.hihgest=m", "--out", "x"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("did you mean 'highest'?"), std::string::npos) << unknown.err;
}

TEST_F(RunProgram, OneMemberAndMembersThatAllFailLeaveNullsNotNumbers) {
  const std::string failing = R"toml(system.force={ "ball.x" = "1/(ball.x - 0.5)" })toml";
  ASSERT_EQ(run({"ball.toml", "--out", "one", "--members", "1"}).code, 0);
  const Json one = summary("one");
  EXPECT_TRUE(one["measures"]["highest"]["std"].is_null());
  EXPECT_TRUE(one["measures"]["highest"]["mean"].is_number());
  const ProgramRun none = run({"ball.toml", "--out", "none", "--members", "4", "--set", failing});
  EXPECT_EQ(none.code, 3) << none.out;
  EXPECT_NE(none.err.find("no members are left for statistics"), std::string::npos) << none.err;
  const Json failed = summary("none");
  EXPECT_EQ(failed["members"]["failed"], 4);
  EXPECT_TRUE(failed["measures"]["highest"]["mean"].is_null());
  EXPECT_TRUE(failed["audit"]["max_energy_drift"].is_null());
}

TEST_F(RunProgram, QuietIsSilentAndJsonIsTheSummary) {
  const ProgramRun quiet = run({"ball.toml", "--quiet", "--members", "20", "--out", "a/b"});
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
  EXPECT_EQ(summary("a/b")["members"]["requested"], 20);
  const ProgramRun json = run({"ball.toml", "--json", "--members", "20", "--out", "c", "--seed", "9"});
  EXPECT_EQ(json.out, read_text(folder / "c" / "summary.json"));
  EXPECT_EQ(Json::parse(json.out)["seed"], 9);
}

TEST_F(RunProgram, ResultsAreReplacedOnlyWhenAsked) {
  ASSERT_EQ(run({"ball.toml", "--members", "10"}).code, 0);
  const Json before = summary("results/ball");
  // Must be rejected at once: a billion members would exceed the time limit of this test.
  const ProgramRun refused = run({"ball.toml", "--members", "1000000000"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("--overwrite"), std::string::npos) << refused.err;
  EXPECT_EQ(summary("results/ball"), before);
  EXPECT_EQ(run({"ball.toml", "--members", "11", "--overwrite", "--set", "output.members=false"}).code, 0);
  EXPECT_EQ(summary("results/ball")["members"]["requested"], 11);
  EXPECT_FALSE(fs::exists(folder / "results/ball/members.nc")) << "of the earlier run";
}

TEST_F(RunProgram, WrongInputIsExitCodeOneAndLeavesNothing) {
  write_text(folder / "wrong.toml", thrown_ball + "[outputs]\n");
  const std::vector<Arguments> wrong = {{"missing.toml"},
                                        {"wrong.toml"},
                                        {"ball.toml", "--members", "0"},
                                        {"ball.toml", "--max-failed", "5"},
                                        {"ball.toml", "--seed", "-1"},
                                        {"ball.toml", "--seed", "9223372036854775808"},
                                        {"ball.toml", "--set", "time.end=-1"},
                                        {"ball.toml", "--batch", "0"},
                                        {"ball.toml", "--out", ""},
                                        {"ball.toml", "--out", "ball.toml"},
                                        {"ball.toml", "--out", "ball.toml/within"},
                                        {"ball.toml", "--set", "ensemble.until={measure=\"none\"}"},
                                        {"ball.toml", "--membres", "5"}};
  for (const Arguments& arguments : wrong) {
    const ProgramRun made = run(arguments);
    EXPECT_EQ(made.code, 1) << arguments.back() << "\n" << made.err;
    EXPECT_FALSE(made.err.empty());
  }
  EXPECT_FALSE(fs::exists(folder / "results"));
}

TEST_F(RunProgram, TheMachinesTroubleIsExitCodeTwo) {
  const ProgramRun no_device = run_program(folder, {"run", "ball.toml", "--backend", "cuda"});
  EXPECT_EQ(no_device.code, 2) << no_device.err;
  EXPECT_FALSE(fs::exists(folder / "results")) << "nothing was run, nothing is left";
  const pid_t full =
      start_program(folder, {"run", "ball.toml", "--members", "5", "--backend", "reference"}, "/dev/full");
  EXPECT_EQ(wait_for(full), 2) << "the table could not be printed";
}

TEST_F(RunProgram, TooManyFailuresAreExitCodeThreeWithResults) {
  const ProgramRun bad = run({"troubles.toml", "--seed", "3", "--set", "title=Ways to fail"});
  EXPECT_EQ(bad.code, 3);
  EXPECT_NE(bad.err.find("more than --max-failed allows (5 %)"), std::string::npos) << bad.err;
  const Json members = summary("results/troubles")["members"];
  EXPECT_EQ(members["requested"], 120);
  EXPECT_EQ(members["entered"].get<int>() + members["failed"].get<int>(), 120);
  int total = 0;
  for (const char* status :
       {"ok", "inconsistent_start", "singular", "step_limit", "not_finite", "infeasible"}) {
    total += members["status"][status].get<int>();
    EXPECT_EQ(members["examples"].contains(status), status != std::string("ok")) << status;
  }
  EXPECT_EQ(total, 120);
  EXPECT_EQ(run({"troubles.toml", "--out", "b", "--max-failed", "100%"}).code, 0);
}

// The table prints a command that replays a failed member; running it shows the same failure.
TEST_F(RunProgram, TheReplayCommandShownWorks) {
  const ProgramRun bad = run({"troubles.toml", "--seed", "3", "--members", "40", "--set", "title=It's me"});
  const std::size_t at = bad.out.find("zwang replay ");
  ASSERT_NE(at, std::string::npos) << bad.out;
  const std::string command = bad.out.substr(at + 5, bad.out.find('\n', at) - at - 5);
  const std::string shell =
      "cd " + shell_word(folder) + " && " + shell_word(ZWANG_PROGRAM) + command + " --json > replay.json";
  ASSERT_EQ(std::system(shell.c_str()), 0) << shell;
  const Json replay = Json::parse(read_text(folder / "replay.json"));
  const std::string status = replay["status"];
  EXPECT_EQ(replay["title"], "It's me");
  EXPECT_EQ(replay["seed"], 3);
  EXPECT_NE(status, "ok");
  EXPECT_EQ(summary("results/troubles")["members"]["examples"][status][0], replay["member"]);
}

TEST_F(RunProgram, ThreadsAndBatchesChangeNoByteOfAnyFile) {
  const std::vector<Arguments> ways = {{"--threads", "1"},
                                       {"--threads", "2"},
                                       {"--threads", "2", "--batch", "7"},
                                       {"--threads", "3", "--batch", "257"}};
  for (std::size_t k = 0; k < ways.size(); ++k) {
    Arguments arguments = {"ball.toml", "--quiet", "--out", std::to_string(k)};
    arguments.insert(arguments.end(), ways[k].begin(), ways[k].end());
    ASSERT_EQ(run(arguments).code, 0);
    EXPECT_EQ(timeless_summary(std::to_string(k)), timeless_summary("0"));
    for (const std::string& name : all_files) {
      if (name == "summary.json") continue;
      EXPECT_TRUE(read_text(folder / std::to_string(k) / name) == read_text(folder / "0" / name))
          << name << " with " << testing::PrintToString(ways[k]);
    }
  }
}

TEST_F(RunProgram, TheStudyAmongTheResultsRunsToTheSameResults) {
  ASSERT_EQ(
      run({"ball.toml", "--members", "50", "--seed", "8", "--out", "a", "--set", "system.gravity=[-1.62]"})
          .code,
      0);
  ASSERT_EQ(run({"a/study.toml", "--out", "b"}).code, 0);
  Json first = timeless_summary("a"), second = timeless_summary("b");
  EXPECT_EQ(first["seed"], 8);
  first.erase("study"), second.erase("study");  // named after its file
  EXPECT_EQ(first, second);
}

TEST_F(RunProgram, AStudyThatReadsFilesRunsAgainFromItsResultsWhereverTheyAreTaken) {
  write_text(folder / "speeds.csv", "other,speed\nnone,1.1000000000000001\n,2.9\n,3e0\n,4\n");
  const std::string reading = R"(parameters.speed_up={ file = "speeds.csv", column = "speed" })";
  ASSERT_EQ(run({"ball.toml", "--members", "3", "--out", "a", "--set", reading}).code, 0);
  EXPECT_EQ(read_text(folder / "a/inputs.csv"), "speed\n1.1\n2.9\n3\n");
  fs::create_directories(folder / "elsewhere");
  fs::rename(folder / "a", folder / "elsewhere/a");
  fs::remove(folder / "speeds.csv");
  const ProgramRun again = run({"elsewhere/a/study.toml", "--out", "b"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("inputs.csv"), std::string::npos) << again.out;
  Json first = timeless_summary("elsewhere/a"), second = timeless_summary("b");
  first.erase("study"), second.erase("study");  // named after its file
  EXPECT_EQ(first, second);
  for (const char* name : {"inputs.csv", "study.toml"})
    EXPECT_EQ(read_text(folder / "elsewhere/a" / name), read_text(folder / "b" / name));
}

// With missing values, failures, a nominal member and histograms, the files agree with NumPy's results.
TEST_F(RunProgram, NumpyComputesTheSameStatisticsFromTheMembers) {
  if (std::string(ZWANG_PYTHON).empty()) GTEST_SKIP() << "no Python with xarray and netCDF4";
  EXPECT_EQ(run({"ball.toml", "--members", "1500", "--out", "ball", "--set", "time.end=0.5", "--set",
                 "ensemble.include_nominal=true"})
                .code,
            0);
  EXPECT_EQ(run({"troubles.toml", "--out", "troubles", "--max-failed", "1"}).code, 0);
  for (const char* out : {"ball", "troubles"}) {
    const std::string command = shell_word(ZWANG_PYTHON) + " " +
                                shell_word(ZWANG_SOURCE_DIR "/tests/python/check_results.py") + " " +
                                shell_word(folder / out) + " > " + shell_word(folder / "output") + " 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << out << ": " << read_text(folder / "output");
  }
  EXPECT_GT(summary("ball")["measures"]["landing"]["missing"], 0);
}

TEST_F(RunProgram, UntilEndsEarlyAndSaysSo) {
  const ProgramRun made = run({"ball.toml", "--members", "5000", "--set",
                               R"(ensemble.until={measure="highest", relative_stderr=0.02})", "--set",
                               "output.trajectories=[0, 1100, 4000]"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out.find("ended early: standard error of highest is below 2 % (limit 5000 members)"),
            std::string::npos)
      << made.out;
  EXPECT_EQ(summary("results/ball")["members"]["entered"], 1024);
  const NetcdfReader trajectories(folder / "results/ball/trajectories.nc");
  EXPECT_EQ(trajectories.integers("trajectory"), std::vector<long long>{0}) << "the others were not run";
}

// A run that is long enough to be interrupted.
const Arguments long_run = {"run",       "ball.toml", "--members", "2000000", "--backend",
                            "reference", "--out",     "long",      "--quiet"};

TEST_F(RunProgram, AnInterruptEndsItWithNothingButACheckpoint) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const pid_t process = start_program(folder, long_run);
    ASSERT_TRUE(eventually([&] { return !names_in("long").empty(); })) << "the run has begun";
    ::usleep(200'000);
    ::kill(process, signal);
    EXPECT_EQ(wait_for(process), 130);
    EXPECT_EQ(names_in("long"), (std::vector<std::string>{".checkpoint", ".checkpoint-members"}));
    fs::remove_all(folder / "long");
  }
}

// If a run is killed at any time, in particular while it renames its files, files with final names are
// complete, and if there is a summary, all files belong to one run.
TEST_F(RunProgram, KilledAtAnyTimeItLeavesNoHalfWrittenFile) {
  const auto arguments = [](const std::string& seed) {
    return Arguments{"ball.toml",   "--members", "100",    "--out", "results",
                     "--overwrite", "--quiet",   "--seed", seed};
  };
  // The files of the two runs without interruption, and the duration of a run.
  std::map<std::string, std::map<std::string, std::string>> whole;  // by seed, by file
  std::map<std::string, Json> summaries;
  double seconds = 0;
  for (const std::string seed : {"1", "2"}) {
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_EQ(run(arguments(seed)).code, 0);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    for (const std::string& name : all_files) whole[seed][name] = read_text(folder / "results" / name);
    summaries[seed] = timeless_summary("results");
  }
  std::mt19937 random(4);
  std::uniform_real_distribution<double> moment(0, 1.1);
  int killed = 0;
  for (int round = 0; round < 40; ++round) {
    Arguments full = arguments(round % 2 == 0 ? "1" : "2");
    full.insert(full.begin(), "run");
    full.insert(full.end(), {"--backend", "reference"});
    const pid_t process = start_program(folder, full);
    ::usleep(static_cast<useconds_t>(1e6 * seconds * moment(random)));
    ::kill(process, SIGKILL);
    const int code = wait_for(process);
    ASSERT_TRUE(code == 0 || code == 128 + SIGKILL) << code;
    killed += code == 0 ? 0 : 1;
    // The machine may be less busy now than when the run was timed.
    if (code == 0) seconds *= 0.85;

    const bool complete = fs::exists(folder / "results/summary.json");
    std::string seed;
    if (complete) {
      seed = std::to_string(summary("results")["seed"].get<int>());
      EXPECT_EQ(timeless_summary("results"), summaries[seed]);
    }
    for (const std::string& name : all_files) {
      if (name == "summary.json" || !fs::exists(folder / "results" / name)) {
        EXPECT_TRUE(name == "summary.json" || !complete) << name << " is missing";
        continue;
      }
      const std::string text = read_text(folder / "results" / name);
      EXPECT_TRUE(complete ? text == whole[seed][name] : text == whole["1"][name] || text == whole["2"][name])
          << name << " in round " << round;
    }
  }
  EXPECT_GT(killed, 10);
  // Temporary files of killed runs do not disturb a new run, and it removes them.
  ASSERT_EQ(run(arguments("1")).code, 0);
  EXPECT_EQ(names_in("results"), all_files);
}

TEST(ShellWordTest, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_word("configs/ball.toml"), "configs/ball.toml");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("x=[1,2]"), "'x=[1,2]'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace zwang::run_program_test
