// Reads summary.json or the shard of a finished run and compares its identity with the study.
#include "host/files/load_finished_run.h"

#include <nlohmann/json.hpp>

#include "host/files/result_folder.h"
#include "host/files/run_identity.h"
#include "host/files/run_record.h"
#include "host/platform/private_files.h"
#include "host/run/run_result.h"
#include "host/study/study.h"
#include "host/study_file/write_study.h"
#include "src/base/error.h"

namespace zwang {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& file, const IdentityDifference& other) {
  throw Error({.where = {file.string(), 0, 0},
               .message = "the folder holds the results of another run: its " + other.name + " differs",
               .found = other.found,
               .expected = other.expected,
               .hint = "--overwrite replaces them, --out chooses another folder"});
}

FinishedRun read_shard_folder(const fs::path& file, const Study& study, const Shard& shard) {
  const RecordReader reader(file, "shard", "--overwrite repeats the run");
  const RunIdentity& found = reader.record().identity;
  // The backend is not chosen yet, so its facts are taken from the record: only the study is compared here.
  RunResult origin;
  origin.backend = found.fact("backend");
  origin.device = found.fact("device");
  origin.precision = found.fact("precision");
  const std::size_t memory = found.statistics_memory();
  if (const auto other = difference(found, run_identity(study, origin, memory, shard))) refuse(file, *other);
  return {.summary = {}, .tally = reader.record().part.tally};
}

}  // namespace

FinishedRun read_finished(const fs::path& folder, const Study& study, const Shard& shard) {
  const fs::path shard_file = folder / ResultFolder::shard_name, summary = folder / "summary.json";
  std::error_code failed;
  const bool is_shard = !fs::exists(summary, failed);
  if (is_shard) return read_shard_folder(shard_file, study, shard);
  if (!shard.whole()) refuse(folder, {"shard", "none: the whole run", shard.text()});

  const RunIdentity found{{{"study", read_whole(folder / "study.toml").value_or("")}}};
  if (const auto other = difference(found, {{{"study", study_as_run(study)}}}))
    refuse(folder / "study.toml", *other);
  FinishedRun made;
  made.summary = read_whole(summary).value_or("");
  try {
    const nlohmann::json json = nlohmann::json::parse(made.summary);
    if (const std::string version = json.at("version"); version != ZWANG_VERSION)
      refuse(summary, {"version", version, ZWANG_VERSION});
    const nlohmann::json& members = json.at("members");
    made.tally.entered = members.at("entered");
    made.tally.failed = members.at("failed");
    for (const auto& count : members.at("status")) made.tally.members += count.get<long long>();
  } catch (const nlohmann::json::exception& error) {
    throw Error({.where = {summary.string(), 0, 0},
                 .message = "the summary of the results cannot be read",
                 .found = error.what(),
                 .expected = "a summary.json written by a run",
                 .hint = "--overwrite repeats the run"});
  }
  return made;
}

}  // namespace zwang
