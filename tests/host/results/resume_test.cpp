// Runs that are interrupted, killed or divided into shards give the same files as an undisturbed run.
#include <gtest/gtest.h>

#include <random>

#include "host/backend/backend_reference.h"
#include "host/results/run_files.h"
#include "host/results/run_table.h"
#include "host/study_file/load_study.h"
#include "tests/support/run_fixture.h"
#include "tests/support/run_program.h"
#include "tests/support/run_results.h"
#include "tests/support/stepped_process.h"

namespace zwang::resume_test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
class Resume : public ::testing::Test {
 protected:
  Resume() {
    write_text(folder / "ball.toml", thrown_ball + "[output]\nmembers = true\ntrajectories = [1700, 0, 5]\n");
  }
  // Small statistics memory: quantiles come from a sketch, whose pilot a shard must compute from members of
  // other shards.
  static Arguments arguments(const std::string& out, const Arguments& more = {}) {
    return with_options({"run", "ball.toml", "--members", "2000", "--backend", "reference", "--out", out,
                         "--quiet", "--batch", "100", "--statistics-memory", "1"},
                        more);
  }
  ProgramRun run(const std::string& out, const Arguments& more = {}) const {
    return run_program(folder, arguments(out, more));
  }
  ProgramRun merge(const Arguments& folders, const std::string& out) const {
    Arguments made = {"merge", "--quiet", "--out", out};
    made.insert(made.end(), folders.begin(), folders.end());
    return run_program(folder, made);
  }
  Files whole_run() const {
    EXPECT_EQ(run("whole").code, 0);
    return files_in(folder / "whole");
  }
  // A run interrupted after its first checkpoint.
  int interrupt(const std::string& out, int signal, const Arguments& more = {}) const {
    const pid_t process = start_program(folder, with_options(arguments(out, {"--checkpoint", "0"}), more));
    EXPECT_TRUE(eventually([&] { return fs::exists(folder / out / ".checkpoint"); }));
    ::kill(process, signal);
    return wait_for(process);
  }

  Scratch scratch;
  fs::path folder = scratch.path();
};

TEST_F(Resume, AnInterruptedRunSaysHowToGoOnAndEndsInTheSameFiles) {
  const Files whole = whole_run();
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string out = "of signal " + std::to_string(signal);
    Arguments loud = arguments(out, {"--checkpoint", "0"});
    std::erase(loud, "--quiet");
    const pid_t process = start_program(folder, loud);
    ASSERT_TRUE(eventually([&] { return fs::exists(folder / out / ".checkpoint"); }));
    ::kill(process, signal);
    ASSERT_EQ(wait_for(process), 130);
    const std::string said = read_text(folder / "stderr");
    const std::size_t begin = said.find("zwang run ball.toml");
    ASSERT_NE(begin, std::string::npos) << said;
    std::string command = said.substr(begin, said.find('\n', begin) - begin);
    EXPECT_NE(command.find(" --resume"), std::string::npos) << command;
    for (const auto& [name, text] : files_in(folder / out)) EXPECT_TRUE(name.starts_with(".")) << name;

    // The command as a user would paste it.
    command.replace(0, 5, shell_word(ZWANG_PROGRAM));
    command = "cd " + shell_word(folder) + " && " + command + " > told 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << read_text(folder / "told");
    EXPECT_NE(read_text(folder / "told").find("members were already done"), std::string::npos);
    expect_same(files_in(folder / out), whole, out);
  }
}

TEST_F(Resume, KilledAtRandomMomentsAgainAndAgainItEndsInTheSameFiles) {
  const Files whole = whole_run();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> moment(0.01, 0.25);
  int killed = 0;
  for (int round = 0; round < 3; ++round) {
    const std::string out = "killed " + std::to_string(round);
    int code = -1;
    for (int attempt = 0; attempt < 12; ++attempt) {
      const pid_t process = start_program(folder, arguments(out, {"--resume", "--checkpoint", "0"}));
      ::usleep(static_cast<useconds_t>(1e6 * moment(random)));
      ::kill(process, SIGKILL);
      code = wait_for(process);
      if (code == 0) break;
      ASSERT_EQ(code, 128 + SIGKILL) << read_text(folder / "stderr");
      ++killed;
    }
    if (code != 0) {
      ASSERT_EQ(run(out, {"--resume"}).code, 0) << read_text(folder / "stderr");
    }
    expect_same(files_in(folder / out), whole, out);
  }
  EXPECT_GT(killed, 2);
}

