// Byte layout of the record of a run or shard, with its statistics.
#include "host/files/run_record.h"

#include <fmt/format.h>

#include <fstream>

#include "host/files/run_part_bytes.h"
#include "host/files/trajectory_bytes.h"
#include "host/platform/bytes.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "host/statistics/ensemble_statistics.h"
#include "host/statistics/run_tally_bytes.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr std::uint64_t magic = 0x64726f6365727a77;  // identifies the file format
constexpr std::uint32_t version = 3;                 // of the layout: increment with every change
constexpr std::uint64_t longest_text = std::uint64_t{1} << 26;
constexpr std::uint64_t most_names = std::uint64_t{1} << 20;

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

}  // namespace

// --- Files -------------------------------------------------------------------------------------------------

void write_record(const std::filesystem::path& path, const RunRecord& record,
                  const EnsembleStatistics& statistics) {
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

EnsembleStatistics RecordReader::statistics(EnsemblePlan plan) {
  return guarded([&] {
    EnsembleStatistics made = EnsembleStatistics::load(std::move(plan), stream_, path_.string());
    const RunPart& part = record_.part;
    if (made.first_member() != part.first || made.position() != part.position ||
        made.members() != part.tally.rows() || made.entered() != part.tally.entered)
      refuse("statistics of other members", "statistics of the members recorded");
    if (stream_.peek() != std::char_traits<char>::eof()) refuse("bytes after its end", "no more bytes");
    return made;
  });
}

void RecordReader::refuse(const std::string& found, const std::string& expected) const {
  throw Error({.where = {path_.string(), 0, 0},
               .message = "the " + what_ + " is damaged or was written by another version of the program",
               .found = found,
               .expected = expected,
               .hint = hint_});
}

}  // namespace zwang
