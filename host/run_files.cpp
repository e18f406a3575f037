#include "host/run_files.h"

#include "host/batch.h"
#include "host/csv_inputs.h"
#include "host/stopwatch.h"
#include "host/write_members.h"
#include "host/write_statistics.h"
#include "host/write_study.h"
#include "host/write_summary.h"
#include "host/write_trajectories.h"

namespace zwang {

namespace {

constexpr const char* members_name = "members.nc";
constexpr const char* trajectories_name = "trajectories.nc";
constexpr const char* statistics_name = "statistics.nc";
constexpr const char* study_name = "study.toml";
constexpr const char* summary_name = "summary.json";

// The chosen members once more, with all they can tell: a member's motion is the same bits in every batch.
void file_trajectories(const std::filesystem::path& path, const Study& study, Backend& backend,
                       const EnsembleRun& run, const std::vector<long long>& chosen, unsigned threads) {
  const std::vector<unsigned long long> numbers(chosen.begin(), chosen.end());
  const Batch batch = prepare_batch(study, run.sampler(), numbers, threads);
  const BatchResults results = backend.run(batch, {.observables = true, .states = true, .events = true});
  write_trajectories(path, study, run.origin(), chosen, results);
}

// `until` may have ended the run before some of those the study asks for.
std::vector<long long> chosen_members(const Study& study, long long done) {
  std::vector<long long> chosen;
  for (const long long member : study.output.trajectories)
    if (member < done) chosen.push_back(member);
  return chosen;
}

}  // namespace

FiledRun run_into(ResultFolder& folder, const Study& study, Backend& backend, RunOptions options,
                  const std::function<void()>& check) {
  const Stopwatch wall;
  const unsigned threads = options.threads;
  // Members are written as they come, by a writer that has to know from the run who draws and who integrates.
  std::optional<MembersWriter> members;
  if (study.output.members)
    options.members = [&](long long first, const Batch& batch, const BatchResults& results) {
      members->add(first, batch, results);
    };
  EnsembleRun run(study, backend, std::move(options));
  if (study.output.members)
    members.emplace(folder.part(members_name), study, run.origin(), run.sampler().drawn());
  while (!run.done()) run.advance();
  FiledRun made{.result = run.finish(), .summary = {}, .files = {summary_name, statistics_name}};

  const Stopwatch writing;
  check();
  if (members) {
    members->close();
    made.files.emplace_back(members_name);
  }
  check();
  const std::vector<long long> chosen = chosen_members(study, made.result.tally.members);
  if (!chosen.empty()) {
    file_trajectories(folder.part(trajectories_name), study, backend, run, chosen, threads);
    made.files.emplace_back(trajectories_name);
  }
  check();
  write_statistics(folder.part(statistics_name), study, made.result);
  folder.write(study_name, study_as_run(study));
  made.files.emplace_back(study_name);
  if (const CsvInputs inputs(study); !inputs.empty()) {
    folder.write(csv_inputs_name, inputs.text());
    made.files.emplace_back(csv_inputs_name);
  }

  // The summary tells how long all of this took, so it comes last.
  made.result.performance.write_s += writing.seconds();
  made.result.performance.wall_s = made.result.performance.compile_s + wall.seconds();
  made.summary = summary_json(study, made.result);
  folder.write(summary_name, made.summary);
  check();
  folder.publish();
  return made;
}

}  // namespace zwang
