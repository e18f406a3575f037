// The command line.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <new>

#include "host/backend_factory.h"
#include "host/bench.h"
#include "host/child_process.h"
#include "host/machine_error.h"
#include "host/program_cache.h"
#include "host/replay_backend.h"
#include "host/write_check.h"
#include "host/write_explain.h"
#include "host/write_replay.h"
#include "src/error.h"

namespace {

// results.md, exit codes
constexpr int exit_done = 0;
constexpr int exit_wrong_input = 1;
constexpr int exit_machine = 2;
constexpr int exit_bad_verdict = 3;

struct CommonOptions {
  std::string study;
  std::vector<std::string> overrides;
  unsigned long long seed = 0;
  bool has_seed = false;
  bool json = false;
};

struct MemberOptions : CommonOptions {
  unsigned long long member = 0;
};

struct ReplayOptions : MemberOptions {
  std::string backend = "reference";
  bool csv = false;
  bool every_step = false;
};

struct ExplainOptions : MemberOptions {
  double at = 0;
};

struct CheckCommandOptions : CommonOptions {
  std::string backend = "auto";
  long long members = 0;  // 0: as the study says
  std::size_t sample = 64;
  unsigned threads = 0;
  bool reverse = false;
};

struct BenchCommandOptions : CommonOptions {
  std::string backend = "auto";
  double seconds = 1;
  long long members = 0;
  unsigned threads = 0;
};

zwang::Study load(const CommonOptions& options) {
  zwang::Study study = zwang::load_study(options.study, options.overrides);
  if (options.has_seed) study.ensemble.seed = options.seed;
  return study;
}

zwang::Study load_for_member(const MemberOptions& options) {
  zwang::Study study = load(options);
  // A member's draws do not depend on how many there are, so any number has its member; say when it is an outsider.
  if (options.member >= static_cast<unsigned long long>(study.ensemble.members))
    std::cerr << fmt::format("zwang: note: member {} is not among the study's {} members (0 to {})\n",
                             options.member, study.ensemble.members, study.ensemble.members - 1);
  return study;
}

// All or nothing: a table cut short by a full disk or a closed pipe is an error, not a result.
int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return exit_done;
  std::cerr << "zwang: error: could not write the output\n";
  return exit_machine;
}

void note(const std::string& text) { std::cerr << "zwang: note: " << text << "\n"; }

int replay(const ReplayOptions& options) {
  const zwang::Study study = load_for_member(options);
  const zwang::PreparedMember member = zwang::prepare_member(study, options.member);
  zwang::Plan plan = zwang::study_plan(study);
  plan.every_step = options.every_step;
  const bool by_reference = options.backend == "reference";
  if (options.every_step && !by_reference)
    throw zwang::Error({.message = "--steps needs the reference backend",
                        .found = "--backend " + options.backend,
                        .expected = "--backend reference, or no --steps"});
  const zwang::Trajectory trajectory =
      by_reference
          ? zwang::replay_member(study, member, plan)
          : zwang::replay_by_backend(
                study, member, *zwang::make_backend(options.backend, study, {.threads = 1, .note = note}));
  const zwang::Replay result{study, member, trajectory};
  if (options.json) return print(zwang::replay_json(result));
  return print(options.csv ? zwang::replay_csv(result) : zwang::replay_table(result));
}

int explain(const ExplainOptions& options) {
  const zwang::Study study = load_for_member(options);
  const zwang::PreparedMember member = zwang::prepare_member(study, options.member);
  // A hair beyond the time asked for, so that an event at that time has happened.
  const double until = options.at * (1 + 1e-12);
  const zwang::Trajectory trajectory = zwang::replay_member(study, member, {{}, until});
  if (trajectory.last.state.t < options.at && trajectory.status != zwang::Status::ok)
    std::cerr << fmt::format("zwang: note: the member ended at t = {} with status {} ({})\n",
                             trajectory.last.state.t, status_name(trajectory.status), trajectory.cause);
  const zwang::Equations equations(*study.system, member.inputs.parameters);
  zwang::Explanation explanation =
      zwang::explain(equations, trajectory.last, study.integrator.contact_tolerance);
  if (trajectory.last.state.t >= options.at) explanation.state.t = options.at;
  return print(options.json ? zwang::explain_json(study, member, explanation)
                            : zwang::explain_text(study, member, explanation));
}

// A line that counts up in place, for people who wait; files and pipes get none.
void show_progress(std::size_t done, std::size_t of) {
  static std::mutex guard;
  if (isatty(STDERR_FILENO) == 0) return;
  const std::scoped_lock lock(guard);
  std::cerr << fmt::format("\rchecked {} of {} members{}", done, of, done == of ? "\n" : "") << std::flush;
}

int check(const CheckCommandOptions& options) {
  zwang::Study study = load(options);
  if (options.members > 0) study.ensemble.members = options.members;
  const std::unique_ptr<zwang::Backend> backend =
      zwang::make_backend(options.backend, study, {.threads = options.threads, .note = note});
  const zwang::CheckOptions how{
      .sample = options.sample, .threads = options.threads, .progress = show_progress};
  const zwang::CheckReport report =
      options.reverse ? zwang::check_reverse(study, *backend, how) : zwang::check(study, *backend, how);
  const int printed =
      print(options.json ? zwang::check_json(study, report) : zwang::check_table(study, report));
  if (printed != exit_done) return printed;
  return report.verdict() == zwang::CheckVerdict::pass ? exit_done : exit_bad_verdict;
}

