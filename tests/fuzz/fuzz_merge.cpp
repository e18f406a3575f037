// Fuzz target: any bytes as the files of shards. They are rejected with an Error or merged into readable
// results.
#include <nlohmann/json.hpp>

#include "host/results/merge.h"
#include "tests/fuzz/quick_run.h"

namespace zwang::fuzz {
namespace {

namespace fs = std::filesystem;

// Both shards of a run, with their study.
struct ShardedRun {
  static constexpr const char* names[] = {"1/shard.zwang", "2/shard.zwang", "1/shard-members.zwang",
                                          "2/shard-members.zwang", "1/study.toml"};
  ShardedRun(const fs::path& folder, bool buckets) : run(buckets) {
    for (const long long number : {1, 2})
      run.run(folder / std::to_string(number), {.shard = {number, 2, true}});
    for (const char* name : names) {
      files.push_back(read_bytes(folder / name));
      promise(!files.back().empty(), "no shards to begin with");
    }
    for (const char* shard : {"1", "2"}) fs::remove_all(folder / shard);
  }
  QuickRun run;
  std::vector<std::string> files;
};

void try_merge(const Recipe& recipe) {
  static const MemoryFolder folder;
  static const ShardedRun runs[] = {{folder.path(), false}, {folder.path(), true}};
  const auto& chosen = runs[recipe.other_run ? 1 : 0];
  const QuickRun& run = chosen.run;
  const std::vector<std::string>& good = chosen.files;
  std::vector<std::string> files = good;
  if (recipe.raw)
    files[0].assign(recipe.rest.begin(), recipe.rest.end());
  else
    edit_all(recipe.rest, files);

  for (const char* shard : {"1", "2"}) fs::create_directory(folder.path() / shard);
  for (std::size_t k = 0; k < files.size(); ++k) write_bytes(folder.path() / ShardedRun::names[k], files[k]);
  if (!recipe.keep_checksums)
    for (std::size_t k = 0; k < 2; ++k) {
      if (files[k + 2] != good[k + 2]) mend_members(files[k], good[k + 2], files[k + 2]);
      if (files[k] != good[k]) mend_checksums(folder.path() / ShardedRun::names[k], files[k], run);
    }

  const fs::path out = folder.path() / "joined";
  const auto check = [&] {
    if (!recipe.to_the_end) throw Enough();
  };
  const Outcome outcome = outcome_of([&] {
    ShardMerge shards({folder.path() / "1", folder.path() / "2"});
    ResultFolder results(out);
    shards.into(results, 1, check);
  });
  if (outcome == Outcome::done)
    promise(nlohmann::json::accept(read_bytes(out / "summary.json")), "a summary that is no JSON");
  else
    promise(!fs::exists(out), "something is left of a merge that came to nothing");
  for (const char* made : {"1", "2", "joined"}) fs::remove_all(folder.path() / made);
}

}  // namespace
}  // namespace zwang::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zwang::fuzz::try_merge({data, size});
  return 0;
}