// Killed before each system call in turn: the files change nowhere else. There are about a thousand calls,
// most of them by the NetCDF library; testing all takes a minute and a half and is enabled by
// ZWANG_EVERY_CALL=1.
TEST_F(Resume, KilledBeforeAnySystemCallItIsResumedToTheSameFiles) {
  const Study study = read_study(thrown_ball + "[output]\nmembers = true\ntrajectories = [0]\n", "ball.toml",
                                 {"ensemble.members=12"});
  const auto work = [&](const std::string& out, bool resume) {
    ResultFolder results(folder / out, {.resume = resume});
    if (results.complete()) return;
    BackendReference backend(study, 1);
    run_into(results, study, backend, {.threads = 1, .batch = 4}, [] {}, {.checkpoints = {.seconds = 0}});
  };
  work("whole", false);
  const Files whole = files_in(folder / "whole");

  const int stride = std::getenv("ZWANG_EVERY_CALL") != nullptr ? 1 : 13;
  bool ended = false;
  int call = 0;
  for (; !ended; call += stride) {
    const Stepped how = kill_before_call(call, [&] { work("stepped", true); });
    if (how == Stepped::not_allowed) GTEST_SKIP() << "this machine lets nobody trace its own children";
    ended = how == Stepped::ended;
    work("stepped", true);
    expect_same(files_in(folder / "stepped"), whole, "killed before call " + std::to_string(call));
    fs::remove_all(folder / "stepped");
  }
  EXPECT_GT(call, 60);
}

TEST_F(Resume, AStudyThatStopsWhenSureStopsAtTheSameMember) {
  const Arguments until = {"--set", R"(ensemble.until={measure="highest", relative_stderr=0.01})"};
  ASSERT_EQ(run("whole", until).code, 0);
  ASSERT_EQ(interrupt("cut", SIGINT, until), 130);
  Arguments more = until;
  more.emplace_back("--resume");
  ASSERT_EQ(run("cut", more).code, 0) << read_text(folder / "stderr");
  expect_same(files_in(folder / "cut"), files_in(folder / "whole"), "until");
  more.insert(more.end(), {"--shard", "1/2"});
  const ProgramRun sharded = run("shard", more);
  EXPECT_EQ(sharded.code, 1);
  EXPECT_NE(sharded.err.find("ensemble.until"), std::string::npos) << sharded.err;
}

TEST_F(Resume, ACheckpointOfAnotherRunIsRefusedWithTheDifferenceNamed) {
  ASSERT_EQ(interrupt("cut", SIGINT), 130);
  const Files before = files_in(folder / "cut");
  const std::vector<std::pair<Arguments, std::string>> others = {
      {{"--resume", "--seed", "7"}, "its seed differs"},
      {{"--resume", "--set", "point.ball.mass=2"}, "its study differs"},
      {{"--resume", "--shard", "1/3"}, "its shard differs"},
      {{"--resume", "--backend", "cpu"}, "its backend differs"},
      {{}, "--resume continues it"}};
  for (const auto& [more, message] : others) {
    const ProgramRun made = run("cut", more);
    EXPECT_EQ(made.code, 1) << message;
    EXPECT_NE(made.err.find(message), std::string::npos) << made.err;
    expect_same(files_in(folder / "cut"), before, "refused: " + message);
  }
}

