// Compares the results of runs file by file.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/scratch.h"

namespace zwang {

using Files = std::map<std::string, std::string>;

// All files of the folder, hidden ones too; the summary without its durations.
inline Files files_in(const std::filesystem::path& folder) {
  Files files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    files[name] = read_text(entry.path());
    if (name != "summary.json") continue;
    nlohmann::json json = nlohmann::json::parse(files[name]);
    json.erase("performance");
    files[name] = json.dump();
  }
  return files;
}

inline void expect_same(const Files& found, const Files& expected, const std::string& what) {
  for (const auto& [name, text] : expected)
    EXPECT_TRUE(found.contains(name) && found.at(name) == text) << name << ": " << what;
  for (const auto& [name, text] : found)
    EXPECT_TRUE(expected.contains(name)) << name << " is too much: " << what;
}

}  // namespace zwang
