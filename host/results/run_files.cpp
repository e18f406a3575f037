// Sequence of a run with checkpoints, and of writing its result files.
#include "host/results/run_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "host/backend/backend.h"
#include "host/backend/batch.h"
#include "host/backend/member_bytes.h"
#include "host/files/member_records.h"
#include "host/files/run_identity.h"
#include "host/files/run_record.h"
#include "host/files/write_members.h"
#include "host/files/write_records.h"
#include "host/files/write_statistics.h"
#include "host/files/write_summary.h"
#include "host/files/write_trajectories.h"
#include "host/platform/buffer_pool.h"
#include "host/platform/child_process.h"
#include "host/platform/machine_error.h"
#include "host/platform/stage_times.h"
#include "host/platform/stopwatch.h"
#include "host/results/labels.h"
#include "host/results/member_output.h"
#include "host/results/record_histograms.h"
#include "host/run/run_result.h"
#include "host/sample/csv_inputs.h"
#include "host/statistics/plan.h"
#include "host/study/study.h"
#include "host/study_file/write_study.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr const char* members_name = "members.nc";
constexpr const char* records_name = "records.nc";
constexpr const char* trajectories_name = "trajectories.nc";
constexpr const char* statistics_name = "statistics.nc";
constexpr const char* study_name = "study.toml";
constexpr const char* summary_name = "summary.json";

// A run with its checkpoints and result files.
class RecordedRun {
 public:
  RecordedRun(ResultFolder& folder, const Study& study, Backend& backend, RunOptions options,
              const RunFilesOptions& files);

  // Runs all members, from the checkpoint if there is one.
  void run(const std::function<void()>& check);

  FiledRun file(const std::function<void()>& check);

 private:
  void resume_from_checkpoint();
  void require_members(const RecordReader& found, const MemberRecordLayout& layout) const;
  void save();
  void write_shard(FiledRun& made);
  RecordedTrajectories trajectories();
  void read_member_records(const MemberNumbers& numbers, const TakeMembers& take);
  ReadMembers recorded_members(MemberNumbers numbers);
  ReadMembers all_members();
  void decide_labels(RunResult& result);
  std::unique_ptr<MembersWriter> begin_members(const MemberNumbers& numbers);
  void write_members();

  Stopwatch wall_;
  ResultFolder& folder_;
  const Study& study_;
  Backend& backend_;
  RunFilesOptions files_;
  unsigned threads_;
  double wall_before_s_ = 0;   // of the run before it was interrupted
  double trajectories_s_ = 0;  // of integrating the selected members again
  Checkpoint checkpoint_;
  std::optional<MemberRecordsFile> members_;
  Labels labels_;
  bool labels_decided_ = false;
  EnsembleRun run_;
  MemberNumbers numbers_;                      // of all members, once the run is done
  std::optional<MemberOutput> member_output_;  // writes to members_; ends before it
  RunRecord record_;
};

RunOptions of_shard(RunOptions options, const Study& study, const Shard& shard) {
  if (!shard.whole() && study.ensemble.until)
    throw Error({.message = "--shard: a study with ensemble.until cannot be cut into shards",
                 .found = study.ensemble.until->index.empty()
                              ? "until = { measure = \"" + study.ensemble.until->measure + "\" }"
                              : "until = { index = \"" + study.ensemble.until->index + "\" }",
                 .expected = "a fixed number of members: `until` is decided over all members together",
                 .hint = "remove `until` from the study"});
  const auto [first, end] = shard_members(MemberBlocks{study.ensemble.points(), study.ensemble.per_point()},
                                          shard.number - 1, shard.of);
  options.first = first;
  options.end = end;
  return options;
}

// With ranks there is no output beside the run: the coordinator appends what ranks send, and the few members
// that this process completes itself are appended here.
RunOptions with_members(RunOptions options, const Study& study, std::optional<MemberRecordsFile>& members,
                        std::optional<MemberOutput>& output) {
  if (keeps_members(study))
    options.members = [&members, &output](long long first, std::shared_ptr<const HostBuffer> records) {
      if (output)
        output->add(first, std::move(records));
      else
        members->append({records->bytes().data(), records->bytes().size()});
    };
  return options;
}

RecordedRun::RecordedRun(ResultFolder& folder, const Study& study, Backend& backend, RunOptions options,
                         const RunFilesOptions& files)
    : folder_(folder),
      study_(study),
      backend_(backend),
      files_(files),
      threads_(options.threads),
      checkpoint_(folder, files.checkpoints),
      labels_(study),
      run_(study, backend,
           with_members(of_shard(options, study, files.shard), study, members_, member_output_)) {
  const RunResult origin = run_.origin();
  record_.identity = run_identity(study, origin, options.statistics_memory, files.shard);
  record_.study_name = study.name;
  record_.study_text = study.text;
  record_.inputs = origin.inputs;
  resume_from_checkpoint();
}