int bench(const BenchCommandOptions& options) {
  const zwang::Study study = load(options);
  const auto progress = [](const std::string& text) {
    if (isatty(STDERR_FILENO) != 0 || text.starts_with("WARNING")) note(text);
  };
  const zwang::BenchReport report = zwang::bench(study, {.backend = options.backend,
                                                         .seconds = options.seconds,
                                                         .members = options.members,
                                                         .threads = options.threads,
                                                         .note = progress});
  return print(options.json ? zwang::bench_json(report) : zwang::bench_table(report));
}

void add_common(CLI::App* command, CommonOptions& options) {
  command->add_option("STUDY", options.study, "the study file (TOML)")->required();
  command->add_option_function<unsigned long long>(
      "--seed",
      [&options](unsigned long long seed) {
        options.seed = seed;
        options.has_seed = true;
      },
      "draw with this seed instead of the study's");
  command->add_option("--set", options.overrides, "change a key of the study: path.to.key=value (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command->add_flag("--json", options.json, "full precision, for programs");
}

void add_member(CLI::App* command, MemberOptions& options) {
  add_common(command, options);
  command->add_option("--member", options.member, "which member of the ensemble, from 0")
      ->capture_default_str();
}

// CLI11 has no word for a command it does not know.
void require_known_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const std::string word = argv[1];
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  throw zwang::Error({.message = "there is no command '" + word + "' in this version",
                      .found = word,
                      .expected = zwang::list_text(names, "or"),
                      .hint = zwang::suggestion(word, names)});
}

CLI::App* add_replay(CLI::App& app, ReplayOptions& options) {
  CLI::App* command =
      app.add_subcommand("replay", "one member again: its states, every event, measures and audit");
  add_member(command, options);
  command->add_option("--backend", options.backend, "what integrates")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}))
      ->capture_default_str();
  CLI::Option* csv = command->add_flag("--csv", options.csv, "the states as comma-separated values");
  csv->excludes(command->get_option("--json"));
  command->add_flag("--steps", options.every_step, "every step of the integrator, not the output times");
  command->footer(
      "Examples:\n"
      "  zwang replay configs/slung_load.toml --member 3\n"
      "  zwang replay configs/bouncing_ball.toml --set constraint.0.restitution=0.5 --json > ball.json");
  return command;
}

CLI::App* add_explain(CLI::App& app, ExplainOptions& options) {
  CLI::App* command = app.add_subcommand(
      "explain", "the derived equations, and why the accelerations at a state are what they are");
  add_member(command, options);
  command->add_option("--at", options.at, "time; at an event: after it")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  zwang explain configs/ostrogradsky.toml\n"
      "  zwang explain configs/string_pendulum.toml --at 1.5 --json");
  return command;
}

CLI::App* add_check(CLI::App& app, CheckCommandOptions& options) {
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
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--members", options.members, "size of the ensemble instead of the study's")
      ->check(CLI::PositiveNumber);
  command->add_option("--threads", options.threads, "of the reference; 0: all cores")->capture_default_str();
  command->add_flag(
      "--reverse", options.reverse,
      "there and back instead: reverse the velocities at the end and see whether the start is met");
  command->footer(
      "Examples:\n"
      "  zwang check configs/slung_load.toml\n"
      "  zwang check configs/point_in_sphere.toml --backend reference --reverse --json");
  return command;
}

CLI::App* add_bench(CLI::App& app, BenchCommandOptions& options) {
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
  command->add_option("--threads", options.threads, "the most to try; 0: all cores")->capture_default_str();
  command->footer(
      "Examples:\n"
      "  zwang bench configs/double_string.toml\n"
      "  zwang bench configs/slung_load.toml --threads 1 --seconds 3 --json");
  return command;
}

CLI::App* add_cache(CLI::App& app, bool& clear) {
  CLI::App* command = app.add_subcommand(
      "cache", "the programs compiled for studies, kept to be found again by the next run");
  command->add_flag("--clear", clear, "remove them");
  command->footer(
      "Examples:\n"
      "  zwang cache\n"
      "  zwang cache --clear");
  return command;
}

int run(int argc, char** argv) {
  CLI::App app{"Zwang: ensembles of constrained, non-smooth mechanical systems by Gauss's least constraint"};
  app.set_version_flag("--version", fmt::format("zwang {}{}", ZWANG_VERSION,
                                                std::string(ZWANG_CUDA_VERSION).empty()
                                                    ? ", built without CUDA"
                                                    : ", CUDA toolkit " + std::string(ZWANG_CUDA_VERSION)));
  app.require_subcommand(1);
  app.footer(
      "A study is one TOML file; configs/ holds commented ones. `zwang COMMAND --help` shows examples.");

  ReplayOptions replay_options;
  ExplainOptions explain_options;
  CheckCommandOptions check_options;
  const CLI::App* replay_command = add_replay(app, replay_options);
  const CLI::App* explain_command = add_explain(app, explain_options);
  BenchCommandOptions bench_options;
  bool clear_cache = false;
  const CLI::App* check_command = add_check(app, check_options);
  const CLI::App* bench_command = add_bench(app, bench_options);
  add_cache(app, clear_cache);

  require_known_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_done : exit_wrong_input;
  }
  if (replay_command->parsed()) return replay(replay_options);
  if (explain_command->parsed()) return explain(explain_options);
  if (check_command->parsed()) return check(check_options);
  if (bench_command->parsed()) return bench(bench_options);
  return print(zwang::cache_report(clear_cache));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const zwang::Error& error) {
    std::cerr << error.what() << "\n";
    return exit_wrong_input;
  } catch (const zwang::Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (const zwang::MachineError& error) {
    std::cerr << error.what() << "\n";
    return exit_machine;
  } catch (const std::bad_alloc&) {
    std::cerr << "zwang: error: out of memory\n";
    return exit_machine;
  } catch (const std::exception& error) {
    std::cerr << "zwang: error: " << error.what() << "\n";
    return exit_machine;
  }
}
