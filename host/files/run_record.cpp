#include "host/files/run_record.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "host/files/trajectory_bytes.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "host/platform/source_checksum.h"
#include "host/run/count_members.h"
#include "host/run/run_result.h"
#include "host/sample/csv_inputs.h"
#include "host/statistics/bytes.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics.h"
#include "host/study/study.h"
#include "host/study_file/raw_text.h"
#include "host/study_file/write_study.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr std::uint64_t magic = 0x64726f6365727a77;  // tells our files from any others
constexpr std::uint32_t version = 1;                 // of the layout: raised with every change
constexpr std::uint64_t longest_text = std::uint64_t{1} << 26;
constexpr std::uint64_t most_names = std::uint64_t{1} << 20;

// What stands in a file goes to terminals, which obey control characters.
bool is_plain(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

std::string shown(const std::string& text) {
  constexpr std::size_t longest = 300;
  return is_plain(text) && text.size() <= longest ? text : printable(text);
}

// --- A part ------------------------------------------------------------------------------------------------

template <class Performance, class Visit>
void each_time(Performance& performance, Visit&& visit) {
  visit(performance.wall_s);
  visit(performance.compile_s);
  visit(performance.sample_s);
  visit(performance.integrate_s);
  visit(performance.statistics_s);
  visit(performance.write_s);
}

// --- A record ----------------------------------------------------------------------------------------------

void save_head(ByteWriter& bytes, const RunRecord& record) {
  bytes.number(magic);
  bytes.number(version);
  save_identity(bytes, record.identity);
  bytes.text(record.study_name);
  bytes.text(record.study_text);
  bytes.number<std::uint64_t>(record.inputs.size());
  for (const std::string& name : record.inputs) bytes.text(name);
  save_part(bytes, record.part);
  bytes.number(record.members.bytes);
  bytes.number(record.members.checksum);
  bytes.numbers(record.trajectories.members);
  save_trajectories(bytes, record.trajectories.results);
  bytes.finish();
}

RunRecord load_head(ByteReader& bytes) {
  if (bytes.number<std::uint64_t>() != magic) bytes.refuse("other bytes", "a record of a run");
  const auto found = bytes.number<std::uint32_t>();
  if (found != version) bytes.refuse(fmt::format("layout {}", found), fmt::format("layout {}", version));
  RunRecord record;
  record.identity = load_identity(bytes);
  record.study_name = bytes.text(longest_text);
  record.study_text = bytes.text(longest_text);
  const std::uint64_t inputs = bytes.length(most_names);
  for (std::uint64_t k = 0; k < inputs; ++k) record.inputs.push_back(bytes.text(longest_text));
  record.part = load_part(bytes);
  record.members.bytes = bytes.number<std::uint64_t>();
  record.members.checksum = bytes.number<std::uint64_t>();
  bytes.numbers(record.trajectories.members, most_names);
  record.trajectories.results = load_trajectories(bytes, record.trajectories.members.size());
  bytes.finish();
  return record;
}

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

// --- Pieces of a record ------------------------------------------------------------------------------------

void save_part(ByteWriter& bytes, const RunPart& part) {
  bytes.number(part.first);
  bytes.number(part.end);
  bytes.number(part.position);
  bytes.number<char>(part.sure ? 1 : 0);
  save_tally(bytes, part.tally);
  bytes.number(part.performance.threads);
  each_time(part.performance, [&](double seconds) { bytes.number(seconds); });
}

RunPart load_part(ByteReader& bytes) {
  RunPart part;
  part.first = bytes.number<long long>();
  part.end = bytes.number<long long>();
  part.position = bytes.number<long long>();
  if (part.first < 0 || part.position < part.first || part.end < part.position)
    bytes.refuse(fmt::format("members {} to {} of {}", part.first, part.position, part.end),
                 "numbers in order");
  part.sure = bytes.number<char>() != 0;
  part.tally = load_tally(bytes, part.first, part.position - part.first);
  part.performance.threads = bytes.number<unsigned>();
  each_time(part.performance, [&](double& seconds) { seconds = bytes.number<double>(); });
  return part;
}

void save_identity(ByteWriter& bytes, const RunIdentity& identity) {
  bytes.number<std::uint64_t>(identity.facts.size());
  for (const auto& [name, value] : identity.facts) {
    bytes.text(name);
    bytes.text(value);
  }
}

RunIdentity load_identity(ByteReader& bytes) {
  RunIdentity identity;
  identity.facts.resize(bytes.length(64));
  for (auto& [name, value] : identity.facts) {
    name = bytes.text(longest_text);
    value = bytes.text(longest_text);
    // The study alone has more than one line.
    if (!is_plain(name) || (name != "study" && !is_plain(value)))
      bytes.refuse(shown(name) + " " + shown(value), "text on one line");
  }
  return identity;
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
    throw Error({.message = "--shard: this is no shard",
                 .found = shown(text),
                 .expected = fmt::format("i/n, with i from 1 to n and n at most {}: 2/7", most)});
  return shard;
}

// --- Identity ----------------------------------------------------------------------------------------------

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
    return IdentityDifference{name, shown(one), shown(wanted)};
  }
  return {};
}

// --- Files -------------------------------------------------------------------------------------------------

void write_record(const std::filesystem::path& path, const RunRecord& record, const Statistics& statistics) {
  {
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    ByteWriter bytes(stream);
    save_head(bytes, record);
    statistics.save(stream);
    stream.close();
    if (stream) return;
  }
  throw MachineError({.where = {path.string(), 0, 0},
                      .message = "the record of the run could not be written",
                      .found = system_message(errno),
                      .expected = "a folder that can be written to, with room on its disk",
                      .hint = "--out chooses another"});
}

template <class Work>
auto RecordReader::guarded(Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    const Problem& problem = error.problems().front();
    refuse(problem.found, problem.expected);
  }
}

RecordReader::RecordReader(const std::filesystem::path& path, std::string what, std::string hint)
    : path_(path), what_(std::move(what)), hint_(std::move(hint)), stream_(path, std::ios::binary) {
  if (!stream_) refuse(system_message(errno), "a file that can be read");
  record_ = guarded([&] {
    ByteReader bytes(stream_, path_.string());
    return load_head(bytes);
  });
}

Statistics RecordReader::statistics(StatisticsPlan plan) {
  return guarded([&] {
    Statistics made = Statistics::load(std::move(plan), stream_, path_.string());
    const RunPart& part = record_.part;
    if (made.first_member() != part.first || made.members() != part.position - part.first ||
        made.entered() != part.tally.entered)
      refuse("statistics of other members", "of those recorded");
    if (stream_.peek() != std::char_traits<char>::eof()) refuse("bytes behind its end", "none");
    return made;
  });
}

void RecordReader::refuse(const std::string& found, const std::string& expected) const {
  throw Error({.where = {path_.string(), 0, 0},
               .message = "the " + what_ + " is damaged or of another version of the program",
               .found = found,
               .expected = expected,
               .hint = hint_});
}

}  // namespace zwang
