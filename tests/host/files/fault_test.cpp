// Faults of the machine during a run: each ends in a message that names the cause, with the right exit code,
// and no recorded work is lost. The table in docs/testing.md follows these tests.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <set>

#include "tests/support/run_fixture.h"
#include "tests/support/run_program.h"
#include "tests/support/run_results.h"
#include "tests/support/sanitized.h"

namespace zwang::fault_test {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

class Fault : public ::testing::Test {
 protected:
  Fault() {
    write_text(folder / "ball.toml", thrown_ball + "[output]\nmembers = true\ntrajectories = [0, 5]\n");
    // Readable by others: one test runs as another user.
    fs::permissions(folder, fs::perms{0755});
  }
  static Arguments arguments(const std::string& out, const Arguments& more = {}) {
    return with_options({"run", "ball.toml", "--members", "3000", "--backend", "reference", "--out", out,
                         "--batch", "200", "--checkpoint", "0"},
                        more);
  }
  ProgramRun run(const std::string& out, const Arguments& more = {},
                 const std::function<void()>& before = {}) const {
    return run_program(folder, arguments(out, more), before);
  }
  Files whole_run() const {
    EXPECT_EQ(run("whole", {"--quiet"}).code, 0);
    return files_in(folder / "whole");
  }
  void expect_says(const std::string& text, const Arguments& pieces) const {
    for (const std::string& piece : pieces)
      EXPECT_NE(text.find(piece), std::string::npos) << piece << " in\n" << text;
  }
  // A run that was interrupted after a checkpoint.
  void interrupt(const std::string& out) const {
    const pid_t process = start_program(folder, arguments(out));
    EXPECT_TRUE(eventually([&] { return fs::exists(folder / out / ".checkpoint"); }));
    ::kill(process, SIGINT);
    EXPECT_EQ(wait_for(process), 130);
  }

  Scratch scratch;
  fs::path folder = scratch.path();
};

// --- Disks -------------------------------------------------------------------------------------------------

TEST_F(Fault, AFileThatMayGrowNoFurtherEndsTheRunWhichGoesOnWithoutTheLimit) {
  if (thread_sanitized) GTEST_SKIP() << "a program under ThreadSanitizer does not start under such a limit";
  const Files whole = whole_run();
  const auto limit = [] {
    const rlimit size{200'000, 200'000};
    ::setrlimit(RLIMIT_FSIZE, &size);
  };
  const ProgramRun made = run("limited", {}, limit);
  EXPECT_EQ(made.code, 2) << made.err;
  expect_says(made.err, {"File too large", "finished members are saved", "--resume"});
  for (const auto& [name, text] : files_in(folder / "limited"))
    EXPECT_TRUE(name == ".checkpoint" || name == ".checkpoint-members") << name;
  EXPECT_EQ(run("limited", {"--resume"}).code, 0);
  expect_same(files_in(folder / "limited"), whole, "resumed after the limit");
}

// A separate disk, mounted in a private namespace of these processes. The commands run in a shell inside it.
class SmallDisk : public Fault {
 protected:
  void SetUp() override {
    if (std::system("unshare -Urm true 2>/dev/null") != 0)
      GTEST_SKIP() << "this machine lets nobody mount a disk of his own";
    fs::create_directories(folder / "disk");
    Arguments made = arguments("disk/out");
    for (const std::string& word : made) command += (command.empty() ? "" : " ") + word;
    command = std::string("'") + ZWANG_PROGRAM + "' " + command;
  }
  // Exit code of the script; its output is in `said`.
  int on_disk(const std::string& size, const std::string& script) {
    const std::string line = "cd '" + folder.string() +
                             "' && unshare -Urm sh -c 'mount -t tmpfs -o size=" + size +
                             " none disk && . ./script' > said 2>&1";
    write_text(folder / "script", script);
    const int status = std::system(line.c_str());
    said = read_text(folder / "said");
    return WEXITSTATUS(status);
  }

