// Reads [measure] and [[given]].
#include <algorithm>
#include <set>

#include "host/study/label_formulas.h"
#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "host/toml/reader.h"
#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/formula/parse.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/scope.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t given_limit = 64;

}  // namespace

// The symbol of a reduction. Measures that use the same reduction share it.
Expr StudyBuilder::add_reduction(const ReducedFormula& reduced, const Field& field) {
  ReductionFormula made{.reduction = reduced.reduction, .pattern = reduced.pattern, .value = reduced.value};
  if (made.pattern == EventPattern::watched)
    made.target = static_cast<std::size_t>(
        std::find(scope_.events.begin(), scope_.events.end(), reduced.name) - scope_.events.begin());
  else if (made.pattern != EventPattern::none)
    made.target = names_.constraint_index.at(reduced.name);
  // The tangential impulse is listed with the first slip row of its contact.
  if (made.pattern == EventPattern::friction_impulse) {
    made.pattern = EventPattern::impulse;
    ++made.target;
  }
  if (is_of_record(made)) place_in_record(reduced, made);
  if (made.reduction == Reduction::record_label && evaluate(made.value).state != State::constant)
    reader_.report(field, "the tolerance of label(..) must be the same for every member",
                   "a number, or parameters that are neither drawn nor swept");
  std::vector<ReductionFormula>& known = description_.reductions;
  const auto same = std::find_if(known.begin(), known.end(), [&](const ReductionFormula& other) {
    return other.reduction == made.reduction && other.pattern == made.pattern &&
           other.target == made.target && other.value == made.value && other.column == made.column;
  });
  const auto place = static_cast<std::size_t>(same - known.begin());
  if (same == known.end()) {
    fields_.reductions.push_back(field);
    known.push_back(std::move(made));
  }
  return pool().symbol(SymbolKind::reduction, place);
}

// What a formula may use: the measures read so far.
MeasureScope StudyBuilder::measure_scope(const Field& field) {
  MeasureScope scope;
  scope.reduce = [this, field](const ReducedFormula& reduced) { return add_reduction(reduced, field); };
  for (const Measure& measure : description_.measures) scope.earlier.emplace(measure.name, measure.value);
  scope.allowed_inside = allow_state | allow_reactions;
  for (const RecordFormula& record : description_.records)
    for (const NamedExpr& value : record.values) scope.records[record.name].push_back(value.name);
  return scope;
}

void StudyBuilder::read_measures() {
  const Field table = single_table(reader_, "measure");
  if (!table) return;
  std::set<std::string> names;
  const std::vector<Entry>& entries = table.value->entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const Field field{&entry.value, named_place("measure", entry)};
    register_name_in(names, entry.key, reader_.document().locate(entry.mark), field.place);
    Measure made{.name = entry.key, .value = pool().zero()};
    MeasureScope scope = measure_scope(field);
    for (std::size_t k = i; k < entries.size(); ++k) scope.later.push_back(entries[k].key);
    const auto parsed = !reader_.string(field, "a measure in quotes, such as \"final(load.x)\"")
                            ? std::nullopt
                            : parse_or_report(field, [&](const Source& source) {
                                return parse_measure(pool(), entry.value.text, scope_, scope, source);
                              });
    if (parsed) {
      made.value = parsed->value;
      made.probability = parsed->probability;
      if (parsed->probability) {
        made.undecided = description_.flags.size();
        description_.flags.push_back(parsed->undecided);
      }
    }
    description_.measures.push_back(std::move(made));
  }
}

// A label is decided once all members have ended: what is computed from it is computed again then.
void StudyBuilder::check_labels() {
  const auto with_label = [&](Expr e) { return uses_label(pool(), description_.reductions, e); };
  const auto refuse = [&](const std::string& message, const std::string& found, const std::string& expected) {
    reader_.report({study_.path, 0, 0}, message, found, expected);
  };
  for (std::size_t m = 0; m < description_.measures.size(); ++m) {
    const Measure& measure = description_.measures[m];
    if (!with_label(measure.value)) continue;
    if (study_.ensemble.until && study_.ensemble.until->measure == measure.name)
      refuse("[ensemble] until: labels are known at the end only", measure.name, "another measure");
    if (study_.sensitivity) leave_out_of_sensitivity(m);
  }
  for (const GivenSettings& given : study_.givens)
    if (given.observables && with_label(description_.flags[given.flag]))
      refuse("[[given]]: labels are known at the end only, when observables are no longer stored",
             "'" + given.name + "' with observables = true", "observables = false");
  hold_label_operands();
}

// By default the indices are those of all measures without labels.
void StudyBuilder::leave_out_of_sensitivity(std::size_t measure) {
  std::vector<std::size_t>& of = study_.sensitivity->of;
  const auto place = std::find(of.begin(), of.end(), measure);
  if (place == of.end()) return;
  of.erase(place);
  const bool listed = fields_.sensitivity.value->find("of") != nullptr;
  if (listed || of.empty())
    reader_.report_found(fields_.sensitivity, "labels have no Sobol' indices: they are numbers of attractors",
                         "'" + description_.measures[measure].name + "'", "a measure without label(..)");
}

// Beside its measures a member keeps the other reductions and the parameters in formulas with labels, as
// flags, so that these formulas can be evaluated once the labels are known.
void StudyBuilder::hold_label_operands() {
  std::vector<Expr> formulas;
  for (const Measure& measure : description_.measures) formulas.push_back(measure.value);
  formulas.insert(formulas.end(), description_.flags.begin(), description_.flags.end());
  std::erase_if(formulas, [&](Expr e) { return !uses_label(pool(), description_.reductions, e); });
  if (formulas.empty()) return;
  for (const Symbol& symbol : pool().symbols(formulas)) {
    if (is_label(description_.reductions, symbol)) continue;
    const Expr held = pool().symbol(symbol.kind, symbol.index);
    std::vector<Expr>& flags = description_.flags;
    if (std::find(flags.begin(), flags.end(), held) == flags.end()) flags.push_back(held);
  }
}

// [[given]]: statistics over the members that fulfil a condition.
void StudyBuilder::read_givens() {
  std::set<std::string> names;
  const std::vector<Field> entries = repeated_table(reader_, "given");
  for (const Field& entry : entries) {
    const Table table(reader_, entry, {"name", "when", "observables"});
    GivenSettings made;
    if (const Field name = table.require("name", "a name for the members selected"))
      if (const auto word = reader_.string(name, "a name in quotes")) {
        made.name = *word;
        register_name_in(names, *word, reader_.document().locate(name.value->mark), entry.place);
      }
    if (const Field when = table.require("when", "a condition on measures, such as \"peak > limit\""))
      if (reader_.string(when, "a condition in quotes, such as \"peak > limit\"")) {
        const auto parsed = parse_or_report(when, [&](const Source& source) {
          return parse_measure_condition(pool(), when.value->text, scope_, measure_scope(when), source);
        });
        made.flag = description_.flags.size();
        made.condition = when.value->text;
        description_.flags.push_back(parsed ? parsed->value : pool().zero());
      }
    if (const Field observables = table["observables"])
      made.observables = reader_.boolean(observables).value_or(false);
    study_.givens.push_back(std::move(made));
  }
  if (entries.size() > given_limit)
    reader_.report({study_.path, 0, 0}, "[[given]]: too many", std::to_string(entries.size()),
                   "at most " + std::to_string(given_limit));
}

}  // namespace zwang