// The member records must match the number of finished members; none if the study does not write members.nc.
void RecordedRun::require_members(const RecordReader& found, const MemberRecordLayout& layout) const {
  const RunRecord& record = found.record();
  const auto done = static_cast<std::uint64_t>(record.part.tally.rows());
  const std::uint64_t expected = keeps_members(study_) ? done * layout.bytes() : 0;
  if (record.members.bytes != expected)
    found.refuse(fmt::format("{} bytes of member records", record.members.bytes),
                 fmt::format("{}", expected));
}

void RecordedRun::resume_from_checkpoint() {
  MemberRecordsMark mark;
  const MemberRecordLayout layout(study_, run_.sampler().drawn());
  if (std::optional<RecordReader> found = checkpoint_.found(record_.identity)) {
    const RunRecord& record = found->record();
    const RunPart own = run_.part();
    if (record.part.first != own.first || record.part.end != own.end)
      found->refuse("members of another shard", "members of this shard");
    if (record.part.sure && !study_.ensemble.until)
      found->refuse("a run that `until` ended early", "a study with `until`");
    run_.restore(record.part, found->statistics(run_.plan()));
    wall_before_s_ = record.part.performance.wall_s;
    mark = record.members;
    require_members(*found, layout);
    if (files_.resumed) files_.resumed(record.part.position - record.part.first);
  }
  if (!keeps_members(study_)) return;
  members_.emplace(folder_.hidden(ResultFolder::checkpoint_members_name), layout, mark);
  // A coordinator appends the records of all ranks itself; shards have no members.nc.
  if (files_.coordinator) return;
  MemberOutput::BeginMembers begin;
  if (files_.shard.whole() && study_.output.members && !labels_.any())
    begin = [this, numbers = run_.statistics().added_members()] { return begin_members(numbers); };
  member_output_.emplace(*members_, std::move(begin));
}

// The writer of members.nc with the members recorded so far, which have these numbers.
std::unique_ptr<MembersWriter> RecordedRun::begin_members(const MemberNumbers& numbers) {
  auto made = std::make_unique<MembersWriter>(folder_.part(members_name), study_, run_.origin(),
                                              members_->layout(), threads_);
  if (members_->mark().bytes > 0)
    recorded_members(numbers)(
        [&](long long first, std::span<const char> records) { made->add(first, records); });
  return made;
}

// The members in the file, with their labels once these are decided. Does not wait for the output, whose own
// thread reads the members of a resumed run.
ReadMembers RecordedRun::recorded_members(MemberNumbers numbers) {
  ReadMembers read = [this, numbers = std::move(numbers)](const TakeMembers& take) {
    read_member_records(numbers, take);
  };
  return labels_decided_ ? labels_.entering(std::move(read)) : read;
}

// The same once everything is in the file.
ReadMembers RecordedRun::all_members() {
  return [this](const TakeMembers& take) {
    if (member_output_) member_output_->settle();
    recorded_members(numbers_)(take);
  };
}

void RecordedRun::decide_labels(RunResult& result) {
  if (!labels_.any()) return;
  labels_.decide(all_members());
  labels_decided_ = true;
  labels_.complete(run_.plan(), all_members(), threads_, result);
}

// Most of members.nc has been written beside the run; with ranks, and where members have labels, it is
// written now.
void RecordedRun::write_members() {
  if (member_output_ && !labels_.any())
    member_output_->close();
  else
    begin_members(numbers_)->close();
}

void RecordedRun::save() {
  if (member_output_) member_output_->settle();
  checkpoint_.save(record_, run_, members_ ? &*members_ : nullptr);
}

void RecordedRun::run(const std::function<void()>& check) {
  try {
    if (files_.coordinator) files_.coordinator->begin(run_);
    while (!run_.done()) {
      if (files_.coordinator)
        files_.coordinator->advance(run_, members_ ? &*members_ : nullptr);
      else
        run_.advance();
      if (checkpoint_.due(run_.tally().members)) save();
    }
    if (files_.coordinator) files_.coordinator->finish();
    numbers_ = run_.statistics().added_members();
    check();
  } catch (const Interrupted&) {
    // Interrupts are checked between batches: all results so far are complete.
    if (run_.part().position > run_.part().first) save();
    throw;
  }
}

// Repeats the selected members with states and events: a member's motion has the same bits in every batch.
// `until` may have left out some of them.
RecordedTrajectories RecordedRun::trajectories() {
  const StageTimer timer("integrate trajectories");
  const Stopwatch integrating;
  RecordedTrajectories made;
  for (const long long member : study_.output.trajectories)
    if (contains(numbers_, member)) made.members.push_back(member);
  if (made.members.empty()) return made;
  const std::vector<unsigned long long> numbers(made.members.begin(), made.members.end());
  const Batch batch = prepare_batch(study_, run_.sampler(), numbers, threads_);
  made.results = backend_.run(batch, {.observables = true, .states = true, .events = true});
  trajectories_s_ = integrating.seconds();
  return made;
}

