// Fuzz target: any bytes as a checkpoint with its members. They are rejected with an Error and left
// unchanged, or the run is resumed and writes readable results.
#include <nlohmann/json.hpp>

#include "host/platform/child_process.h"
#include "tests/fuzz/quick_run.h"

namespace zwang::fuzz {
namespace {

namespace fs = std::filesystem;

// A run interrupted at member 270, with its files.
struct InterruptedRun {
  InterruptedRun(const fs::path& folder, bool buckets) : run(buckets) {
    const fs::path out = folder / "interrupted";
    RunOptions options = run.options();
    options.progress = [](const RunProgress& progress) {
      if (progress.done >= 270) throw Interrupted(2);
    };
    try {
      ResultFolder results(out);
      QuickBackend backend(run.study);
      run_into(results, run.study, backend, options, [] {});
    } catch (const Interrupted&) {
    }
    files = {read_bytes(out / ".checkpoint"), read_bytes(out / ".checkpoint-members")};
    promise(!files[0].empty() && !files[1].empty(), "no checkpoint to begin with");
    fs::remove_all(out);
  }
  QuickRun run;
  std::vector<std::string> files;  // the record, the members
};

// A record that was read is written back unchanged.
void expect_stable(const fs::path& path, const QuickRun& run) {
  const auto again = [&](const fs::path& from, const fs::path& to) {
    RecordReader reader(from, "record", "");
    const Sampler sampler(run.study);
    write_record(to, reader.record(), reader.statistics(ensemble_plan(run.study, sampler, run.memory)));
  };
  const fs::path one = path.string() + "-one", two = path.string() + "-two";
  if (outcome_of([&] { again(path, one); }) == Outcome::refused) return;
  promise(outcome_of([&] { again(one, two); }) == Outcome::done, "a record written out does not load");
  promise(read_bytes(one) == read_bytes(two), "a record written out reads as another");
  fs::remove(one);
  fs::remove(two);
}

void try_checkpoint(const Recipe& recipe) {
  static const MemoryFolder folder;
  static const InterruptedRun runs[] = {{folder.path(), false}, {folder.path(), true}};
  const auto& chosen = runs[recipe.other_run ? 1 : 0];
  const QuickRun& run = chosen.run;
  const std::vector<std::string>& good = chosen.files;
  std::vector<std::string> files = good;
  if (recipe.raw)
    files[0].assign(recipe.rest.begin(), recipe.rest.end());
  else
    edit_all(recipe.rest, files);

  const fs::path out = folder.path() / "run", record = out / ".checkpoint";
  fs::create_directory(out);
  write_bytes(record, files[0]);
  write_bytes(out / ".checkpoint-members", files[1]);
  if (!recipe.keep_checksums) {
    mend_members(files[0], good[1], files[1]);
    mend_checksums(record, files[0], run);
  }
  expect_stable(record, run);
  const auto check = [&] {
    if (!recipe.to_the_end) throw Enough();
  };
  const Outcome outcome = outcome_of([&] { run.run(out, {}, true, check); });
  if (outcome == Outcome::done) {
    promise(nlohmann::json::accept(read_bytes(out / "summary.json")), "a summary that is no JSON");
    promise(!fs::exists(record), "a checkpoint that outlives its run");
  } else if (outcome == Outcome::refused) {
    promise(read_bytes(record) == files[0], "a checkpoint that was refused and changed");
  }
  fs::remove_all(out);
}

}  // namespace
}  // namespace zwang::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zwang::fuzz::try_checkpoint({data, size});
  return 0;
}
