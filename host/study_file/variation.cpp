// Reads [[constraint]] variation and multiplier (Maurer's general problem), and rejects what cannot be
// combined with it.
#include "host/study_file/builder.h"
#include "host/toml/reader.h"
#include "src/expression/expression.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"
#include "src/system/system.h"

namespace zwang {

// A general constraint has its multiplier rho among the auxiliary states, as NAME.multiplier; the key
// `multiplier` sets its initial value.
void StudyBuilder::read_variation(const Table& table, ConditionFormula& made, bool readable) {
  const Field variation = table["variation"], multiplier = table["multiplier"];
  const bool general = variation && reader_.choice(variation, {"special", "general"}) == "general";
  const std::string name = made.name + ".multiplier";
  if (!general) {
    // Maurer's singular integral: rho = 0. The name exists here too, so that formulas need not change with
    // the kind of variation.
    if (made.equation) scope_.scalars.emplace(name, ScalarName{pool().zero(), {}, allow_auxiliaries});
    // multiplier = 0 is accepted: it is the value of a special constraint.
    const bool nothing = multiplier && multiplier.value->is_number() && multiplier.value->number == 0;
    if (multiplier && !nothing)
      reader_.report(multiplier, "a constraint with variation = \"special\" has no initial multiplier",
                     "no multiplier, or variation = \"general\"");
    return;
  }
  if (!fields_.general_variation) fields_.general_variation = variation;
  if (readable && !made.equation)
    reader_.report(variation, "an inequality cannot have variation = \"general\"", "an equation, with ==");
  made.general = description_.auxiliaries.size();
  description_.auxiliaries.push_back(name);
  description_.rates.push_back(pool().zero());  // its rate is derived with the system
  study_.initial_auxiliaries.push_back(multiplier ? quantity(multiplier, name) : pool().zero());
  scope_.scalars.emplace(
      name, ScalarName{pool().symbol(SymbolKind::auxiliary, *made.general), {}, allow_auxiliaries});
}

// The variational problem is about smooth motions between given ends. It does not determine rho where
// velocities jump or constraints are imposed or lifted, so these combinations are rejected.
void StudyBuilder::reject_beside_general_variation() {
  if (!fields_.general_variation) return;
  const std::string why = " cannot be combined with a constraint that has variation = \"general\" (" +
                          fields_.general_variation.place + ")";
  for (std::size_t i = 0; i < description_.conditions.size(); ++i) {
    const ConditionFormula& condition = description_.conditions[i];
    const Field& field = fields_.constraints[i];
    if (!condition.equation && !condition.general)
      reader_.report_found(field, "an inequality" + why, "<= or >=", "equations only",
                           "give every constraint variation = \"special\" to keep the inequality");
    if (condition.from)
      reader_.report_found(field, "a constraint imposed during the motion, by a shock," + why, "from",
                           "no from: in force from the start");
    if (condition.general && condition.until)
      reader_.report_found(field, "a constraint with variation = \"general\" cannot be lifted", "until",
                           "no until: in force to the end");
  }
  for (const Field& field : fields_.impulses)
    reader_.report_found(field, "an impulse" + why, "", "no [[impulse]]");
}

}  // namespace zwang
