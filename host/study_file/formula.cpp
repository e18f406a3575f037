// Formulas and numbers: parses fields into expressions, and finds their constant value or range if there is
// one.
#include <algorithm>
#include <cmath>
#include <utility>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"
#include "src/system/equations.h"

namespace zwang {

namespace {

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The names in a formula with their offsets: for load.x only "load", for 1e5 none.
std::vector<std::pair<std::string, std::size_t>> words_of(const std::string& text) {
  std::vector<std::pair<std::string, std::size_t>> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    const std::string word = text.substr(at, end - at);
    if (is_name(word) && (at == 0 || text[at - 1] != '.')) words.emplace_back(word, at);
    at = std::max(end, at + 1);
  }
  return words;
}

}  // namespace

// Whether an error in this formula may be caused by an earlier error: it uses a name whose definition failed,
// or an unknown name after an entry without a usable name. Such an error is not reported again.
bool StudyBuilder::follows_from_earlier_error(const std::string& text) const {
  for (const auto& [word, offset] : words_of(text)) {
    if (names_.broken.contains(word)) return true;
    const bool known = names_.taken.contains(word) || scope_.conditions.contains(word) || is_reserved(word) ||
                       std::find(scope_.events.begin(), scope_.events.end(), word) != scope_.events.end();
    if (names_.lost && !known) return true;
  }
  return false;
}

void StudyBuilder::report_parse_error(const Field& field, const Error& error) {
  const std::string& text = field.value->text;
  for (const auto& [word, offset] : words_of(text)) {
    const auto later = names_.later.find(word);
    if (later == names_.later.end()) continue;
    reader_.report(reader_.document().locate(*field.value, offset),
                   field.place + ": '" + word + "' " + later->second.why, word,
                   "parameters defined before this one", later->second.hint);
    return;
  }
  if (follows_from_earlier_error(text)) return;
  Problem problem = error.problems().front();
  if (problem.where.file.empty()) problem.where = reader_.document().locate(field.value->mark);
  reader_.collect(Error(problem));
}

std::optional<Expr> StudyBuilder::formula(const Field& field, unsigned allowed) {
  const Value& value = *field.value;
  if (value.is_number()) {
    if (std::isfinite(value.number)) return pool().constant(value.number);
    reader_.report(field, "not a finite number", "a finite number, or a formula in quotes");
    return {};
  }
  if (value.kind == Value::Kind::string)
    return parse_or_report(field, [&](const Source& source) {
      return parse_expression(pool(), value.text, scope_, allowed, source);
    });
  reader_.report(field, "neither a number nor a formula", "a number, or a formula in quotes",
                 value.kind == Value::Kind::table
                     ? "give a distribution a name in [parameters], and write that name here"
                     : "");
  return {};
}

Expr StudyBuilder::quantity(const Field& field, const std::string& draw_name, unsigned allowed) {
  if (field.value->kind != Value::Kind::table) return formula(field, allowed).value_or(pool().zero());
  ParameterRule rule;
  rule.name = draw_name;
  const ParameterFact fact = draw_or_sweep(field, rule);
  return pool().symbol(SymbolKind::parameter, add_parameter(std::move(rule), fact));
}

// The value at t = 0, if all parameters in it are the same for every member.
StudyBuilder::Evaluated StudyBuilder::evaluate(Expr e) {
  Evaluated made{State::constant, 0};
  for (const Symbol& symbol : pool().symbols({e})) {
    if (symbol.kind == SymbolKind::time) continue;
    if (symbol.kind != SymbolKind::parameter) return {State::broken, 0};
    const State state = parameters_.facts[symbol.index].state;
    if (state == State::broken) return {State::broken, 0};
    if (state == State::drawn) made.state = State::drawn;
  }
  if (made.state != State::constant) return made;
  std::vector<double> values;
  for (const ParameterFact& fact : parameters_.facts) values.push_back(fact.value);
  made.value = Program(pool(), {e}).run<double>({.time = 0, .parameters = values}).front();
  return made;
}

