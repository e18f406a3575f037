// What the commands of the program share. A command registers its options with the parser and, when the user asks for
// it, becomes the action of the program.
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

// results.md, exit codes
constexpr int exit_done = 0;
constexpr int exit_wrong_input = 1;
constexpr int exit_machine = 2;
constexpr int exit_bad_verdict = 3;
constexpr int exit_interrupted = 130;  // and what was done is kept, whatever the signal

// Does what was asked and returns the exit code.
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
// --device: "0", "0,1" or "all" (an empty list).
void add_devices(CLI::App* command, std::vector<int>& devices);
std::string device_text(const std::vector<int>& devices);  // as --device takes it

Study load(const CommonOptions& options);

// Says where --set added a parameter instead of changing one: it may be a slip of the pen.
void note_added_parameters(const Study& study);

// For CLI::Option::check, with messages that a person can read.
std::string at_least(const std::string& text, double smallest);

// --max-failed: a share. Throws Error where it is none.
double read_max_failed(const std::string& text);
// The exit code by how many members failed; says so where they are too many.
int verdict(const RunTally& tally, double max_failed);

// All or nothing: a table cut short by a full disk or a closed pipe is an error, not a result.
int print(const std::string& text);

void note(const std::string& text);  // on standard error

// Prints the exception now handled; the exit code that belongs to it.
int tell_trouble();

}  // namespace zwang
