// `replay` and `explain`: commands that look at one member.
#include <CLI/CLI.hpp>

#include "host/backend/backend.h"
#include "host/command/command.h"
#include "host/inspect/inspect_member.h"
#include "host/inspect/write_explain.h"
#include "host/inspect/write_replay.h"
#include "host/run/backend_factory.h"
#include "host/run/progress.h"
#include "host/study/study.h"
#include "src/base/error.h"

namespace zwang {

namespace {

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
  bool latex = false;
};

Study load_for_member(const MemberOptions& options) {
  Study study = load(options);
  note_foreign_member(study, options.member, note);
  return study;
}

int replay(const ReplayOptions& options) {
  const Study study = load_for_member(options);
  const bool by_reference = options.backend == "reference";
  if (options.every_step && !by_reference)
    throw Error({.message = "--steps needs the reference backend",
                 .found = "--backend " + options.backend,
                 .expected = "--backend reference, or no --steps"});
  const std::unique_ptr<Backend> backend = [&]() -> std::unique_ptr<Backend> {
    if (by_reference) return nullptr;
    const DelayedLine compiling(ProgressDisplay(stderr, false), compiling_text(study));
    return make_backend(options.backend, study, {.threads = 1, .note = note});
  }();
  const MemberMotion motion = member_motion(study, options.member, backend.get(), options.every_step);
  const Replay result{study, motion.member, motion.trajectory, motion.backend};
  if (options.json) return print(replay_json(result));
  return print(options.csv ? replay_csv(result) : replay_table(result));
}

int explain(const ExplainOptions& options) {
  const Study study = load_for_member(options);
  if (options.latex) return print(explain_latex(study));
  const ExplainedState found = explain_state(study, options.member, options.at, note);
  return print(options.json ? explain_json(study, found.member, found.explanation)
                            : explain_text(study, found.member, found.explanation));
}

void add_member(CLI::App* command, MemberOptions& options) {
  add_common(command, options);
  command->add_option("--member", options.member, "number of the member, from 0")->capture_default_str();
}

}  // namespace

void add_replay(CLI::App& app, Action& action) {
  const auto given = std::make_shared<ReplayOptions>();
  ReplayOptions& options = *given;
  CLI::App* command = app.add_subcommand(
      "replay", "simulate one member again and print its states, events, measures and audit");
  add_member(command, options);
  command->add_option("--backend", options.backend, "backend that integrates the member")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}))
      ->capture_default_str();
  CLI::Option* csv = command->add_flag("--csv", options.csv, "print the states as comma-separated values");
  csv->excludes(command->get_option("--json"));
  command->add_flag("--steps", options.every_step,
                    "print every step of the integrator instead of the output times");
  command->footer(
      "Examples:\n"
      "  zwang replay configs/slung_load.toml --member 3\n"
      "  zwang replay configs/bouncing_ball.toml --set constraint.0.restitution=0.5 --json > ball.json");
  command->callback([&action, given] { action = [given] { return replay(*given); }; });
}

void add_explain(CLI::App& app, Action& action) {
  const auto given = std::make_shared<ExplainOptions>();
  ExplainOptions& options = *given;
  CLI::App* command = app.add_subcommand(
      "explain", "print the derived equations, and why the accelerations at one state are what they are");
  add_member(command, options);
  command->add_option("--at", options.at, "time of the state; at an event: just after it")
      ->check([](const std::string& text) { return at_least(text, 0); })
      ->capture_default_str();
  command->add_flag("--latex", options.latex, "print the derived equations as LaTeX")
      ->excludes(command->get_option("--json"));
  command->footer(
      "Examples:\n"
      "  zwang explain ostrogradsky\n"
      "  zwang explain ostrogradsky --latex > equations.tex\n"
      "  zwang explain configs/string_pendulum.toml --at 1.5 --json");
  command->callback([&action, given] { action = [given] { return explain(*given); }; });
}

}  // namespace zwang
