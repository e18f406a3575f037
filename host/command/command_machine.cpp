// `check`, `bench` and `cache`: commands about the machinery.
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
#include "host/program/program_cache.h"
#include "host/run/backend_factory.h"
#include "host/study/study.h"

namespace zwang {

namespace {

struct CheckCommandOptions : CommonOptions {
  std::string backend = "auto";
  long long members = 0;  // 0: as the study says
  std::size_t sample = 64;
  unsigned threads = 0;
  std::vector<int> devices = {0};
  bool reverse = false;
};

struct BenchCommandOptions : CommonOptions {
  std::string backend = "auto";
  double seconds = 1;
  long long members = 0;
  unsigned threads = 0;
  std::vector<int> devices = {0};
};

// A line that counts up in place, for people who wait; files and pipes get none.
void show_progress(std::size_t done, std::size_t of) {
  static std::mutex guard;
  if (isatty(STDERR_FILENO) == 0) return;
  const std::scoped_lock lock(guard);
  std::cerr << fmt::format("\rchecked {} of {} members{}", done, of, done == of ? "\n" : "") << std::flush;
}

int check(const CheckCommandOptions& options) {
  Study study = load(options);
  if (options.members > 0) study.ensemble.members = options.members;
  const std::unique_ptr<Backend> backend = make_backend(
      options.backend, study, {.threads = options.threads, .devices = options.devices, .note = note});
  const CheckOptions how{.sample = options.sample, .threads = options.threads, .progress = show_progress};
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
      "judge a backend by the reference, from output time to output time; exit code 3 when they disagree");
  add_common(command, options);
  command
      ->add_option("--backend", options.backend,
                   "who is judged; 'reference' is a self-check: the same text at another tolerance")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}))
      ->capture_default_str();
  command->add_option("--sample", options.sample, "how many members, spread evenly over the ensemble")
      ->check([](const std::string& text) { return at_least(text, 1); })
      ->capture_default_str();
  command->add_option("--members", options.members, "size of the ensemble instead of the study's")
      ->check([](const std::string& text) { return at_least(text, 1); });
  add_devices(command, options.devices);
  command->add_option("--threads", options.threads, "of the reference; 0: all cores")->capture_default_str();
  command->add_flag(
      "--reverse", options.reverse,
      "there and back instead: reverse the velocities at the end and see whether the start is met");
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
      "bench", "how fast a study runs: compiling, members and steps a second, threads, lanes");
  add_common(command, options);
  command->add_option("--backend", options.backend, "what is measured")
      ->check(CLI::IsMember({"auto", "cuda", "cpu", "reference"}))
      ->capture_default_str();
  command->add_option("--seconds", options.seconds, "at least so long for each line")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--members", options.members, "in one batch; as many as fill the time when not given")
      ->check(CLI::PositiveNumber);
  add_devices(command, options.devices);
  command->add_option("--threads", options.threads, "the most to try; 0: all cores")->capture_default_str();
  command->footer(
      "Examples:\n"
      "  zwang bench configs/double_string.toml\n"
      "  zwang bench configs/slung_load.toml --threads 1 --seconds 3 --json");
  command->callback([&action, given] { action = [given] { return bench(*given); }; });
}

void add_cache(CLI::App& app, Action& action) {
  const auto clear = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "cache", "the programs compiled for studies, kept to be found again by the next run");
  command->add_flag("--clear", *clear, "remove them");
  command->footer(
      "Examples:\n"
      "  zwang cache\n"
      "  zwang cache --clear");
  command->callback([&action, clear] { action = [clear] { return print(cache_report(*clear)); }; });
}

}  // namespace zwang
