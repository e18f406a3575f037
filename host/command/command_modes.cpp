// `modes`: finds small oscillations about an equilibrium.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "host/command/command.h"
#include "host/inspect/inspect_member.h"
#include "host/inspect/write_modes.h"
#include "host/study/study.h"
#include "host/toml/raw_text.h"
#include "src/analysis/modes.h"
#include "src/base/error.h"
#include "src/system/system.h"

namespace zwang {

namespace {

struct ModesOptions : CommonOptions {
  ModesMember member;
  std::vector<std::string> near;  // NAME=VALUE
};

// NAME=VALUE. That the name is one of a coordinate is verified by modes_near().
std::vector<std::pair<std::string, double>> read_near(const Study& study,
                                                      const std::vector<std::string>& near) {
  std::vector<std::pair<std::string, double>> made;
  for (const std::string& text : near) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals),
                      value = equals == std::string::npos ? "" : text.substr(equals + 1);
    const std::vector<std::string>& coordinates = study.system->coordinates;
    const bool known = std::find(coordinates.begin(), coordinates.end(), name) != coordinates.end();
    double number = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool read = !value.empty() && code == std::errc{} && end == value.data() + value.size();
    if (known && (!read || !std::isfinite(number)))
      throw Error({.where = {"--near", 0, 0},
                   .message = name + ": not a number",
                   .found = printable(value),
                   .expected = "NAME=VALUE with a finite number"});
    made.emplace_back(name, number);
  }
  return made;
}

int modes(const ModesOptions& options) {
  const Study study = load(options);
  const Modes found = modes_near(study, options.member, read_near(study, options.near));
  return print(options.json ? modes_json(study, options.member, found)
                            : modes_text(study, options.member, found));
}

}  // namespace

void add_modes(CLI::App& app, Action& action) {
  const auto given = std::make_shared<ModesOptions>();
  ModesOptions& options = *given;
  CLI::App* command = app.add_subcommand(
      "modes",
      "find small oscillations about the equilibrium near the start: frequencies, growth, stability");
  add_common(command, options);
  command->add_option_function<unsigned long long>(
      "--member", [&options](unsigned long long member) { options.member = member; },
      "use the parameters and start of this member instead of the nominal ones");
  command
      ->add_option("--near", options.near,
                   "search from here: COORDINATE=VALUE, instead of the start (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command->footer(
      "Examples:\n"
      "  zwang modes small_oscillations\n"
      "  zwang modes configs/small_oscillations.toml --near p.x=0.1\n"
      "  zwang modes configs/small_oscillations.toml --set parameters.k2=4 --json");
  command->callback([&action, given] { action = [given] { return modes(*given); }; });
}

}  // namespace zwang
