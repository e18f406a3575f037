// Registers all commands, parses the command line and runs the chosen command.
#include "host/command/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <string_view>

#include "host/command/command.h"
#include "host/command/version_text.h"
#include "src/base/error.h"

namespace {

// Reports an unknown command. CLI11 itself gives no message that names it.
void require_known_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const std::string word = argv[1];
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  throw zwang::Error({.message = "there is no command '" + word + "'",
                      .found = word,
                      .expected = zwang::list_text(names, "or"),
                      .hint = zwang::suggestion(word, names)});
}

// Reports an unknown option or an argument too many, for the same reason.
void report_unknown_argument(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (!word.starts_with("--") || std::find(known.begin(), known.end(), word) != known.end()) continue;
    throw zwang::Error({.message = "zwang " + command->get_name() + " has no such option",
                        .found = word,
                        .expected = zwang::list_text(known, "or"),
                        .hint = zwang::suggestion(word, known)});
  }
  throw zwang::Error({.message = "zwang " + command->get_name() + ": unexpected argument",
                      .found = zwang::joined(app.remaining(true)),
                      .expected = "the arguments that `zwang " + command->get_name() + " --help` shows"});
}

int run(int argc, char** argv) {
  CLI::App app{"Zwang: ensembles of constrained, non-smooth mechanical systems by Gauss's least constraint"};
  app.set_version_flag("--version", zwang::version_text, "print version, build and available CUDA devices");
  app.require_subcommand(1);
  app.footer(
      "A study is one TOML file. `zwang COMMAND --help` shows the options of a command, with examples.\n"
      "Examples:\n"
      "  zwang new first_try && zwang run first_try.toml --report\n"
      "  zwang list\n"
      "  zwang run slung_load --report");

  zwang::Action action;
  zwang::add_run(app, action);
  zwang::add_merge(app, action);
  zwang::add_replay(app, action);
  zwang::add_explain(app, action);
  zwang::add_modes(app, action);
  zwang::add_check(app, action);
  zwang::add_bench(app, action);
  zwang::add_report(app, action);
  zwang::add_cache(app, action);
  zwang::add_list(app, action);
  zwang::add_new(app, action);
  zwang::add_import(app, action);
  zwang::add_completion(app, action);
  zwang::add_man(app, action);

  if (argc < 2) {
    zwang::print(app.help());
    return zwang::exit_wrong_input;
  }
  require_known_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    report_unknown_argument(app, argc, argv);
    throw;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? zwang::exit_done : zwang::report_usage(error.what());
  }
  return action();
}

}  // namespace

namespace zwang {

int command_line(int argc, char** argv) {
  // With SIGXFSZ ignored, a write beyond the file size limit fails with an error code, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  // Known before the command line is parsed, because that may fail too.
  if (std::any_of(argv + 1, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; }))
    print_errors_as_json();
  try {
    return run(argc, argv);
  } catch (...) {
    return report_exception();
  }
}

}  // namespace zwang
