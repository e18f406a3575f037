// The identity of a run: everything that decides about the bits of its results, so that checkpoints, shards
// and ranks of different runs are never mixed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

// Shard `number` of `of`, from 1, or the whole run. A single shard 1/1 is not the whole run: it is written
// for `merge`.
struct Shard {
  long long number = 1, of = 1;
  bool is_shard = false;
  bool whole() const { return !is_shard; }
  std::string text() const { return whole() ? "none" : std::to_string(number) + "/" + std::to_string(of); }
};
// Parses "i/n", or "none" for the whole run. Throws Error otherwise.
Shard read_shard(const std::string& text);

// Everything that decides about the bits of the results, by name, in the order in which differences are
// reported.
struct RunIdentity {
  std::vector<std::pair<std::string, std::string>> facts;

  const std::string& fact(const std::string& name) const;  // "" if there is none
  std::size_t statistics_memory() const;                   // bytes; 0 if the fact cannot be parsed
};

RunIdentity run_identity(const Study& study, const RunResult& origin, std::size_t statistics_memory,
                         const Shard& shard);

// The first difference as text; empty if both agree. The fact `except` is not compared.
struct IdentityDifference {
  std::string name, found, expected;
};
std::optional<IdentityDifference> difference(const RunIdentity& found, const RunIdentity& expected,
                                             const std::string& except = "");

// Text found in a file, for a message: control characters, which terminals interpret, are escaped, and long
// text is shortened.
std::string printable_excerpt(const std::string& text);
bool is_one_line(std::string_view text);  // without control characters

}  // namespace zwang
