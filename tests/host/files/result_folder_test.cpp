// Result folders: refusals, publication, and kills at any system call.
#include "host/files/result_folder.h"

#include "host/platform/machine_error.h"
#include "tests/support/scratch.h"
#include "tests/support/stepped_process.h"

namespace zwang::result_folder_test {
namespace {

using Options = ResultFolderOptions;
namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void publish_texts(const fs::path& folder, const std::vector<std::string>& names, const std::string& text,
                   const Options& options = {}) {
  ResultFolder results(folder, options);
  for (const std::string& name : names) results.write(name, text);
  results.publish();
}

TEST(ResultFolder, files_get_their_names_only_when_all_are_published) {
  const Scratch scratch;
  const fs::path folder = scratch.path() / "a" / "b";
  ResultFolder results(folder);
  results.write("summary.json", "{}");
  write_text(results.part("statistics.nc"), "numbers");
  for (const std::string& name : ResultFolder::result_names())
    EXPECT_FALSE(fs::exists(folder / name)) << name;
  results.publish();
  EXPECT_EQ(names_in(folder), (std::vector<std::string>{"statistics.nc", "summary.json"}));
  EXPECT_EQ(read_text(folder / "statistics.nc"), "numbers");
}

TEST(ResultFolder, a_run_that_fails_leaves_nothing_not_even_the_folders_it_made) {
  const Scratch scratch;
  {
    ResultFolder results(scratch.path() / "results" / "study");
    results.write("study.toml", "x = 1");
    EXPECT_EQ(count_files(results.path()), 1);
  }
  EXPECT_EQ(count_files(scratch.path()), 0);
}

TEST(ResultFolder, results_that_are_there_are_refused_and_stay_as_they_are) {
  const Scratch scratch;
  publish_texts(scratch.path(), {"statistics.nc", "summary.json"}, "old");
  const std::string message = message_of<Error>([&] { ResultFolder again(scratch.path()); });
  EXPECT_NE(message.find("the folder holds results already"), std::string::npos) << message;
  EXPECT_NE(message.find("statistics.nc and summary.json"), std::string::npos) << message;
  EXPECT_NE(message.find("--overwrite"), std::string::npos) << message;
  EXPECT_EQ(read_text(scratch.path() / "summary.json"), "old");
}

TEST(ResultFolder, overwriting_leaves_nothing_of_the_earlier_run) {
  const Scratch scratch;
  write_text(scratch.path() / "notes.txt", "mine");
  publish_texts(scratch.path(), {"statistics.nc", "members.nc", "summary.json"}, "old");
  publish_texts(scratch.path(), {"statistics.nc", "summary.json"}, "new",
                {.overwrite = true, .study = {}, .inputs = {}});
  EXPECT_EQ(names_in(scratch.path()),
            (std::vector<std::string>{"notes.txt", "statistics.nc", "summary.json"}));
  EXPECT_EQ(read_text(scratch.path() / "statistics.nc"), "new");
  EXPECT_EQ(read_text(scratch.path() / "notes.txt"), "mine");
}

TEST(ResultFolder, an_overwriting_run_that_fails_leaves_the_earlier_results) {
  const Scratch scratch;
  publish_texts(scratch.path(), {"statistics.nc", "summary.json"}, "old");
  {
    ResultFolder results(scratch.path(), {.overwrite = true, .study = {}, .inputs = {}});
    results.write("statistics.nc", "new");
  }
  EXPECT_EQ(names_in(scratch.path()), (std::vector<std::string>{"statistics.nc", "summary.json"}));
  EXPECT_EQ(read_text(scratch.path() / "statistics.nc"), "old");
}

TEST(ResultFolder, a_run_that_died_while_files_got_their_names_is_resumed_and_files_of_others_are_not) {
  const Scratch scratch;
  publish_texts(scratch.path(), {"statistics.nc", "summary.json"}, "old");
  EXPECT_EQ(count_files(scratch.path()), 2) << "no mark is left";
  fs::remove(scratch.path() / "summary.json");
  EXPECT_NE(message_of<Error>([&] {
              ResultFolder again(scratch.path(), {.resume = true});
            }).find("files that have the names of results"),
            std::string::npos)
      << "nobody knows whose they are";
  write_text(scratch.path() / ".publishing", "");
  EXPECT_NE(message_of<Error>([&] { ResultFolder again(scratch.path()); }).find("--resume finishes them"),
            std::string::npos);
  publish_texts(scratch.path(), {"statistics.nc", "summary.json"}, "new", {.resume = true});
  EXPECT_EQ(names_in(scratch.path()), (std::vector<std::string>{"statistics.nc", "summary.json"}));
  EXPECT_EQ(read_text(scratch.path() / "statistics.nc"), "new");
}

TEST(ResultFolder, the_study_that_is_run_is_never_overwritten) {
  const Scratch scratch;
  const fs::path study = scratch.path() / "study.toml";
  write_text(study, "title = \"precious\"");
  const Options options{.overwrite = true, .study = study.string(), .inputs = {}};
  const std::string message = message_of<Error>([&] { ResultFolder results(scratch.path(), options); });
  EXPECT_NE(message.find("would overwrite the study file"), std::string::npos) << message;
  EXPECT_EQ(read_text(study), "title = \"precious\"");
}

TEST(ResultFolder, a_file_that_the_study_reads_is_never_overwritten) {
  const Scratch scratch;
  const fs::path input = scratch.path() / "inputs.csv";
  write_text(input, "x\n1\n");
  const Options options{.overwrite = true, .study = {}, .inputs = {input}};
  const std::string message = message_of<Error>([&] { ResultFolder results(scratch.path(), options); });
  EXPECT_NE(message.find("would overwrite a file that the study reads"), std::string::npos) << message;
  EXPECT_EQ(read_text(input), "x\n1\n");
}

TEST(ResultFolder, two_runs_do_not_share_a_folder) {
  const Scratch scratch;
  const ResultFolder first(scratch.path());
  const std::string message = message_of<Error>([&] { ResultFolder second(scratch.path()); });
  EXPECT_NE(message.find("another run is writing its results here"), std::string::npos) << message;
}

TEST(ResultFolder, parts_of_dead_runs_are_taken_away_and_nothing_else) {
  const Scratch scratch;
  for (const char* name : {".statistics.nc.4194305.part", ".summary.json.4194305.part", ".other.4194305.part",
                           "statistics.nc.4194305.part", ".statistics.nc.x.part"})
    write_text(scratch.path() / name, "left behind");
  { const ResultFolder results(scratch.path()); }
  EXPECT_EQ(names_in(scratch.path()),
            (std::vector<std::string>{".other.4194305.part", ".statistics.nc.x.part",
                                      "statistics.nc.4194305.part"}));
}

TEST(ResultFolder, what_is_not_a_folder_is_the_users_mistake_and_what_cannot_be_made_the_machines) {
  const Scratch scratch;
  write_text(scratch.path() / "file", "");
  EXPECT_NE(message_of<Error>([&] { ResultFolder results(scratch.path() / "file"); }).find("not a folder"),
            std::string::npos);
  const std::string message = message_of<MachineError>([] { ResultFolder results("/proc/zwang/results"); });
  EXPECT_NE(message.find("/proc/zwang: error: the folder for the results could not be created"),
            std::string::npos)
      << message;
}

// State of the folder at any moment: if there is a summary, all files are complete and of one run.
std::string folder_error(const fs::path& folder, const std::vector<std::string>& names, std::size_t size) {
  std::string of_run;
  for (const std::string& name : names) {
    if (!fs::exists(folder / name)) continue;
    const std::string text = read_text(folder / name);
    if (text.size() != size || text != std::string(size, text[0])) return name + " is not whole";
  }
  if (!fs::exists(folder / "summary.json")) return "";
  for (const std::string& name : names) {
    if (!fs::exists(folder / name)) return "a summary without " + name;
    of_run += read_text(folder / name)[0];
  }
  return of_run == std::string(names.size(), of_run[0]) ? "" : "files of different runs: " + of_run;
}

TEST(ResultFolder, killing_the_writer_at_any_time_leaves_no_mixture_and_nothing_half_written) {
  const Scratch scratch;
  const fs::path folder = scratch.path() / "results";
  const std::vector<std::string> names = {"study.toml", "statistics.nc", "members.nc", "summary.json"};
  constexpr std::size_t size = 20'000;
  const auto publish = [&](char run) {
    publish_texts(folder, names, std::string(size, run), {.overwrite = true, .study = {}, .inputs = {}});
  };
  int kept = 0, between = 0, replaced = 0;
  for (int call = 0;; ++call) {
    ASSERT_LT(call, 5000) << "the writer does not end";
    publish('a');
    const Stepped stepped = kill_before_call(call, [&] { publish('b'); });
    if (stepped == Stepped::not_allowed) GTEST_SKIP() << "processes cannot be traced here";
    ASSERT_EQ(folder_error(folder, names, size), "") << "killed before call " << call;
    const std::string summary = read_text(folder / "summary.json").substr(0, 1);
    if (stepped == Stepped::ended) {
      EXPECT_EQ(summary, "b");
      break;
    }
    (summary == "a" ? kept : summary == "b" ? replaced : between) += 1;
  }
  // All three states were observed: the old results, none, and the new ones.
  EXPECT_GT(kept, 10);
  EXPECT_GT(between, 3);
  EXPECT_GT(replaced, 0);
}

}  // namespace
}  // namespace zwang::result_folder_test
