// The program cache in the presence of other users, who are not trusted, and of concurrent runs.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <fstream>

#include "tests/support/program_cache_fixture.h"

namespace zwang::program_cache_sharing_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ProgramCacheSharingTest = ProgramCacheTest;

// --- Permissions ------------------------------------------------------------------------------------------

TEST_F(ProgramCacheSharingTest, FilesAndFoldersOfOtherOwnersAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  get("key", "program");
  for (const fs::path& path : {file(".so"), file(".key"), file(".lock"), folder}) {
    ASSERT_EQ(::chown(path.c_str(), somebody_else, somebody_else), 0);
    const std::string message = refusal();
    EXPECT_NE(message.find(path.string()), std::string::npos) << message;
    EXPECT_NE(message.find("(65534)"), std::string::npos) << message;
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(makes, 1);
}

TEST_F(ProgramCacheSharingTest, FilesAndFoldersWritableByOthersAreRefused) {
  get("key", "program");
  for (const fs::path& path : {file(".so"), file(".key"), file(".lock"), folder})
    for (const mode_t mode : {0720U, 0702U}) {
      ::chmod(path.c_str(), mode);
      const std::string message = refusal();
      EXPECT_NE(message.find(path.string()), std::string::npos) << message;
      EXPECT_NE(message.find(mode == 0720 ? "0720" : "0702"), std::string::npos) << message;
      ::chmod(path.c_str(), 0700);
    }
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(makes, 1);
}

TEST_F(ProgramCacheSharingTest, LinksInPlaceOfFilesAreRefused) {
  get("key", "program");
  for (const std::string extension : {".so", ".key", ".lock"}) {
    const fs::path path = file(extension);
    const fs::path away = scratch.path() / "away";
    fs::rename(path, away);
    fs::create_symlink(away, path);
    EXPECT_NE(refusal().find("symbolic link"), std::string::npos) << extension;
    fs::rename(away, path);
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(ProgramCacheSharingTest, ALinkInPlaceOfTheFolderIsRefusedHoweverItIsWritten) {
  get("key", "program");
  const fs::path link = scratch.path() / "link";
  fs::create_directory_symlink(folder, link);
  for (const std::string ending : {"", "/", "/.", "//"}) {
    ProgramCache cache(link.string() + ending);
    EXPECT_THROW(cache.get("key", maker("never")), MachineError) << ending;
    EXPECT_THROW(cache.contents(), MachineError) << ending;
    EXPECT_THROW(cache.clear(), MachineError) << ending;
  }
  // Links in parent folders are allowed: a home folder may be one.
  const fs::path home = scratch.path() / "home";
  fs::create_directory_symlink(folder.parent_path(), home);
  EXPECT_EQ(read_text(ProgramCache(home / "cache").get("key", maker("never"))), "program");
}

TEST_F(ProgramCacheSharingTest, AFolderThatOthersCouldExchangeIsRefused) {
  get("key", "program");
  ::chmod(folder.parent_path().c_str(), 0777);
  EXPECT_NE(refusal().find("every user may replace it"), std::string::npos);
  ::chmod(folder.parent_path().c_str(), 01777);
  EXPECT_EQ(refusal(), "");
}

TEST_F(ProgramCacheSharingTest, APipeInTheWayIsRefusedWithoutWaiting) {
  get("key", "program");
  const fs::path path = file(".key");
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(refusal().find("not a regular file"), std::string::npos);
}

// --- Concurrent runs ---------------------------------------------------------------------------------------

TEST_F(ProgramCacheSharingTest, OfManyProcessesExactlyOneCompiles) {
  const fs::path log = scratch.path() / "log";
  std::array<pid_t, 12> processes{};
  for (pid_t& process : processes)
    process = start_process([&] {
      ProgramCache cache(folder);
      const fs::path library = cache.get("key", [&](const fs::path& target) {
        std::ofstream(log, std::ios::app) << "x";
        ::usleep(200'000);
        write_text(target, "program");
      });
      return read_text(library) == "program" && library.parent_path() == folder;
    });
  for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);
  EXPECT_EQ(read_text(log), "x");
}

TEST_F(ProgramCacheSharingTest, AProcessThatWaitedForTheLockChecksAgainBeforeCompiling) {
  // A shared lock holds all of them between finding no program and compiling it.
  get("key", "program");
  fs::remove(file(".so"));
  OpenFile reader = open_private(file(".lock"), O_RDONLY);
  ASSERT_EQ(::flock(reader.descriptor(), LOCK_SH), 0);
  const fs::path log = scratch.path() / "log";
  std::array<pid_t, 4> processes{};
  for (pid_t& process : processes)
    process = start_process([&] {
      ProgramCache(folder).get("key", [&](const fs::path& target) {
        std::ofstream(log, std::ios::app) << "x";
        write_text(target, "program");
      });
      return true;
    });
  ::usleep(200'000);
  EXPECT_EQ(read_text(log), "");
  ::flock(reader.descriptor(), LOCK_UN);
  for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);
  EXPECT_EQ(read_text(log), "x");
}

TEST_F(ProgramCacheSharingTest, ALockOnARemovedFileIsTakenAgain) {
  get("key", "program");
  const OpenFile gone = open_private(file(".lock"), O_RDONLY);
  ASSERT_EQ(::flock(gone.descriptor(), LOCK_EX), 0);
  const fs::path has_it = scratch.path() / "has it";
  const fs::path look = scratch.path() / "look";
  const pid_t process = start_process([&] {
    ProgramCache cache(folder);
    const fs::path library = cache.get("key", maker("never"));
    write_text(has_it, "");
    return eventually([&] { return fs::exists(look); }) && read_text(library) == "again";
  });
  // While it waits for the lock, the program is cleared and compiled again, with a new lock file.
  ::usleep(100'000);
  for (const char* extension : {".key", ".so", ".lock"}) fs::remove(file(extension));
  get("key", "again");
  ::flock(gone.descriptor(), LOCK_UN);
  EXPECT_TRUE(eventually([&] { return fs::exists(has_it); }));
  EXPECT_EQ(ProgramCache(folder).clear().programs, 0U);
  write_text(look, "");
  EXPECT_EQ(wait_for(process), 0);
}

TEST_F(ProgramCacheSharingTest, ProcessesWithDifferentKeysDoNotWaitForEachOther) {
  ProgramCache cache(folder);
  const auto nested = [&](const fs::path& target) {
    const pid_t process = start_process([&] { return get("other", "other") == "other"; });
    write_text(target, wait_for(process) == 0 ? "program" : "blocked");
  };
  EXPECT_EQ(read_text(cache.get("key", nested)), "program");
}

TEST_F(ProgramCacheSharingTest, AProcessThatDiesReleasesItsLock) {
  const fs::path started = scratch.path() / "started";
  const pid_t process = start_process([&] {
    environment.set("TMPDIR", scratch.folder("lost").string());  // a killed process cannot clean up
    ProgramCache(folder).get("other", [&](const fs::path&) {
      write_text(started, "");
      ::sleep(1000);
    });
    return false;
  });
  EXPECT_TRUE(eventually([&] { return fs::exists(started); }));
  ::kill(process, SIGKILL);
  EXPECT_EQ(wait_for(process), 128 + SIGKILL);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(get("other", "program"), "program");
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
}

TEST_F(ProgramCacheSharingTest, WaitingForALockHasATimeLimit) {
  ProgramCache holder(folder);
  const auto outer = [&](const fs::path& target) {
    ProgramCache waiting(folder, {.lock_timeout = milliseconds(100)});
    EXPECT_EQ(read_text(waiting.get("key", maker("own"))), "own");
    EXPECT_NE(waiting.note().find("another run"), std::string::npos) << waiting.note();
    write_text(target, "late");
  };
  EXPECT_EQ(read_text(holder.get("key", outer)), "late");
}

TEST_F(ProgramCacheSharingTest, ManyRunsAndManyClearingsNeverGiveAWrongOrMissingProgram) {
  std::array<pid_t, 4> runs{};
  for (pid_t& process : runs)
    process = start_process([&] {
      for (int i = 0; i < 150; ++i) {
        const std::string key = std::to_string(i % 3);
        ProgramCache cache(folder, {.bytes = 100});  // two programs are too many
        if (read_text(cache.get(key, maker("program " + key))) != "program " + key) return false;
      }
      return true;
    });
  std::array<pid_t, 2> clearings{};
  for (pid_t& process : clearings)
    process = start_process([&] {
      for (int i = 0; i < 300; ++i) {
        ProgramCache(folder).clear();
        ::usleep(500);
      }
      return true;
    });
  for (const pid_t process : runs) EXPECT_EQ(wait_for(process), 0);
  for (const pid_t process : clearings) EXPECT_EQ(wait_for(process), 0);
}

}  // namespace
}  // namespace zwang::program_cache_sharing_test