  std::string command, said;
};

// The smaller the disk, the earlier it is full: while writing members, a checkpoint, a NetCDF file or the
// last files.
TEST_F(SmallDisk, AFullDiskEndsTheRunWhichGoesOnWhenThereIsRoom) {
  const Files whole = whole_run();
  std::set<std::string> full_with;
  for (const char* size : {"300k", "700k", "1040k", "1060k", "1090k", "1130k", "1160k", "1200k"}) {
    const std::string script = "rm -rf after\n" + command + "; echo \"code $?\"; ls -A disk/out\n" +
                               "mount -o remount,size=64m disk\n" + command +
                               " --resume --quiet; echo \"then $?\"; cp -r disk/out after\n";
    EXPECT_EQ(on_disk(size, script), 0) << said;
    expect_says(said, {"then 0"});
    expect_same(files_in(folder / "after"), whole, std::string("resumed with room after ") + size);
    if (said.find("code 0") != std::string::npos) continue;  // the disk was large enough
    expect_says(said, {"code 2", "error: ", "finished members are saved", ".checkpoint"});
    EXPECT_EQ(said.find("\nsummary.json"), std::string::npos) << said;
    const std::size_t at = said.find("disk/out/."), from = at + 10;
    if (at != std::string::npos) full_with.insert(said.substr(from, said.find_first_of(".:", from) - from));
  }
  EXPECT_TRUE(full_with.contains("checkpoint"));
  EXPECT_GT(full_with.size(), 1U) << "one of the results, too";
}

TEST_F(SmallDisk, ADiskThatCannotBeWrittenToIsSaidAtOnce) {
  const std::string script = "mount -o remount,ro disk\n" + command + "; exit $?\n";
  EXPECT_EQ(on_disk("1m", script), 2) << said;
  expect_says(said, {"disk/out: error: the folder for the results could not be created",
                     "Read-only file system", "--out chooses another"});
}

TEST_F(Fault, AFolderThatIsNotOursToWriteToIsSaidAtOnce) {
  fs::create_directories(folder / "theirs");
  fs::permissions(folder / "theirs", fs::perms{0555});
  const auto as_somebody = [] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(99);
  };
  const ProgramRun made = run("theirs", {"--members", "1000000000"}, as_somebody);
  if (made.code == 126 || made.code == 127) GTEST_SKIP() << "the program cannot be run by somebody else here";
  EXPECT_EQ(made.code, 2) << made.err;
  expect_says(made.err, {"the folder for the results cannot be written to", "Permission denied",
                         "--out chooses another"});
}

// --- Files -------------------------------------------------------------------------------------------------

TEST_F(Fault, AFolderThatVanishesUnderARunEndsIt) {
  const pid_t process = start_program(folder, arguments("gone", {"--members", "2000000"}));
  ASSERT_TRUE(eventually([&] { return fs::exists(folder / "gone/.checkpoint"); }));
  fs::rename(folder / "gone", folder / "moved");
  EXPECT_EQ(wait_for(process), 2);
  expect_says(read_text(folder / "stderr"), {"could not be", "No such file or directory"});
  // The recorded members were moved too, and the run continues from there.
  fs::rename(folder / "moved", folder / "gone");
  const pid_t again = start_program(folder, arguments("gone", {"--members", "2000000", "--resume"}));
  EXPECT_TRUE(eventually([&] {
    return read_text(folder / "stderr").find("members were already done") != std::string::npos;
  })) << read_text(folder / "stderr");
  ::kill(again, SIGINT);
  EXPECT_EQ(wait_for(again), 130);
}

TEST_F(Fault, MembersThatVanishBehindACheckpointAreMissed) {
  interrupt("cut");
  fs::remove(folder / "cut/.checkpoint-members");
  const ProgramRun made = run("cut", {"--resume"});
  EXPECT_EQ(made.code, 1);
  expect_says(made.err, {"the members recorded by the checkpoint are damaged", "--overwrite restarts"});
}

TEST_F(Fault, AStudyOrItsColumnsThatVanishAreNamed) {
  const std::string reading = R"(parameters.speed_up={ file = "speeds.csv", column = "speed" })";
  const ProgramRun columns = run("none", {"--set", reading});
  EXPECT_EQ(columns.code, 1);
  expect_says(columns.err, {"speeds.csv"});
  fs::remove(folder / "ball.toml");
  const ProgramRun study = run("none");
  EXPECT_EQ(study.code, 1);
  expect_says(study.err, {"ball.toml"});
  EXPECT_FALSE(fs::exists(folder / "none"));
}

TEST_F(Fault, ADamagedCheckpointIsRefusedAndLeftAsItIs) {
  interrupt("cut");
  std::string bytes = read_text(folder / "cut/.checkpoint");
  bytes[bytes.size() / 2] ^= 4;
  write_text(folder / "cut/.checkpoint", bytes);
  const Files before = files_in(folder / "cut");
  const ProgramRun made = run("cut", {"--resume"});
  EXPECT_EQ(made.code, 1);
  expect_says(made.err, {"the checkpoint is damaged or was written by another version", "checksum",
                         "--overwrite restarts"});
  expect_same(files_in(folder / "cut"), before, "refused");
}

// --- Memory ------------------------------------------------------------------------------------------------

TEST_F(Fault, ALimitOnMemoryIsSaidAndNothingIsLeft) {
  if (sanitized) GTEST_SKIP() << "a sanitized program does not start under such a limit";
  const auto limit = [] {
    const rlimit size{400'000'000, 400'000'000};
    ::setrlimit(RLIMIT_AS, &size);
  };
  const ProgramRun made =
      run("none",
          {"--members", "20000000", "--statistics-memory", "8000", "--threads", "1", "--checkpoint", "10"},
          limit);
  EXPECT_EQ(made.code, 2) << made.err;
  expect_says(made.err, {"out of memory", "--statistics-memory"});
  EXPECT_FALSE(fs::exists(folder / "none"));
}