// Bounds over all members, states and times of the study.
Interval StudyBuilder::range(Expr e) {
  std::vector<Interval> parameters;
  for (const ParameterFact& fact : parameters_.facts) parameters.push_back(fact.range);
  const std::vector<Interval> anywhere(
      std::max(description_.coordinates.size(), description_.auxiliaries.size()), Interval::everything());
  const Interval time(0, time_broken_ ? Interval::everything().high : study_.time.end);
  const Inputs<Interval> inputs{.time = time,
                                .parameters = parameters,
                                .coordinates = anywhere,
                                .velocities = anywhere,
                                .auxiliaries = anywhere};
  return Program(pool(), {e}).run<Interval>(inputs).front();
}

std::optional<double> StudyBuilder::constant(const Field& field, Test holds, const std::string& expected) {
  double value = field.value->number;
  if (!field.value->is_number()) {
    const std::optional<Expr> made = formula(field, allow_parameters);
    if (!made) return {};
    const Evaluated evaluated = evaluate(*made);
    if (evaluated.state == State::drawn)
      reader_.report(field, "must be the same for every member",
                     study_.sweeps.empty() ? "parameters that are not drawn"
                                           : "parameters that are neither drawn nor swept");
    if (evaluated.state != State::constant) return {};
    value = evaluated.value;
  }
  if (holds(value)) return value;
  const std::string written = field.value->is_number() ? "" : shown(*field.value) + " = ";
  reader_.report_found(field, "out of range", written + number_text(value), expected);
  return {};
}

// A value that is the same for every member is checked now; a drawn value is checked at the nominal member.
void StudyBuilder::check_value(const Field& field, Expr value, Test holds, const std::string& message,
                               const std::string& expected, const std::string& hint) {
  const Evaluated evaluated = evaluate(value);
  if (evaluated.state == State::drawn)
    parameters_.deferred_checks.push_back({field, value, message, expected, hint, holds});
  if (evaluated.state != State::constant || holds(evaluated.value)) return;
  reader_.report_found(field, message, number_text(evaluated.value), expected, hint);
}

// Bounds over all members. Uniform numbers lie 2^-53 or more from 0 and 1, which keeps normal draws within 8.3 standard
// deviations of their mean; ten are allowed for.
Interval StudyBuilder::range_of_draws(Expr e) {
  constexpr double most_deviations = 10;
  std::vector<Interval> parameters;
  for (const ParameterFact& fact : parameters_.facts) parameters.push_back(fact.range);
  const auto at = [&](Expr formula) {
    return Program(pool(), {formula}).run<Interval>({.time = Interval(0), .parameters = parameters}).front();
  };
  for (std::size_t i = 0; i < study_.parameters.size(); ++i) {
    const ParameterRule& rule = study_.parameters[i];
    if (rule.value && parameters_.facts[i].state == State::drawn) parameters[i] = at(*rule.value);
    if (!rule.distribution || rule.distribution->kind != Distribution::Kind::normal) continue;
    const Interval mean = at(rule.distribution->arguments[0]),
                   deviation = at(rule.distribution->arguments[1]);
    parameters[i] = {mean.low - most_deviations * deviation.high,
                     mean.high + most_deviations * deviation.high};
  }
  return at(e);
}

void StudyBuilder::check_every_member(const Field& field, Expr value, Test holds, const std::string& message,
                                      const std::string& expected) {
  check_value(field, value, holds, message, expected);
  if (evaluate(value).state != State::drawn) return;
  // A test that holds at both ends of an interval holds within it: each bounds its number from one or both sides.
  const Interval bounds = range_of_draws(value);
  if (holds(bounds.low) && holds(bounds.high)) return;
  study_.ranges.push_back({field.place + ": " + message, expected, value, holds});
}

}  // namespace zwang
