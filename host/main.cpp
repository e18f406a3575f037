// The command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>

#include "host/write_explain.h"
#include "host/write_replay.h"
#include "src/error.h"

namespace {

// results.md, exit codes
constexpr int exit_done = 0;
constexpr int exit_wrong_input = 1;
constexpr int exit_machine = 2;

struct CommonOptions {
  std::string study;
  std::vector<std::string> overrides;
  unsigned long long member = 0;
  unsigned long long seed = 0;
  bool has_seed = false;
  bool json = false;
};

struct ReplayOptions : CommonOptions {
  std::string backend = "reference";
  bool csv = false;
  bool every_step = false;
};

struct ExplainOptions : CommonOptions {
  double at = 0;
};

zwang::Study load(const CommonOptions& options) {
  zwang::Study study = zwang::load_study(options.study, options.overrides);
  if (options.has_seed) study.ensemble.seed = options.seed;
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

int replay(const ReplayOptions& options) {
  const zwang::Study study = load(options);
  const zwang::PreparedMember member = zwang::prepare_member(study, options.member);
  zwang::Plan plan = zwang::study_plan(study);
  plan.every_step = options.every_step;
  const zwang::Trajectory trajectory = zwang::replay_member(study, member, plan);
  const zwang::Replay result{study, member, trajectory};
  if (options.json) return print(zwang::replay_json(result));
  return print(options.csv ? zwang::replay_csv(result) : zwang::replay_table(result));
}

int explain(const ExplainOptions& options) {
  const zwang::Study study = load(options);
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

void add_common(CLI::App* command, CommonOptions& options) {
  command->add_option("STUDY", options.study, "the study file (TOML)")->required();
  command->add_option("--member", options.member, "which member of the ensemble, from 0")
      ->capture_default_str();
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
  CLI::App* replay_command =
      app.add_subcommand("replay", "one member again: its states, every event, measures and audit");
  add_common(replay_command, replay_options);
  replay_command
      ->add_option("--backend", replay_options.backend,
                   "what integrates; only the reference exists in this version")
      ->check(CLI::IsMember({"reference"}))
      ->capture_default_str();
  CLI::Option* csv =
      replay_command->add_flag("--csv", replay_options.csv, "the states as comma-separated values");
  csv->excludes(replay_command->get_option("--json"));
  replay_command->add_flag("--steps", replay_options.every_step,
                           "every step of the integrator, not the output times");
  replay_command->footer(
      "Examples:\n"
      "  zwang replay configs/slung_load.toml --member 3\n"
      "  zwang replay configs/bouncing_ball.toml --set constraint.0.restitution=0.5 --json > ball.json");

  ExplainOptions explain_options;
  CLI::App* explain_command = app.add_subcommand(
      "explain", "the derived equations, and why the accelerations at a state are what they are");
  add_common(explain_command, explain_options);
  explain_command->add_option("--at", explain_options.at, "time; at an event: after it")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  explain_command->footer(
      "Examples:\n"
      "  zwang explain configs/ostrogradsky.toml\n"
      "  zwang explain configs/string_pendulum.toml --at 1.5 --json");

  require_known_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_done : exit_wrong_input;
  }
  return replay_command->parsed() ? replay(replay_options) : explain(explain_options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const zwang::Error& error) {
    std::cerr << error.what() << "\n";
    return exit_wrong_input;
  } catch (const std::bad_alloc&) {
    std::cerr << "zwang: error: out of memory\n";
    return exit_machine;
  } catch (const std::exception& error) {
    std::cerr << "zwang: error: " << error.what() << "\n";
    return exit_machine;
  }
}
