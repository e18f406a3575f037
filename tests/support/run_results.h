// The results of runs compared, file by file.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/scratch.h"

namespace zwang {

using Files = std::map<std::string, std::string>;

// Everything in the folder, hidden or not; of the summary all but how long it took.
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
