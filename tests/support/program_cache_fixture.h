// What the tests of the program cache share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "host/platform/machine_error.h"
#include "host/program/program_cache.h"
#include "tests/support/scratch.h"

namespace zwang {

namespace fs = std::filesystem;

constexpr uid_t somebody_else = 65534;  // nobody

class ProgramCacheTest : public ::testing::Test {
 protected:
  ProgramCacheTest() { environment.set("TMPDIR", temporary.string()); }

  // Whatever a test does, the temporary folder is empty afterwards.
  void TearDown() override { EXPECT_EQ(count_files(temporary), 0); }

  // What stands for a compiler: writes the text, and counts.
  auto maker(const std::string& text) {
    return [this, text](const fs::path& target) {
      ++makes;
      write_text(target, text);
    };
  }

  // The text of the program for this key, through a cache object of its own.
  std::string get(const std::string& key, const std::string& text) {
    ProgramCache cache(folder);
    return read_text(cache.get(key, maker(text)));
  }

  // The message of the refusal to serve "key".
  std::string refusal() {
    return message_of<MachineError>([this] { get("key", "again"); });
  }

  // The one file in the folder with that extension.
  fs::path file(const std::string& extension) const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == extension) return entry.path();
    return {};
  }

  Scratch scratch;
  Environment environment;
  const fs::path temporary = scratch.folder("temporary");
  const fs::path folder = scratch.path() / "parent" / "cache";
  int makes = 0;
};

}  // namespace zwang
