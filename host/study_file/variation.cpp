// [[constraint]] variation and multiplier: Maurer's general problem, and what has no place beside it.
#include "host/study_file/builder.h"
#include "host/study_file/reader.h"
#include "src/expression/expression.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"
#include "src/system/system.h"

namespace zwang {

// A general condition has its multiplier rho among the states, called after the key that sets its start.
void StudyBuilder::read_variation(const Table& table, ConditionFormula& made, bool readable) {
  const Field variation = table["variation"], multiplier = table["multiplier"];
  const bool general = variation && reader_.choice(variation, {"special", "general"}) == "general";
  const std::string name = made.name + ".multiplier";
  if (!general) {
    // Maurer's singular integral: rho = 0. So formulas need not change with the kind of variation.
    if (made.equation) scope_.scalars.emplace(name, ScalarName{pool().zero(), {}, allow_auxiliaries});
    // 0 is what a special condition would have anyway.
    const bool nothing = multiplier && multiplier.value->is_number() && multiplier.value->number == 0;
    if (multiplier && !nothing)
      reader_.complain(multiplier, "the multiplier of a special condition follows from the motion",
                       "no multiplier, or variation = \"general\" beside it");
    return;
  }
  if (!general_) general_ = variation;
  if (readable && !made.equation)
    reader_.complain(variation, "an inequality cannot be varied generally", "an equation, with ==");
  made.general = description_.auxiliaries.size();
  description_.auxiliaries.push_back(name);
  description_.rates.push_back(pool().zero());  // its rate is derived with the system
  study_.initial_auxiliaries.push_back(multiplier ? quantity(multiplier, name) : pool().zero());
  scope_.scalars.emplace(
      name, ScalarName{pool().symbol(SymbolKind::auxiliary, *made.general), {}, allow_auxiliaries});
}

// The variational problem is one of smooth motions between given ends. What rho does where velocities jump, or where
// conditions come and go, it does not say; we do not guess.
void StudyBuilder::refuse_beside_general() {
  if (!general_) return;
  const std::string why =
      " has no rule beside a condition with variation = \"general\" (" + general_.place + ")";
  for (std::size_t i = 0; i < description_.conditions.size(); ++i) {
    const ConditionFormula& condition = description_.conditions[i];
    const Field& field = condition_fields_[i];
    if (!condition.equation && !condition.general)
      reader_.complain_found(field, "an inequality" + why, "<= or >=", "equations only",
                             "give every condition variation = \"special\" to keep the inequality");
    if (condition.from)
      reader_.complain_found(field, "a condition imposed on the way, by a shock," + why, "from",
                             "no from: in force from the start");
    if (condition.general && condition.until)
      reader_.complain_found(field, "lifting a condition that is varied generally", "until",
                             "no until: in force to the end");
  }
  for (const Field& field : impulse_fields_)
    reader_.complain_found(field, "an impulse" + why, "", "no [[impulse]]");
}

}  // namespace zwang
