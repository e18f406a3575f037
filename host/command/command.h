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
class Option;
}  // namespace CLI

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
void add_import(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_man(CLI::App& app, Action& action);
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

// The study at this path; if there is no such file, the study of `zwang list` with this name. Throws Error if
// --set names a parameter that the study does not have. Prints notes about what the study probably does not
// mean.
Study load_by_path_or_name(const std::string& path, const std::vector<std::string>& overrides, bool quiet);

// For CLI::Option::check: "" if the text is a number >= smallest, otherwise the error message.
std::string at_least(const std::string& text, double smallest);

// Lets an option accept a whole number from `least` to `most`, also in the form 1e6 or 2.5e3.
void accept_whole_number(CLI::Option* option, long long least, long long most);
constexpr long long member_limit = 1'000'000'000'000;  // docs/study-file.md

// The value of --max-failed as a fraction. Throws Error if it is not one.
double read_max_failed(const std::string& text);
// The exit code by the number of failed members; prints a message if there are too many.
int verdict(const RunTally& tally, double max_failed);

// Prints to standard output. Output cut short by a full disk or a closed pipe is an error; returns the exit
// code.
int print(const std::string& text);

// The line shown while a study is compiled.
std::string compiling_text(const Study& study);

// Prints "zwang: note: ..." to standard error.
void note(const std::string& text);

// From now on errors are also printed to standard output as JSON (--json).
void print_errors_as_json();

// Prints the exception that is being handled and returns its exit code.
int report_exception();
// The same for a command line that cannot be parsed.
int report_usage(const std::string& message);

}  // namespace zwang
