// The command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <new>

#include "host/child_process.h"
#include "host/command.h"
#include "host/machine_error.h"
#include "src/error.h"

namespace {

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

  zwang::Action action;
  zwang::add_run(app, action);
  zwang::add_replay(app, action);
  zwang::add_explain(app, action);
  zwang::add_modes(app, action);
  zwang::add_check(app, action);
  zwang::add_bench(app, action);
  zwang::add_report(app, action);
  zwang::add_cache(app, action);

  require_known_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? zwang::exit_done : zwang::exit_wrong_input;
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const zwang::Error& error) {
    std::cerr << error.what() << "\n";
    return zwang::exit_wrong_input;
  } catch (const zwang::Interrupted& interrupted) {
    return 128 + interrupted.signal();
  } catch (const zwang::MachineError& error) {
    std::cerr << error.what() << "\n";
    return zwang::exit_machine;
  } catch (const std::bad_alloc&) {
    std::cerr << "zwang: error: out of memory\n";
    return zwang::exit_machine;
  } catch (const std::exception& error) {
    std::cerr << "zwang: error: " << error.what() << "\n";
    return zwang::exit_machine;
  }
}
