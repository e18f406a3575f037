// Declarations shared by all commands. Each add_*() registers a subcommand with the parser; the chosen
// subcommand sets `action`, which main() then runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/run/run_result.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"

namespace CLI {
class App;
}

namespace zwang {

// Exit codes, documented in docs/results.md.
constexpr int exit_done = 0;
constexpr int exit_wrong_input = 1;
constexpr int exit_machine = 2;
constexpr int exit_bad_verdict = 3;
constexpr int exit_interrupted = 130;  // for every signal; finished members are saved

// Runs a command and returns the exit code.
using Action = std::function<int()>;

void add_run(CLI::App& app, Action& action);
void add_merge(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_modes(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_new(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_cache(CLI::App& app, Action& action);

struct CommonOptions {
  std::string study;
  std::vector<std::string> overrides;
  unsigned long long seed = 0;
  bool has_seed = false;
  bool json = false;
};
void add_common(CLI::App* command, CommonOptions& options);
// Adds --device: "0", "0,1" or "all" (an empty list).
void add_devices(CLI::App* command, std::vector<int>& devices);
std::string device_text(const std::vector<int>& devices);  // in the form that --device accepts

Study load(const CommonOptions& options);

// Throws Error with a hint if `path` is not a file but the name of a study that `zwang list` shows.
void require_path_not_listed_name(const std::string& path);

// Prints a note if --set added a parameter instead of changing one: it may be a typing mistake.
void note_added_parameters(const Study& study);

// For CLI::Option::check: "" if the text is a number >= smallest, otherwise the error message.
std::string at_least(const std::string& text, double smallest);

// The value of --max-failed as a fraction. Throws Error if it is not one.
double read_max_failed(const std::string& text);
// The exit code by the number of failed members; prints a message if there are too many.
int verdict(const RunTally& tally, double max_failed);

// Prints to standard output. Output cut short by a full disk or a closed pipe is an error; returns the exit
// code.
int print(const std::string& text);

// Prints "zwang: note: ..." to standard error.
void note(const std::string& text);

// Prints the exception that is being handled and returns its exit code.
int report_exception();

}  // namespace zwang
