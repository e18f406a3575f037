// Checks that shards belong together, and joins their statistics, members and trajectories.
#include "host/results/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/backend/backend.h"
#include "host/backend/member_bytes.h"
#include "host/files/member_records.h"
#include "host/files/run_identity.h"
#include "host/files/run_record.h"
#include "host/files/trajectory_bytes.h"
#include "host/files/write_members.h"
#include "host/platform/stopwatch.h"
#include "host/results/labels.h"
#include "host/results/record_histograms.h"
#include "host/run/count_members.h"
#include "host/run/ensemble_plan.h"
#include "host/run/run.h"
#include "host/run/run_result.h"
#include "host/sample/sampler.h"
#include "host/sample/start_shocks.h"
#include "host/statistics/ensemble_statistics.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics.h"
#include "host/study_file/load_study.h"
#include "host/study_file/write_study.h"
#include "src/base/error.h"

namespace zwang {

namespace {

namespace fs = std::filesystem;

constexpr const char* repeat_shard = "repeat the run of that shard";

fs::path shard_file(const fs::path& folder) {
  const fs::path file = folder / ResultFolder::shard_name;
  std::error_code failed;
  if (fs::exists(file, failed)) return file;
  const bool unfinished = fs::exists(folder / (std::string(".") + ResultFolder::checkpoint_name), failed);
  throw Error(
      {.where = {folder.string(), 0, 0},
       .message = unfinished ? "the shard in this folder is not finished" : "this folder holds no shard",
       .found = unfinished ? "a checkpoint" : std::string("no ") + ResultFolder::shard_name,
       .expected = "a folder that `zwang run --shard i/n` wrote",
       .hint = unfinished ? "finish it with --resume" : ""});
}

}  // namespace

ShardMerge::ShardMerge(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    RecordReader reader(shard_file(folder), "shard", repeat_shard);
    const Shard shard = read_shard(reader.record().identity.fact("shard"));
    parts_.push_back({folder, std::move(reader), shard});
  }
  require_one_run();
  require_every_shard();
  load_study_of_shards();
}

void ShardMerge::require_one_run() const {
  const Part& one = parts_.front();
  for (const Part& part : parts_) {
    auto other = difference(part.reader.record().identity, one.reader.record().identity, "shard");
    if (!other && part.shard.of != one.shard.of)
      other =
          IdentityDifference{"number of shards", std::to_string(part.shard.of), std::to_string(one.shard.of)};
    if (other)
      throw Error({.where = {part.folder.string(), 0, 0},
                   .message = "the shards belong to different runs: the " + other->name + " differs",
                   .found = other->found,
                   .expected = other->expected + ", as in " + one.folder.string(),
                   .hint = "pass the shards of one run"});
  }
}

void ShardMerge::require_every_shard() {
  std::stable_sort(parts_.begin(), parts_.end(),
                   [](const Part& a, const Part& b) { return a.shard.number < b.shard.number; });
  for (std::size_t k = 1; k < parts_.size(); ++k)
    if (parts_[k].shard.number == parts_[k - 1].shard.number)
      throw Error({.where = {parts_[k].folder.string(), 0, 0},
                   .message = "a shard was given twice",
                   .found = parts_[k].shard.text() + " in " + parts_[k - 1].folder.string() + " too",
                   .expected = "every shard once"});
  std::vector<std::string> missing;
  const Shard& any = parts_.front().shard;
  std::size_t next = 0;
  for (long long number = 1; number <= any.of; ++number) {
    if (next < parts_.size() && parts_[next].shard.number == number)
      ++next;
    else if (missing.size() < 10)
      missing.push_back(Shard{number, any.of, true}.text());
  }
  if (missing.empty()) return;
  const auto lacking = static_cast<std::size_t>(any.of) - parts_.size();
  throw Error({.message = "shards are missing",
               .found = fmt::format("{} of {}; missing: {}{}", parts_.size(), any.of, list_text(missing),
                                    lacking > missing.size() ? ", and more" : ""),
               .expected = "all shards of the run"});
}

// The study as it was run, with the name and text of the user's file.
void ShardMerge::load_study_of_shards() {
  const Part& part = parts_.front();
  const RunRecord& record = part.reader.record();
  const fs::path file = part.folder / "study.toml";
  study_ = load_study(file.string());
  study_.name = record.study_name;
  study_.text = record.study_text;
  RunResult origin;
  origin.backend = record.identity.fact("backend");
  origin.device = record.identity.fact("device");
  origin.precision = record.identity.fact("precision");
  RunIdentity loaded = run_identity(study_, origin, record.identity.statistics_memory(), part.shard);
  if (const auto other = difference(loaded, record.identity)) {
    const bool ours = other->name == "version" || other->name == "program";
    throw Error({.where = {file.string(), 0, 0},
                 .message = ours ? std::string("the shards were written by another ") +
                                       (other->name == "version" ? "version" : "build") + " of the program"
                                 : "study.toml in the shard's folder is not the study that was run: the " +
                                       other->name + " differs",
                 .found = ours ? other->expected : other->found,
                 .expected = ours ? other->found : other->expected,
                 .hint = repeat_shard});
  }
}