TEST_F(Fault, ALimitOnMemoryMetByAResumedRunLosesNothing) {
  if (sanitized) GTEST_SKIP() << "a sanitized program does not start under such a limit";
  const Files whole = whole_run();
  interrupt("cut");
  const Files before = files_in(folder / "cut");
  const auto limit = [] {
    const rlimit size{20'000'000, 20'000'000};
    ::setrlimit(RLIMIT_AS, &size);
  };
  const int code = run("cut", {"--resume"}, limit).code;
  EXPECT_TRUE(code == 2 || code == 127 || code > 128)
      << code << ": too little even to load the program, or to run it";
  expect_same(files_in(folder / "cut"), before, "untouched");
  EXPECT_EQ(run("cut", {"--resume"}).code, 0);
  expect_same(files_in(folder / "cut"), whole, "resumed with memory");
}

// --- Compilers ---------------------------------------------------------------------------------------------

class CompilerFault : public Fault {
 protected:
  CompilerFault() { environment.set("ZWANG_CACHE", scratch.folder("cache").string()); }
  ProgramRun run_compiled(const std::string& out, const Arguments& more = {}) const {
    return run_program(folder, compiled(out, more));
  }
  static Arguments compiled(const std::string& out, const Arguments& more = {}) {
    return with_options({"run", "ball.toml", "--members", "500", "--backend", "cpu", "--out", out}, more);
  }
  void use_compiler(const std::string& script) {
    write_text(folder / "compiler", "#!/bin/sh\n" + script);
    fs::permissions(folder / "compiler", fs::perms::owner_all);
    environment.set("ZWANG_CXX", (folder / "compiler").string());
  }
  Environment environment;
};

TEST_F(CompilerFault, ACompilerThatFailsIsQuoted) {
  use_compiler("echo 'model.h:3:1: error: the licence has run out' >&2\nexit 4\n");
  const ProgramRun made = run_compiled("none");
  EXPECT_EQ(made.code, 2);
  expect_says(made.err, {"failed with exit code 4", "the licence has run out", "--backend reference"});
  EXPECT_FALSE(fs::exists(folder / "none"));
}

TEST_F(CompilerFault, ACompilerThatHangsIsEndedAfterItsTime) {
  use_compiler("sleep 1000\n");
  environment.set("ZWANG_COMPILE_SECONDS", "0.5");
  const ProgramRun made = run_compiled("none");
  EXPECT_EQ(made.code, 2);
  expect_says(made.err, {"did not finish", "still running after 0.5 s", "ZWANG_COMPILE_SECONDS"});
  EXPECT_FALSE(fs::exists(folder / "none"));
  environment.set("ZWANG_COMPILE_SECONDS", "soon");
  EXPECT_EQ(run_compiled("none").code, 2);
}

TEST_F(CompilerFault, ADamagedCacheEntryCostsACompileAndNothingElse) {
  ASSERT_EQ(run_compiled("first").code, 0);
  int damaged = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path() / "cache")) {
    if (entry.path().extension() != ".so") continue;
    std::string bytes = read_text(entry.path());
    bytes[bytes.size() / 2] ^= 1;
    write_text(entry.path(), bytes);
    ++damaged;
  }
  EXPECT_EQ(damaged, 1);
  ASSERT_EQ(run_compiled("second").code, 0);
  expect_same(files_in(folder / "second"), files_in(folder / "first"), "after the damage");
}

// --- Clocks ------------------------------------------------------------------------------------------------

// After a clock is set back, files have dates in the future: checkpoints and compiled programs dated in the
// next century are used nevertheless.
TEST_F(CompilerFault, AClockThatWasSetBackChangesNothing) {
  const Arguments many = {"--members", "60000", "--checkpoint", "0", "--batch", "512"};
  ASSERT_EQ(run_compiled("whole", many).code, 0);
  const pid_t process = start_program(folder, compiled("cut", many));
  ASSERT_TRUE(eventually([&] { return fs::exists(folder / "cut/.checkpoint"); }));
  ::kill(process, SIGTERM);
  ASSERT_EQ(wait_for(process), 130);
  const auto future = fs::file_time_type::clock::now() + std::chrono::hours(24 * 365 * 50);
  for (const fs::path& place : {folder / "cut", scratch.path() / "cache", folder})
    for (const auto& entry : fs::directory_iterator(place))
      if (entry.is_regular_file()) fs::last_write_time(entry.path(), future);
  const ProgramRun again = run_compiled("cut", with_options(many, {"--resume"}));
  EXPECT_EQ(again.code, 0) << again.err;
  expect_says(again.err, {"members were already done"});
  expect_same(files_in(folder / "cut"), files_in(folder / "whole"), "resumed in the past");
}

// The wall clock is never read: durations use a steady clock, and files carry no dates.
TEST(ClockTest, NobodyReadsTheClockOnTheWall) {
  for (const char* room : {"/host", "/src", "/kernels"})
    for (const auto& entry : fs::recursive_directory_iterator(std::string(ZWANG_SOURCE_DIR) + room)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = read_text(entry.path());
      for (const char* name :
           {"system_clock", "gettimeofday", "CLOCK_REALTIME", "std::time(", "time(nullptr)"})
        EXPECT_EQ(text.find(name), std::string::npos) << entry.path() << ": " << name;
    }
}

}  // namespace
}  // namespace zwang::fault_test
