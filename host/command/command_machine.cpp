// `check`, `bench` and `cache`: verify a backend, measure its speed, and manage compiled programs.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <mutex>

#include "host/backend/backend.h"
#include "host/check/check.h"
#include "host/check/write_check.h"
#include "host/command/command.h"
#include "host/inspect/bench.h"
#include "host/platform/stopwatch.h"
#include "host/program/program_cache.h"
#include "host/run/backend_factory.h"
#include "host/run/progress.h"
#include "host/study/study.h"

namespace zwang {

namespace {

struct CheckCommandOptions : CommonOptions {
  std::string backend = "auto";
  long long members = 0;  // 0: the study's number
  std::size_t sample = 64;
  unsigned threads = 0;
  std::vector<int> devices = {0};
  bool reverse = false;
  double budget = 1;
};

struct BenchCommandOptions : CommonOptions {
  std::string backend = "auto";
  double seconds = 1;
  long long members = 0;
  unsigned threads = 0;
  std::vector<int> devices = {0};
};

// The progress of a check on standard error: on a terminal one line that is updated in place, otherwise a
// line every few seconds.
class CheckDisplay {
 public:
  void show(const CheckProgress& progress) {
    const std::scoped_lock lock(guard_);
    const double now = watch_.seconds();
    const bool last = progress.done == progress.of;
    if (now - shown_at_ < (on_terminal_ ? seconds_between_updates : seconds_between_lines) &&
        !(last && on_terminal_))
      return;
    shown_at_ = now;
    const std::string text = fmt::format("checked {} of {} members, {} segments, {}", progress.done,
                                         progress.of, progress.segments, duration_text(now));
    if (on_terminal_)
      std::cerr << "\r\x1b[K" << text << (last ? "\n" : "") << std::flush;
    else
      note(text);
  }

 private:
  static constexpr double seconds_between_updates = 0.1, seconds_between_lines = 5;
  const bool on_terminal_ = isatty(STDERR_FILENO) != 0;
  std::mutex guard_;
  Stopwatch watch_;
  double shown_at_ = 0;
};

int check(const CheckCommandOptions& options) {
  Study study = load(options);
  if (options.members > 0) study.ensemble.members = options.members;
  const std::unique_ptr<Backend> backend = [&] {
    const DelayedLine compiling(ProgressDisplay(stderr, false), compiling_text(study));
    return make_backend(options.backend, study,
                        {.threads = options.threads, .devices = options.devices, .note = note});
  }();
  CheckDisplay display;
  const CheckOptions how{.sample = options.sample,
                         .threads = options.threads,
                         .budget = options.budget,
                         .progress = [&](const CheckProgress& progress) { display.show(progress); }};
  const CheckReport report =
      options.reverse ? check_reverse(study, *backend, how) : check(study, *backend, how);
  const int printed = print(options.json ? check_json(study, report) : check_table(study, report));
  if (printed != exit_done) return printed;
  return report.verdict() == CheckVerdict::pass ? exit_done : exit_bad_verdict;
}

int bench(const BenchCommandOptions& options) {
  const Study study = load(options);
  const auto progress = [](const std::string& text) {
    if (isatty(STDERR_FILENO) != 0 || text.starts_with("WARNING")) note(text);
  };
  const BenchReport report = bench(study, {.backend = options.backend,
                                           .seconds = options.seconds,
                                           .members = options.members,
                                           .threads = options.threads,
                                           .devices = options.devices,
                                           .note = progress});
  return print(options.json ? bench_json(report) : bench_table(report));
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  const auto given = std::make_shared<CheckCommandOptions>();
  CheckCommandOptions& options = *given;
  CLI::App* command = app.add_subcommand(
      "check",
      "compare a backend with the reference from output time to output time; exit code 3 if they disagree");
  add_common(command, options);
  command
      ->add_option("--backend", options.backend,
                   "backend to check; 'reference' compares the reference with itself at another tolerance")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}))
      ->capture_default_str();
  accept_whole_number(command
                          ->add_option("--sample", options.sample,
                                       "number of members to check, spread evenly over the ensemble")
                          ->capture_default_str(),
                      1, member_limit);
  accept_whole_number(
      command->add_option("--members", options.members, "size of the ensemble, instead of the study's"), 1,
      member_limit);
  add_devices(command, options.devices);
  command->add_option("--threads", options.threads, "threads for the reference; 0: all cores")
      ->capture_default_str();
  command
      ->add_option("--budget", options.budget,
                   "work the reference may spend before a segment is reported as undecided, as a multiple of "
                   "the default")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--reverse", options.reverse,
                    "check reversibility instead: reverse the velocities at the end, integrate back, compare "
                    "with the start");
  command->footer(
      "Examples:\n"
      "  zwang check configs/slung_load.toml\n"
      "  zwang check configs/point_in_sphere.toml --backend reference --reverse --json");
  command->callback([&action, given] { action = [given] { return check(*given); }; });
}

void add_bench(CLI::App& app, Action& action) {
  const auto given = std::make_shared<BenchCommandOptions>();
  BenchCommandOptions& options = *given;
  CLI::App* command = app.add_subcommand(
      "bench", "measure the speed of a study: compilation, members and steps per second, threads, lanes");
  add_common(command, options);
  command->add_option("--backend", options.backend, "backend to measure")
      ->check(CLI::IsMember({"auto", "cuda", "cpu", "reference"}))
      ->capture_default_str();
  command->add_option("--seconds", options.seconds, "minimum seconds per measurement")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  accept_whole_number(command->add_option("--members", options.members,
                                          "members per batch (default: enough to fill the time)"),
                      1, member_limit);
  add_devices(command, options.devices);
  command->add_option("--threads", options.threads, "largest number of threads to try; 0: all cores")
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  zwang bench configs/double_string.toml\n"
      "  zwang bench configs/slung_load.toml --threads 1 --seconds 3 --json");
  command->callback([&action, given] { action = [given] { return bench(*given); }; });
}

void add_cache(CLI::App& app, Action& action) {
  const auto clear = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("cache", "show or clear the cache of compiled studies");
  command->add_flag("--clear", *clear, "remove all compiled studies");
  command->footer(
      "Examples:\n"
      "  zwang cache\n"
      "  zwang cache --clear");
  command->callback([&action, clear] { action = [clear] { return print(cache_report(*clear)); }; });
}

}  // namespace zwang
