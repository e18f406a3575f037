// Fixture of the tests of the program cache.
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

  // Every test must leave the temporary folder empty.
  void TearDown() override { EXPECT_EQ(count_files(temporary), 0); }

  // A replacement of the compiler: writes the text and counts its calls.
  auto maker(const std::string& text) {
    return [this, text](const fs::path& target) {
      ++makes;
      write_text(target, text);
    };
  }

  // The text of the program for this key, through a new cache object.
  std::string get(const std::string& key, const std::string& text) {
    ProgramCache cache(folder);
    return read_text(cache.get(key, maker(text)));
  }

  // The error message for "key".
  std::string refusal() {
    return message_of<MachineError>([this] { get("key", "again"); });
  }

  // The only file in the folder with that extension.
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