TEST_F(Resume, ACheckpointOfAnotherVersionOrOfOtherSourcesIsRefused) {
  const Study study = load_study(folder / "ball.toml", {"ensemble.members=2000"});
  BackendReference backend(study, 1);
  const EnsembleRun begun(study, backend, {.statistics_memory = std::size_t{1} << 20});
  RunRecord record{.identity = run_identity(study, begun.origin(), std::size_t{1} << 20, {}),
                   .study_name = study.name,
                   .study_text = study.text,
                   .inputs = {},
                   .part = begun.part(),
                   .members = {},
                   .trajectories = {}};
  fs::create_directories(folder / "old");
  const auto checkpoint = [&] {
    write_record(folder / "old/.checkpoint", record, begun.statistics());
    return run("old", {"--resume"});
  };
  const RunIdentity own = record.identity;
  const std::vector<std::pair<std::string, std::string>> others = {{"version", "0.0.9"},
                                                                   {"program", "sources 0123456789abcdef"}};
  for (const auto& [changed, other] : others) {
    record.identity = own;
    for (auto& [name, value] : record.identity.facts)
      if (name == changed) value = other;
    const ProgramRun refused = checkpoint();
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("its " + changed + " differs"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find(other), std::string::npos) << refused.err;
  }
  record.identity = own;
  EXPECT_EQ(checkpoint().code, 0) << "that was the only thing wrong with it";
}

TEST_F(Resume, ADamagedCheckpointIsRefused) {
  ASSERT_EQ(interrupt("cut", SIGINT), 130);
  const std::string checkpoint = read_text(folder / "cut/.checkpoint");
  const std::string members = read_text(folder / "cut/.checkpoint-members");
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    std::string damaged = checkpoint;
    const std::size_t place = random() % damaged.size();
    if (round % 2 == 0)
      damaged[place] = static_cast<char>(damaged[place] ^ (1 << random() % 8));
    else
      damaged.resize(place);
    write_text(folder / "cut/.checkpoint", damaged);
    const ProgramRun made = run("cut", {"--resume"});
    EXPECT_EQ(made.code, 1) << "at byte " << place << made.err;
    EXPECT_NE(made.err.find("the checkpoint "), std::string::npos) << made.err;
  }
  write_text(folder / "cut/.checkpoint", checkpoint);
  write_text(folder / "cut/.checkpoint-members", members.substr(0, 100));
  const ProgramRun made = run("cut", {"--resume"});
  EXPECT_EQ(made.code, 1);
  EXPECT_NE(made.err.find("the members recorded by the checkpoint are damaged"), std::string::npos)
      << made.err;
  EXPECT_EQ(run("cut", {"--overwrite"}).code, 0) << "starting again is always possible";
}

TEST_F(Resume, OverACompleteRunThereIsNothingLeftToDo) {
  const Files whole = whole_run();
  EXPECT_EQ(run("whole", {"--resume"}).code, 0);
  expect_same(files_in(folder / "whole"), whole, "untouched");
  const ProgramRun other = run("whole", {"--resume", "--seed", "7"});
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("another run"), std::string::npos) << other.err;
  EXPECT_EQ(run("empty", {"--resume"}).code, 0) << "nothing to resume: from the beginning";
  expect_same(files_in(folder / "empty"), whole, "from the beginning");
}

// --- Shards ------------------------------------------------------------------------------------------------

TEST_F(Resume, AnyNumberOfShardsJoinsToTheFilesOfOneRun) {
  const Files whole = whole_run();
  for (const int shards : {1, 2, 3, 7, 11}) {  // eight blocks: some of eleven shards are empty
    Arguments folders;
    for (int k = shards; k >= 1; --k) {
      const std::string shard = std::to_string(k) + "/" + std::to_string(shards);
      folders.push_back("part " + shard);
      if (k == 2 && shards == 2) {
        EXPECT_EQ(interrupt(folders.back(), SIGINT, {"--shard", shard}), 130);
      }
      ASSERT_EQ(run(folders.back(), {"--shard", shard, "--resume"}).code, 0) << read_text(folder / "stderr");
    }
    const std::string out = "joined " + std::to_string(shards);
    const ProgramRun made = merge(folders, out);
    EXPECT_EQ(made.code, 0) << made.err;
    expect_same(files_in(folder / out), whole, out);
  }
}

