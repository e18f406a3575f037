// `mpirun -n 3 zwang run`: real ranks that are killed, stopped and interrupted; and the scripts for Slurm,
// with stand-ins for its commands.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "host/results/run_table.h"
#include "tests/support/run_fixture.h"
#include "tests/support/run_program.h"
#include "tests/support/run_results.h"

namespace zwang::mpi_test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

class Mpi : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(ZWANG_MPIRUN).empty()) GTEST_SKIP() << "this build has no MPI";
    write_text(folder / "ball.toml", thrown_ball + "[output]\nmembers = true\ntrajectories = [1700, 0, 5]\n");
    // Open MPI's own use of memory and threads is not under test.
    add_to("ASAN_OPTIONS", "detect_leaks=0");
    add_to("TSAN_OPTIONS", "ignore_noninstrumented_modules=1");
    environment.set("OMPI_ALLOW_RUN_AS_ROOT", "1");
    environment.set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  void add_to(const char* variable, const std::string& option) {
    const char* before = std::getenv(variable);
    environment.set(variable, (before != nullptr ? std::string(before) + ":" : "") + option);
  }
  static Arguments options(const std::string& out, const Arguments& more = {}) {
    return with_options({"run", "ball.toml", "--members", "6000", "--backend", "reference", "--threads", "1",
                         "--batch", "256", "--checkpoint", "0", "--out", out},
                        more);
  }
  static std::string mpirun(int ranks) {
    return shell_word(ZWANG_MPIRUN) + " --oversubscribe --bind-to none -n " + std::to_string(ranks) + " ";
  }
  // Runs the command in the folder; its output is in `said`.
  int shell(const std::string& command) {
    const int status = std::system(("cd " + shell_word(folder) + " && " + command + " > said 2>&1").c_str());
    said = read_text(folder / "said");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  static std::string words(const Arguments& arguments) {
    std::string text = shell_word(ZWANG_PROGRAM);
    for (const std::string& word : arguments) text += " " + shell_word(word);
    return text;
  }
  int run_ranks(int ranks, const std::string& out, const Arguments& more = {}) {
    return shell(mpirun(ranks) + words(options(out, more)));
  }
  Files whole_run(const Arguments& more = {}) {
    EXPECT_EQ(run_program(folder, options("whole", with_options({"--quiet"}, more))).code, 0);
    return files_in(folder / "whole");
  }
  // Starts mpirun; returns the processes of its ranks, rank 0 first, once a checkpoint exists.
  pid_t start_ranks(int ranks, const std::string& out, const Arguments& more, std::vector<pid_t>& processes) {
    const std::string command =
        "cd " + shell_word(folder) + " && exec " + mpirun(ranks) + words(options(out, more)) + " > said 2>&1";
    const pid_t launcher = ::fork();
    if (launcher == 0) {
      ::execl("/bin/bash", "bash", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    EXPECT_TRUE(eventually([&] { return fs::exists(folder / out / ".checkpoint"); }, 60))
        << read_text(folder / "said");
    processes = ranks_of(launcher, ranks);
    return launcher;
  }
  // Children of the launcher, by rank.
  static std::vector<pid_t> ranks_of(pid_t launcher, int ranks) {
    std::vector<pid_t> found(static_cast<std::size_t>(ranks), 0);
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::istringstream stat(read_text(entry.path() / "stat"));
      std::string number, program, state;
      pid_t parent = 0;
      stat >> number >> program >> state >> parent;
      if (parent != launcher) continue;
      const std::string variables = read_text(entry.path() / "environ"), key = "OMPI_COMM_WORLD_RANK=";
      const std::size_t at = variables.find(key);
      if (at == std::string::npos) continue;
      const auto rank = static_cast<std::size_t>(std::stoi(variables.substr(at + key.size())));
      if (rank < found.size()) found[rank] = std::stoi(name);
    }
    return found;
  }

  Environment environment;
  Scratch scratch;
  fs::path folder = scratch.path();
  std::string said;
};

TEST_F(Mpi, ThreeRanksWriteTheFilesOfOne) {
  const Files whole = whole_run();
  for (const int ranks : {1, 3}) {
    const std::string out = std::to_string(ranks) + " ranks";
    EXPECT_EQ(run_ranks(ranks, out), 0) << said;
    EXPECT_NE(said.find("6000 members"), std::string::npos) << said;
    expect_same(files_in(folder / out), whole, out);
  }
}

TEST_F(Mpi, WhatIsWrongIsSaidOnceWithTheUsualExitCode) {
  const std::string message = "time.end";
  EXPECT_EQ(run_ranks(3, "none", {"--set", "time.end=-1"}), 1) << said;
  const std::size_t at = said.find(message);
  ASSERT_NE(at, std::string::npos) << said;
  EXPECT_EQ(said.find(message, at + 200), std::string::npos) << "by every rank:\n" << said;
  EXPECT_FALSE(fs::exists(folder / "none"));
  EXPECT_EQ(run_ranks(2, "/proc/zwang/none"), 2) << said;
}

TEST_F(Mpi, AWorkerThatDiesLeavesARunThatGoesOn) {
  const Files whole = whole_run({"--members", "30000"});
  std::vector<pid_t> ranks;
  const pid_t launcher = start_ranks(3, "cut", {"--members", "30000"}, ranks);
  ASSERT_GT(ranks[2], 0);
  ::kill(ranks[2], SIGKILL);
  EXPECT_NE(wait_for(launcher), 0);
  EXPECT_FALSE(fs::exists(folder / "cut/summary.json"));
  EXPECT_TRUE(fs::exists(folder / "cut/.checkpoint"));
  EXPECT_EQ(run_ranks(2, "cut", {"--members", "30000", "--resume"}), 0) << said;
  EXPECT_NE(said.find("members were already done"), std::string::npos) << said;
  expect_same(files_in(folder / "cut"), whole, "after a death");
}

TEST_F(Mpi, AWorkerThatStandsStillHoldsNobody) {
  const Files whole = whole_run({"--members", "30000"});
  std::vector<pid_t> ranks;
  const pid_t launcher = start_ranks(3, "held", {"--members", "30000"}, ranks);
  ASSERT_GT(ranks[2], 0);
  ::kill(ranks[2], SIGSTOP);
  EXPECT_TRUE(eventually([&] { return fs::exists(folder / "held/summary.json"); }, 120));
  EXPECT_EQ(wait_for(launcher), 0);
  expect_same(files_in(folder / "held"), whole, "with one that stands still");
}

TEST_F(Mpi, AnInterruptLeavesARunThatGoesOn) {
  const Files whole = whole_run({"--members", "30000"});
  std::vector<pid_t> ranks;
  const pid_t launcher = start_ranks(3, "cut", {"--members", "30000"}, ranks);
  ASSERT_GT(ranks[0], 0);
  ::kill(ranks[0], SIGTERM);
  EXPECT_EQ(wait_for(launcher), 130);
  EXPECT_NE(read_text(folder / "said").find("--resume"), std::string::npos) << read_text(folder / "said");
  EXPECT_EQ(run_ranks(3, "cut", {"--members", "30000", "--resume"}), 0) << said;
  expect_same(files_in(folder / "cut"), whole, "after an interrupt");
}

TEST_F(Mpi, WithoutTheLibraryItIsSaidHowToDoWithoutRanks) {
  environment.set("ZWANG_MPI", (folder / "none.so").string());
  EXPECT_EQ(run_ranks(2, "none"), 2) << said;
  EXPECT_NE(said.find("the MPI module could not be loaded"), std::string::npos) << said;
  environment.set("ZWANG_MPI", "off");
  EXPECT_EQ(run_ranks(1, "alone"), 0) << said;
}

// --- Slurm -------------------------------------------------------------------------------------------------

class Slurm : public Mpi {
 protected:
  void SetUp() override {
    Mpi::SetUp();
    if (IsSkipped()) return;
    fs::create_directories(folder / "bin");
    stand_in("srun", "shift\nexec " + mpirun(3) + "\"$@\"\n");  // without --mpi=pmix
    stand_in("scontrol", "echo \"scontrol $*\"\n");
    const char* path = std::getenv("PATH");
    environment.set("PATH", (folder / "bin").string() + ":" + (path != nullptr ? path : ""));
    environment.set("ZWANG", ZWANG_PROGRAM);
    environment.set("STUDY", "ball.toml");
  }
  void stand_in(const std::string& name, const std::string& script) {
    write_text(folder / "bin" / name, "#!/bin/bash\n" + script);
    fs::permissions(folder / "bin" / name, fs::perms::owner_all);
  }
  static std::string script(const std::string& name) {
    return "bash " + shell_word(ZWANG_SOURCE_DIR "/docs/slurm/" + name);
  }
  static std::string more() { return " --members 6000 --backend reference --batch 256 --checkpoint 0"; }
};

TEST_F(Slurm, EveryScriptIsReadWithoutComplaint) {
  int scripts = 0;
  for (const auto& entry : fs::directory_iterator(ZWANG_SOURCE_DIR "/docs/slurm")) {
    EXPECT_EQ(shell("bash -n " + shell_word(entry.path())), 0) << said;
    EXPECT_NE(read_text(entry.path()).find("\n#SBATCH --time="), std::string::npos) << entry.path();
    ++scripts;
  }
  EXPECT_EQ(scripts, 3);
}

TEST_F(Slurm, AnArrayAndItsMergeGiveTheFilesOfOneRun) {
  const Files whole = whole_run();
  environment.set("RESULTS", "joined");
  environment.set("SLURM_ARRAY_TASK_COUNT", "3");
  environment.set("SLURM_ARRAY_JOB_ID", "77");
  environment.set("SLURM_CPUS_PER_TASK", "1");
  for (const char* task : {"1", "2", "3"}) {
    environment.set("SLURM_ARRAY_TASK_ID", task);
    if (std::string(task) == "2") {
      // The time limit is reached: the job writes a checkpoint and is requeued.
      const std::string begin = "exec " + script("array.sh") + more();
      const pid_t job = ::fork();
      if (job == 0) {
        const std::string line = "cd " + shell_word(folder) + " && " + begin + " > job 2>&1";
        ::execl("/bin/bash", "bash", "-c", line.c_str(), nullptr);
        ::_exit(127);
      }
      ASSERT_TRUE(eventually([&] { return fs::exists(folder / "joined.shards/2/.checkpoint"); }, 60));
      ::kill(job, SIGTERM);
      EXPECT_EQ(wait_for(job), 0);
      EXPECT_NE(read_text(folder / "job").find("scontrol requeue 77_2"), std::string::npos)
          << read_text(folder / "job");
    }
    EXPECT_EQ(shell(script("array.sh") + more()), 0) << said;
  }
  EXPECT_EQ(shell(script("merge.sh") + " --quiet"), 0) << said;
  expect_same(files_in(folder / "joined"), whole, "joined");
}

TEST_F(Slurm, ThreeRanksGiveTheFilesOfOneRun) {
  const Files whole = whole_run();
  environment.set("RESULTS", "ranks");
  environment.set("SLURM_JOB_ID", "78");
  EXPECT_EQ(shell(script("mpi.sh") + more()), 0) << said;
  expect_same(files_in(folder / "ranks"), whole, "ranks");
  EXPECT_EQ(shell(script("mpi.sh") + more()), 0) << "sent again there is nothing left to do: " << said;
}

}  // namespace
}  // namespace zwang::mpi_test
