// Reads [measure] and [[given]].
#include <algorithm>
#include <set>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/study_file/document.h"
#include "host/study_file/raw_text.h"
#include "host/study_file/reader.h"
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

// A label is decided once all members have ended: nothing can be computed from it before.
void StudyBuilder::check_labels() {
  const auto uses_label = [&](Expr e) {
    const std::vector<Symbol> symbols = pool().symbols({e});
    return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
      return symbol.kind == SymbolKind::reduction &&
             description_.reductions[symbol.index].reduction == Reduction::record_label;
    });
  };
  std::vector<Expr> combined = description_.flags;
  for (const Measure& measure : description_.measures)
    if (!only_reduction(pool(), measure) || measure.probability) combined.push_back(measure.value);
  if (std::any_of(combined.begin(), combined.end(), uses_label))
    reader_.report(
        {study_.path, 0, 0}, "label(..) must stand alone in its measure", "a formula around it",
        "which = \"label(section, 1e-3)\"",
        "labels are numbered once all members have ended; their shares are reported by themselves");
  for (const Measure& measure : description_.measures)
    if (study_.ensemble.until && study_.ensemble.until->measure == measure.name && uses_label(measure.value))
      reader_.report({study_.path, 0, 0}, "[ensemble] until: labels are known at the end only", measure.name,
                     "another measure");
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