// Conditional statistics, probabilities, exceedance and pick-freeze: shards are cut in rows, also within a
// point of a sweep.
TEST_F(Resume, ShardsAndInterruptedRunsOfPickFreezeEndInTheFilesOfOneRun) {
  for (const bool swept : {false, true}) {
    std::string text = thrown_ball;
    const auto replace = [&](const std::string& old, const std::string& by) {
      text.replace(text.find(old), old.size(), by);
    };
    replace("members = 300", "seed = 4");
    replace("position = [0.5]", "position = [{ uniform = [0.4, 0.6] }]");
    if (swept) replace("restitution = 0.4", "restitution = { sweep = { values = [0.2, 0.8] } }");
    write_text(folder / "ball.toml", text + R"toml(exceedance.highest = { points = 9 }
[[given]]
name = "high"
when = "highest > 0.8"
observables = true
[output]
members = true
[sensitivity]
base = )toml" + (swept ? "450\n" : "900\n"));
    const Arguments alone = {"run", "ball.toml", "--backend", "reference", "--quiet", "--batch", "100"};
    const std::string mark = swept ? " swept" : "";
    const auto run_into = [&](const std::string& out, const Arguments& more) {
      Arguments all = with_options(alone, {"--out", out + mark});
      return run_program(folder, with_options(all, more));
    };
    ASSERT_EQ(run_into("whole", {}).code, 0) << read_text(folder / "stderr");
    const Files whole = files_in(folder / ("whole" + mark));
    Arguments folders;
    for (const char* shard : {"1/3", "2/3", "3/3"}) {
      folders.push_back(std::string("part ") + shard + mark);
      ASSERT_EQ(run_into(std::string("part ") + shard, {"--shard", shard}).code, 0);
    }
    const ProgramRun made = merge(folders, "joined" + mark);
    EXPECT_EQ(made.code, 0) << made.err;
    expect_same(files_in(folder / ("joined" + mark)), whole, "joined");

    const std::string resumed = "resumed" + mark;
    const pid_t process = start_program(folder, with_options(alone, {"--out", resumed, "--checkpoint", "0"}));
    ASSERT_TRUE(eventually([&] { return fs::exists(folder / resumed / ".checkpoint"); }));
    ::kill(process, SIGINT);
    EXPECT_EQ(wait_for(process), 130);
    EXPECT_EQ(run_into("resumed", {"--resume"}).code, 0);
    expect_same(files_in(folder / resumed), whole, "resumed");
  }
}

// Features that could depend on more than a member's number: positions in a sequence or a hypercube, rows of
// a file, a nominal member, failing members and their examples, exact quantiles and quantiles from a sketch.
TEST_F(Resume, ShardsOfEverySamplerAndOfMembersThatFailJoinToTheFilesOfOneRun) {
  std::string rows = "speed\n";
  for (int k = 0; k < 1500; ++k) rows += std::to_string(1 + k % 97 / 50.0) + "\n";
  write_text(folder / "speeds.csv", rows);
  write_text(folder / "troubles.toml", troubles);
  const std::vector<Arguments> ways = {
      {"ball.toml", "--set", "ensemble.sampler=sobol", "--statistics-memory", "1"},
      {"ball.toml", "--set", "ensemble.sampler=latin-hypercube"},
      {"ball.toml", "--set", R"(parameters.speed_up={ file = "speeds.csv", column = "speed" })"},
      {"ball.toml", "--set", "ensemble.include_nominal=true", "--set",
       "point.ball.position=[{ uniform = [-1, 1] }]", "--set", "ensemble.consistency=reject"},
      {"troubles.toml", "--max-failed", "1", "--set", "output.trajectories=[3, 1400, 2]", "--set",
       "integrator.max_steps=60"}};
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const auto run_way = [&](const std::string& out, const Arguments& more) {
      Arguments all = with_options(ways[way], {"--members", "1500", "--backend", "reference", "--quiet"});
      all.insert(all.begin(), "run");
      all.insert(all.end(), {"--out", out});
      return run_program(folder, with_options(all, more));
    };
    const std::string name = std::to_string(way);
    const ProgramRun one = run_way(name + " whole", {});
    ASSERT_EQ(one.code, 0) << one.err;
    const Files whole = files_in(folder / (name + " whole"));
    EXPECT_TRUE(whole.contains("members.nc") && whole.contains("trajectories.nc"));
    EXPECT_EQ(whole.contains("inputs.csv"), way == 2);
    for (const int shards : {2, 7}) {  // six blocks: one of seven shards is empty
      Arguments folders;
      for (int k = 1; k <= shards; ++k) {
        const std::string shard = std::to_string(k) + "/" + std::to_string(shards);
        folders.push_back(name + " part " + shard);
        const ProgramRun made = run_way(folders.back(), {"--shard", shard});
        ASSERT_EQ(made.code, 0) << made.err;
      }
      folders.insert(folders.begin(), {"--max-failed", "1"});
      const std::string out = name + " joined " + std::to_string(shards);
      const ProgramRun made = merge(folders, out);
      EXPECT_EQ(made.code, 0) << made.err;
      expect_same(files_in(folder / out), whole, out);
    }
  }
}

