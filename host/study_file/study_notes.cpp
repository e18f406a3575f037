// Searches a study for dry friction written as a force, names added by --set, and unsuitable numbers of
// members.
#include "host/study_file/study_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/print_expression.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// The part of a force that jumps where a velocity changes its sign, such as sign(x') or abs(x')/x'; or
// nothing.
std::optional<Expr> jump_of_velocity(const Expressions& pool, Expr force) {
  for (const Expr e : pool.reachable({force})) {
    const Node& node = pool.node(e);
    if (node.op == Op::sign && pool.mentions(node.arguments[0], SymbolKind::velocity)) return e;
  }
  return {};
}

// A force that jumps at rest makes the direction of the motion change in every step: members end as
// step_limit.
void note_dry_friction(const Study& study, std::vector<std::string>& notes) {
  const System& system = *study.system;
  for (std::size_t i = 0; i < system.force.size(); ++i)
    if (const std::optional<Expr> jump = jump_of_velocity(*system.pool, system.force[i]))
      notes.push_back(fmt::format(
          "the force on {} contains {}, which jumps at rest: as a force, dry friction cannot hold a body "
          "still, and members end as step_limit; a contact takes friction = \"mu\", and an equation such as "
          "phi' == 0 with limit = \"L\" is a dry brake: both stick and slip exactly",
          printable(system.coordinates[i]), expression_text(*system.pool, *jump, system.namer(), 80)));
}

// A new observable or measure may be meant, or be a misspelt one.
void note_added_names(const Study& study, std::vector<std::string>& notes) {
  for (const char* table : {"observe", "measure"}) {
    const Entry* entry = study.document->find(table);
    if (!entry) continue;
    std::vector<std::string> names;
    for (const Entry& known : entry->value.entries)
      if (known.mark.line > 0) names.push_back(known.key);
    for (const Entry& added : entry->value.entries) {
      if (added.mark.line > 0 || added.value.set_path.empty()) continue;
      const std::string hint = suggestion(added.key, names);
      if (!hint.empty())
        notes.push_back("--set " + printable(added.value.set_path) + ": a new entry of [" + table + "]; " +
                        hint);
    }
  }
}

void note_sobol_number(const Study& study, std::vector<std::string>& notes) {
  if (study.ensemble.sampler != SamplerKind::sobol || study.ensemble.until) return;
  const auto members =
      static_cast<unsigned long long>(study.ensemble.per_point()) - (study.ensemble.include_nominal ? 1 : 0);
  if (members < 2 || std::has_single_bit(members)) return;
  notes.push_back(fmt::format(
      "sampler = \"sobol\" with {} members{}: its points are balanced at powers of two, such as {} or {}",
      members, study.sweeps.empty() ? "" : " at each point of the sweep", std::bit_floor(members),
      std::bit_ceil(members)));
}

}  // namespace

std::vector<std::string> study_notes(const Study& study) {
  std::vector<std::string> notes;
  note_dry_friction(study, notes);
  note_added_names(study, notes);
  note_sobol_number(study, notes);
  return notes;
}

}  // namespace zwang
