// The facts that identify a run, their comparison, and the parsing of shards.
#include "host/files/run_identity.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "host/platform/source_checksum.h"
#include "host/run/run_result.h"
#include "host/sample/csv_inputs.h"
#include "host/study/study.h"
#include "host/study_file/write_study.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

// The first line in which two texts differ.
std::pair<std::string, std::string> first_different_line(const std::string& a, const std::string& b) {
  std::istringstream first(a), second(b);
  for (;;) {
    std::string one, other;
    const bool more = static_cast<bool>(std::getline(first, one));
    const bool others = static_cast<bool>(std::getline(second, other));
    if (!more) one = "the end of the study";
    if (!others) other = "the end of the study";
    if (one != other || (!more && !others)) return {one, other};
  }
}

}  // namespace

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

std::string printable_excerpt(const std::string& text) {
  constexpr std::size_t longest = 300;
  return is_one_line(text) && text.size() <= longest ? text : printable(text);
}

Shard read_shard(const std::string& text) {
  Shard shard;
  if (text == shard.text()) return shard;
  shard.is_shard = true;
  const auto whole = [](const char* begin, const char* end, long long& number) {
    const auto [stop, code] = std::from_chars(begin, end, number);
    return code == std::errc{} && stop == end;
  };
  const std::size_t slash = text.find('/');
  const char* begin = text.data();
  const bool read = slash != std::string::npos && whole(begin, begin + slash, shard.number) &&
                    whole(begin + slash + 1, begin + text.size(), shard.of);
  constexpr long long most = 1'000'000;
  if (!read || shard.number < 1 || shard.number > shard.of || shard.of > most)
    throw Error({.message = "--shard: not a valid shard",
                 .found = printable_excerpt(text),
                 .expected = fmt::format("i/n, with i from 1 to n and n at most {}, for example 2/7", most)});
  return shard;
}

const std::string& RunIdentity::fact(const std::string& name) const {
  static const std::string none;
  for (const auto& [own, value] : facts)
    if (own == name) return value;
  return none;
}

std::size_t RunIdentity::statistics_memory() const {
  const std::string& text = fact("statistics memory");
  std::size_t mebibytes = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
  const bool read =
      code == std::errc{} && std::string_view(end) == " MiB" && mebibytes < std::size_t{1} << 30;
  return read ? mebibytes << 20 : 0;
}

RunIdentity run_identity(const Study& study, const RunResult& origin, std::size_t statistics_memory,
                         const Shard& shard) {
  const CsvInputs inputs(study);
  const std::string text = inputs.empty() ? "" : inputs.text();
  return {
      {{"version", ZWANG_VERSION},
       {"program", "sources " + std::string(source_checksum())},
       {"backend", origin.backend},
       {"device", origin.device},
       {"precision", origin.precision},
       {"seed", std::to_string(study.ensemble.seed)},
       {"members", std::to_string(study.ensemble.members)},
       {"shard", shard.text()},
       {"statistics memory", fmt::format("{} MiB", statistics_memory >> 20)},
       {"study", study_as_run(study)},
       {"inputs.csv",
        inputs.empty() ? "none" : fmt::format("checksum {:016x}", XXH3_64bits(text.data(), text.size()))}}};
}

std::optional<IdentityDifference> difference(const RunIdentity& found, const RunIdentity& expected,
                                             const std::string& except) {
  for (const auto& [name, value] : expected.facts) {
    const std::string& other = found.fact(name);
    if (name == except || other == value) continue;
    if (name != "study") return IdentityDifference{name, other, value};
    const auto [one, wanted] = first_different_line(other, value);
    return IdentityDifference{name, printable_excerpt(one), printable_excerpt(wanted)};
  }
  return {};
}

}  // namespace zwang