void RecordedRun::read_member_records(const MemberNumbers& numbers, const TakeMembers& take) {
  members_->write_out();
  if (read_members(members_->path(), members_->layout(), members_->mark(), numbers, take)) return;
  throw MachineError({.where = {members_->path().string(), 0, 0},
                      .message = "the member records written so far cannot be read back",
                      .found = "different bytes than were written",
                      .expected = "a file that no other program changes"});
}

// Writes the files that a merge needs: the complete record and the member records.
void RecordedRun::write_shard(FiledRun& made) {
  record_.part = run_.part();
  record_.trajectories = trajectories();
  if (members_) {
    if (member_output_) member_output_->settle();
    members_->write_out();
    record_.members = members_->mark();
    const std::filesystem::path to = folder_.part(ResultFolder::shard_members_name);
    std::error_code failed;
    std::filesystem::copy_file(members_->path(), to, std::filesystem::copy_options::overwrite_existing,
                               failed);
    if (failed)
      throw MachineError({.where = {to.string(), 0, 0},
                          .message = "the member records of the shard could not be written",
                          .found = failed.message(),
                          .expected = "a folder that can be written to, with room on its disk",
                          .hint = "--out chooses another"});
    made.files.emplace_back(ResultFolder::shard_members_name);
  }
  write_record(folder_.part(ResultFolder::shard_name), record_, run_.statistics());
  made.files.emplace_back(ResultFolder::shard_name);
}

FiledRun RecordedRun::file(const std::function<void()>& check) {
  FiledRun made;
  const Stopwatch writing;
  const bool whole = files_.shard.whole();
  if (!whole) write_shard(made);
  // The backend is used for the last time; its memory is released while the results are computed and written.
  RecordedTrajectories chosen;
  if (whole) chosen = trajectories();
  const double shard_s = writing.seconds();
  if (!run_.needs_device()) backend_.retire();
  made.result = run_.finish();
  backend_.retire();
  if (whole) decide_labels(made.result);
  if (whole && !study_.system->records.empty()) pool_records(study_, all_members(), made.result);
  const Stopwatch rest;
  if (whole) {
    write_results(folder_, study_, made,
                  {.write_members = [this](const std::filesystem::path&) { write_members(); },
                   .read_members = all_members(),
                   .trajectories = [&] { return std::move(chosen); }},
                  check);
  } else {
    write_study_files(folder_, study_, made);
  }
  RunPerformance& performance = made.result.performance;
  performance.write_s += shard_s - trajectories_s_ + rest.seconds();
  performance.trajectories_s += trajectories_s_;
  performance.wall_s = performance.compile_s + wall_before_s_ + wall_.seconds();
  if (files_.coordinator) performance.threads = files_.coordinator->threads();
  if (whole)
    write_summary(folder_, study_, made);
  else
    made.summary = summary_json(study_, made.result);
  check();
  const StageTimer timer("publish");
  folder_.publish();
  folder_.remove_checkpoint();
  return made;
}

}  // namespace

void write_study_files(ResultFolder& folder, const Study& study, FiledRun& made) {
  folder.write(study_name, study_as_run(study));
  made.files.emplace_back(study_name);
  if (const CsvInputs inputs(study); !inputs.empty()) {
    folder.write(csv_inputs_name, inputs.text());
    made.files.emplace_back(csv_inputs_name);
  }
}

void write_results(ResultFolder& folder, const Study& study, FiledRun& made, const ResultSources& sources,
                   const std::function<void()>& check) {
  made.files.insert(made.files.begin(), {summary_name, statistics_name});
  if (study.output.members) {
    const StageTimer timer("write members.nc");
    sources.write_members(folder.part(members_name));
    made.files.emplace_back(members_name);
  }
  if (!study.system->records.empty()) {
    const StageTimer timer("write records.nc");
    write_records(folder.part(records_name), study, made.result, sources.read_members);
    made.files.emplace_back(records_name);
  }
  check();
  const RecordedTrajectories chosen = sources.trajectories();
  if (!chosen.members.empty()) {
    const StageTimer timer("write trajectories.nc");
    write_trajectories(folder.part(trajectories_name), study, made.result, chosen.members, chosen.results);
    made.files.emplace_back(trajectories_name);
  }
  check();
  const StageTimer timer("write statistics.nc");
  write_statistics(folder.part(statistics_name), study, made.result);
  write_study_files(folder, study, made);
}

void write_summary(ResultFolder& folder, const Study& study, FiledRun& made) {
  made.summary = summary_json(study, made.result);
  folder.write(summary_name, made.summary);
}

FiledRun run_into(ResultFolder& folder, const Study& study, Backend& backend, RunOptions options,
                  const std::function<void()>& check, const RunFilesOptions& files) {
  RecordedRun run(folder, study, backend, std::move(options), files);
  run.run(check);
  return run.file(check);
}

}  // namespace zwang
