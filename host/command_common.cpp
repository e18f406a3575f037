#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "host/command.h"

namespace zwang {

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

Study load(const CommonOptions& options) {
  Study study = load_study(options.study, options.overrides);
  if (options.has_seed) study.ensemble.seed = options.seed;
  return study;
}

int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return exit_done;
  std::cerr << "zwang: error: could not write the output\n";
  return exit_machine;
}

void note(const std::string& text) { std::cerr << "zwang: note: " << text << "\n"; }

}  // namespace zwang