TEST_F(Resume, ShardsThatDoNotBelongTogetherAreRefusedWithTheDifferenceNamed) {
  for (const char* shard : {"1/3", "2/3", "3/3", "2/2"})
    ASSERT_EQ(run(std::string("part ") + shard, {"--shard", shard}).code, 0);
  ASSERT_EQ(run("other seed", {"--shard", "2/3", "--seed", "9"}).code, 0);
  ASSERT_EQ(run("other study", {"--shard", "2/3", "--set", "point.ball.mass=2"}).code, 0);
  ASSERT_EQ(run("whole").code, 0);
  ASSERT_EQ(interrupt("cut", SIGINT, {"--shard", "2/3"}), 130);
  fs::copy(folder / "part 2/3", folder / "damaged", fs::copy_options::recursive);
  std::string members = read_text(folder / "damaged/shard-members.zwang");
  members[members.size() / 2] ^= 1;
  write_text(folder / "damaged/shard-members.zwang", members);
  const std::vector<std::pair<Arguments, std::string>> wrong = {
      {{"part 1/3", "part 3/3"}, "missing: 2/3"},
      {{"part 1/3", "part 2/3", "part 2/3", "part 3/3"}, "given twice"},
      {{"part 1/3", "other seed", "part 3/3"}, "the seed differs"},
      {{"part 1/3", "other study", "part 3/3"}, "the study differs"},
      {{"part 1/3", "part 2/2", "part 3/3"}, "the number of shards differs"},
      {{"part 1/3", "whole", "part 3/3"}, "this folder holds no shard"},
      {{"part 1/3", "cut", "part 3/3"}, "is not finished"},
      {{"part 1/3", "damaged", "part 3/3"}, "the member records of the shard are damaged"}};
  for (const auto& [folders, message] : wrong) {
    const ProgramRun made = merge(folders, "joined");
    EXPECT_EQ(made.code, 1) << message;
    EXPECT_NE(made.err.find(message), std::string::npos) << message << " in\n" << made.err;
    EXPECT_FALSE(fs::exists(folder / "joined")) << message;
  }
  EXPECT_EQ(merge({"part 1/3", "part 2/3", "part 3/3"}, "joined").code, 0);
  for (const char* shard : {"0/3", "4/3", "1", "1/0", "a/b", "1/3x"})
    EXPECT_EQ(run("none", {"--shard", shard}).code, 1) << shard;
}

TEST(RunIdentityTest, AnotherVersionIsADifference) {
  const RunIdentity here{{{"version", "0.1.0"}, {"seed", "1"}}}, there{{{"version", "0.0.9"}, {"seed", "1"}}};
  const auto other = difference(there, here);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->name + " " + other->found + " " + other->expected, "version 0.0.9 0.1.0");
  EXPECT_FALSE(difference(here, here));
}

}  // namespace
}  // namespace zwang::resume_test
