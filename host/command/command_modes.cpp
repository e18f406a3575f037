// `modes`: finds small oscillations about an equilibrium.
#include <CLI/CLI.hpp>

#include "host/command/command.h"
#include "host/inspect/write_modes.h"
#include "host/sample/member.h"
#include "host/sample/prepared_member.h"
#include "host/sample/sample.h"
#include "host/study/study.h"
#include "src/analysis/equilibrium.h"
#include "src/analysis/linearise.h"
#include "src/analysis/modes.h"
#include "src/system/equations.h"

namespace zwang {

namespace {

struct ModesOptions : CommonOptions {
  ModesMember member;
};

int modes(const ModesOptions& options) {
  const Study study = load(options);
  const MemberInputs inputs =
      options.member ? prepare_member(study, *options.member).inputs : nominal_member(study);
  const Equations equations(*study.system, inputs.parameters);
  require_autonomous(equations, inputs.start, study.path);
  const RestEquations rest(equations);
  const Modes found = find_modes(rest, inputs.start, study.integrator.contact_tolerance);
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
  command->footer(
      "Examples:\n"
      "  zwang modes configs/small_oscillations.toml\n"
      "  zwang modes configs/small_oscillations.toml --set parameters.k2=4 --json");
  command->callback([&action, given] { action = [given] { return modes(*given); }; });
}

}  // namespace zwang