// Joins the blocks in the same order as a single run.
RunResult ShardMerge::joined(unsigned threads) {
  const RunRecord& first = parts_.front().reader.record();
  const Sampler sampler(study_);
  const EnsemblePlan plan = ensemble_plan(study_, sampler, first.identity.statistics_memory());
  RunResult made;
  made.backend = first.identity.fact("backend");
  made.device = first.identity.fact("device");
  made.precision = first.identity.fact("precision");
  made.requested = study_.members_in_all();
  made.inputs = sampler.drawn_names();

  EnsembleStatistics statistics(plan);
  for (Part& part : parts_) {
    const RunPart& own = part.reader.record().part;
    const auto [begin, end] = shard_members(plan.blocks(), part.shard.number - 1, part.shard.of);
    if (own.first != begin || own.end != end || own.position != end)
      part.reader.refuse(fmt::format("members {} to {}", own.first, own.position),
                         fmt::format("members {} to {}", begin, end));
    statistics.join(part.reader.statistics(plan), threads);
    join_tally(made.tally, own.tally);
    add_performance(made.performance, own.performance);
  }
  take_statistics(made, study_, statistics.finish(threads));
  made.start_shocks = start_shocks(study_);
  return made;
}

void ShardMerge::read_member_records(const TakeMembers& take, const MemberRecordLayout& layout) const {
  for (const Part& part : parts_) {
    const RunRecord& record = part.reader.record();
    const fs::path file = part.folder / ResultFolder::shard_members_name;
    const std::uint64_t expected =
        static_cast<std::uint64_t>(record.part.position - record.part.first) * layout.bytes();
    if (read_members(file, layout, record.members, {{record.part.first, record.part.position}}, take))
      continue;
    throw Error({.where = {file.string(), 0, 0},
                 .message = "the member records of the shard are damaged",
                 .found = "different bytes than the shard recorded",
                 .expected = fmt::format("its {} bytes, unchanged", expected),
                 .hint = repeat_shard});
  }
}

// In the order of the study's list.
RecordedTrajectories ShardMerge::trajectories() const {
  std::map<long long, std::pair<const BatchResults*, std::size_t>> places;
  for (const Part& part : parts_) {
    const RecordedTrajectories& own = part.reader.record().trajectories;
    if (!are_of_study(own.results, study_))
      part.reader.refuse("trajectories of another study", "trajectories of the study in its folder");
    for (std::size_t k = 0; k < own.members.size(); ++k) places[own.members[k]] = {&own.results, k};
  }
  RecordedTrajectories made;
  for (const long long member : study_.output.trajectories) {
    const auto place = places.find(member);
    if (place == places.end()) continue;
    made.members.push_back(member);
    append_trajectory(made.results, *place->second.first, place->second.second);
  }
  return made;
}

FiledRun ShardMerge::into(ResultFolder& folder, unsigned threads, const std::function<void()>& check) {
  const Stopwatch writing;
  FiledRun made;
  made.result = joined(threads);
  check();
  const MemberRecordLayout layout(study_, Sampler(study_).drawn());
  ReadMembers all = [&](const TakeMembers& take) { read_member_records(take, layout); };
  Labels labels(study_);
  if (labels.any()) {
    labels.decide(all);
    all = labels.entering(all);
    const Sampler sampler(study_);
    const std::size_t memory = parts_.front().reader.record().identity.statistics_memory();
    labels.complete(ensemble_plan(study_, sampler, memory), all, threads, made.result);
  }
  if (!study_.system->records.empty()) pool_records(study_, all, made.result);
  const auto write_members = [&](const fs::path& part) {
    MembersWriter members(part, study_, made.result, layout, threads);
    all([&](long long first, std::span<const char> records) { members.add(first, records); });
    members.close();
  };
  write_results(folder, study_, made,
                {.write_members = write_members,
                 .read_members = all,
                 .trajectories = [this] { return trajectories(); }},
                check);
  made.result.performance.write_s += writing.seconds();
  made.result.performance.wall_s += writing.seconds();
  write_summary(folder, study_, made);
  check();
  folder.publish();
  return made;
}

}  // namespace zwang
