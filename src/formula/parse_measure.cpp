// The grammar of [measure]: expressions of reductions, parameters and earlier measures, and conditions on
// them.
#include <algorithm>
#include <cmath>

#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/formula/parse.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/parser.h"
#include "src/formula/scope.h"
#include "src/formula/token.h"
#include "src/formula/vocabulary.h"

namespace zwang {

// --- Reductions --------------------------------------------------------------------------------------------

void Parser::event_argument(ReducedFormula& reduced) {
  const Token token = peek();
  const auto* it = std::find_if(std::begin(patterns), std::end(patterns),
                                [&](const PatternName& p) { return p.name == token.text; });
  const bool sizes = reduced.reduction == Reduction::total || reduced.reduction == Reduction::maximum;
  if (it == std::end(patterns) || peek(1).text != "(" || is_of_impulse(it->pattern) != sizes)
    fail(token, "not something this reduction can count",
         sizes ? "impulse(c) or friction_impulse(c)"
               : "shock(c), release(c), contact(c), accumulation(c), event(name), or of friction and limits "
                 "slides(c), sticks(c), reverses(c), yields(c), locks(c), breaks(c)");
  next_ += 2;
  reduced.pattern = it->pattern;
  if (it->pattern != EventPattern::watched) {
    Token condition = peek();
    reduced.name = condition_argument(token.text);
    condition.text = reduced.name;
    require_mode(condition, token.text, it->pattern);
  } else {
    const Token name = peek();
    ++next_;
    if (!contains(scope_.events, name.text))
      fail(name, "there is no event '" + name.text + "'",
           scope_.events.empty() ? "the name of an [[event]]; this study has none"
                                 : "one of: " + list_text(scope_.events, "or"),
           suggestion(name.text, scope_.events));
    reduced.name = name.text;
  }
  expect(")", "to close " + token.text + "(");
}

// Patterns of friction and of bounds need a constraint that has them.
void Parser::require_mode(const Token& token, const std::string& pattern, EventPattern kind) const {
  const ConditionName& entry = scope_.conditions.find(token.text)->second;
  const auto needs = [&](bool has, const std::string& key) {
    if (!has) fail(token, "nothing " + pattern + " there: '" + token.text + "' has no " + key, key);
  };
  switch (kind) {
    case EventPattern::slides:
    case EventPattern::sticks:
    case EventPattern::friction_impulse:
      needs(entry.friction.has_value(), "friction");
      break;
    case EventPattern::reverses:
      needs(entry.friction || entry.holding, "friction or limit");
      break;
    case EventPattern::yields:
    case EventPattern::locks:
      needs(entry.holding && !entry.breaks, "limit without breaks = true");
      break;
    case EventPattern::breaks:
      needs(entry.breaks, "limit with breaks = true");
      break;
    default:
      break;
  }
}

// count(section), first(section.x), period(section, tol): after the name and its parenthesis. Nothing: the
// argument is not a record.
std::optional<Expr> Parser::record_reduction(const Token& token) {
  const auto* it = std::find_if(std::begin(record_reductions), std::end(record_reductions),
                                [&](const ReductionName& r) { return r.name == token.text; });
  const bool whole = token.text == "period" || token.text == "label", rows = whole || token.text == "count";
  const bool records_only = whole || token.text == "std";
  const Token name = peek();
  std::vector<std::string> names;
  for (const auto& [record, values] : measures_->records) names.push_back(record);
  const auto record = measures_->records.find(name.text);
  if (it == std::end(record_reductions)) return {};
  if (record == measures_->records.end()) {
    const bool may_be_meant = token.text == "count" && peek(1).text == ")" && !names.empty();
    if (!records_only && !may_be_meant) return {};
    fail(
        name, "there is no record '" + name.text + "'",
        names.empty() ? "the name of a [[record]]; this study has none" : "one of: " + list_text(names, "or"),
        suggestion(name.text, names));
  }
  if (!rows && peek(1).text != ".")
    fail(name, "a record is a list of states",
         "one of its values, such as " + name.text + "." + record->second.front());
  ++next_;
  ReducedFormula reduced{.reduction = it->reduction};
  reduced.name = name.text;
  if (!rows) {
    expect(".", "and the name of a value of the record");
    const Token column = peek();
    ++next_;
    if (!contains(record->second, column.text))
      fail(column, "the record '" + name.text + "' has no value '" + column.text + "'",
           "one of: " + list_text(record->second, "or"), suggestion(column.text, record->second));
    reduced.column = column.text;
  }
  if (whole) {
    expect(",", "and a tolerance");
    const Token tolerance = peek();
    const unsigned outside = allowed_;
    allowed_ = allow_parameters;
    reducing_ = true;
    reduced.value = sum();
    reducing_ = false;
    allowed_ = outside;
    if (pool_.is_constant(reduced.value) && !(pool_.node(reduced.value).value > 0))
      fail(tolerance, "a positive tolerance is needed", "a positive tolerance, such as 1e-6");
  }
  expect(")", "to close " + token.text + "(");
  const Expr value = measures_->reduce(reduced);
  may_be_missing(value);
  return value;
}

// After the name and its parenthesis.
Expr Parser::reduction(const Token& token) {
  if (const std::optional<Expr> made = record_reduction(token)) return *made;
  const auto* it = std::find_if(std::begin(reductions), std::end(reductions),
                                [&](const ReductionName& r) { return r.name == token.text; });
  const unsigned outside = allowed_;
  allowed_ = measures_->allowed_inside;
  reducing_ = true;
  ReducedFormula reduced{.reduction = it->reduction};
  const Reduction r = reduced.reduction;
  const bool of_impulse = r == Reduction::maximum && peek(1).text == "(" &&
                          (peek().text == "impulse" || peek().text == "friction_impulse");
  if (r == Reduction::count || r == Reduction::first || r == Reduction::last || r == Reduction::total ||
      r == Reduction::at || of_impulse)
    event_argument(reduced);
  if (r == Reduction::at) expect(",", "and the expression to evaluate there");
  if (reduced.pattern == EventPattern::none || r == Reduction::at) reduced.value = sum();
  expect(")", "to close " + token.text + "(");
  reducing_ = false;
  allowed_ = outside;
  const Expr value = measures_->reduce(reduced);
  may_be_missing(value);
  return value;
}

// --- Names of measures -------------------------------------------------------------------------------------

std::optional<Expr> Parser::measure_name() {
  const Token token = peek();
  if (!measures_ || peek(1).text == "." || peek(1).text == "'") return {};
  const auto earlier = measures_->earlier.find(token.text);
  const bool is_measure = earlier != measures_->earlier.end();
  const bool is_later = contains(measures_->later, token.text);
  if (!is_measure && !is_later) return {};
  const bool scalar = scope_.scalars.contains(token.text), vector = scope_.vectors.contains(token.text);
  if (reducing_) {
    if (scalar || vector || token.text == "t" || token.text == "pi") return {};
    fail(token, "a measure is one number per member and cannot be reduced over time",
         "parameters, coordinates and other quantities of the motion inside a reduction");
  }
  if (scalar || vector || is_reserved(token.text)) {
    // A name that only this measure or a later one has too means the parameter or function.
    if (!is_measure) return {};
    const bool parameter = scalar && scope_.scalars.at(token.text).needs == allow_parameters;
    const char* other = parameter ? "a parameter"
                        : scalar  ? "a coordinate"
                        : vector  ? "a point"
                                  : "a function";
    fail(token, "'" + token.text + "' is both a measure and " + other, "a name with one meaning",
         "rename the measure '" + token.text + "'");
  }
  if (!is_measure)
    fail(token, "the measure '" + token.text + "' is not defined yet", "a measure defined above this one",
         "measures are read from top to bottom");
  ++next_;
  may_be_missing(earlier->second);
  return earlier->second;
}

// --- Missing values ----------------------------------------------------------------------------------------

// 1, or 0 for NaN: |x| > -1 holds for every number.
Expr Parser::present(Expr e) {
  if (pool_.is_constant(e)) return std::isnan(pool_.node(e).value) ? pool_.zero() : pool_.one();
  return pool_.if_less(pool_.constant(-1), pool_.apply(Op::abs, e), pool_.one(), pool_.zero());
}

// The value of a measure, missing where one of its operands is.
Expr Parser::unless_missing(Expr value) {
  if (operands_.empty() || (operands_.size() == 1 && operands_[0] == value)) return value;
  Expr all = pool_.one();
  for (const Expr operand : operands_) all = pool_.multiply(all, present(operand));
  return pool_.if_less(pool_.zero(), all, value, pool_.constant(std::nan("")));
}

// --- Conditions: not binds closer than and, and closer than or ---------------------------------------------

// The truth of a condition is 1 or 0, and that of a comparison with a missing value is 0.
Parser::Truth Parser::any_of_conditions() {
  Truth left = all_of_conditions();
  while (peek().kind == TokenKind::name && peek().text == "or") {
    ++next_;
    const Truth right = all_of_conditions();
    left = {pool_.apply(Op::maximum, left.holds, right.holds),
            pool_.apply(Op::maximum, left.undecided, right.undecided)};
  }
  return left;
}

Parser::Truth Parser::all_of_conditions() {
  Truth left = negated_condition();
  while (peek().kind == TokenKind::name && peek().text == "and") {
    ++next_;
    const Truth right = negated_condition();
    left = {pool_.apply(Op::minimum, left.holds, right.holds),
            pool_.apply(Op::maximum, left.undecided, right.undecided)};
  }
  return left;
}

Parser::Truth Parser::negated_condition() {
  bool negated = false;
  while (peek().kind == TokenKind::name && peek().text == "not") {
    ++next_;
    negated = !negated;
  }
  Truth truth;
  if (opens_condition()) {
    ++next_;
    deeper();
    truth = any_of_conditions();
    expect(")", "to close the parenthesis");
    --depth_;
  } else {
    truth = comparison_of_measures();
  }
  if (negated) truth.holds = pool_.if_less(truth.holds, pool_.constant(0.5), pool_.one(), pool_.zero());
  return truth;
}

// A parenthesis around a condition, not around a part of an expression: what follows it is no operator.
bool Parser::opens_condition() const {
  if (peek().kind != TokenKind::symbol || peek().text != "(") return false;
  std::size_t ahead = 0;
  int open = 0;
  do {
    const Token& token = peek(ahead);
    if (token.kind == TokenKind::end) return false;
    if (token.kind == TokenKind::symbol && token.text == "(") ++open;
    if (token.kind == TokenKind::symbol && token.text == ")") --open;
    ++ahead;
  } while (open > 0);
  const Token& after = peek(ahead);
  return after.kind == TokenKind::end || after.text == ")" || after.text == "and" || after.text == "or";
}

Parser::Truth Parser::comparison_of_measures() {
  const auto side = [this] {
    const Expr value = sum();
    may_be_missing(value);
    const Expr guarded = unless_missing(value);
    operands_.clear();
    return guarded;
  };
  operands_.clear();
  const Expr left = side();
  const Token relation = peek();
  if (!is_comparison(relation.text))
    fail(relation, "a condition needs a comparison", "left <, <=, > or >= right");
  if (relation.text == "==" || relation.text == "=" || relation.text == "!=")
    fail(relation, "a condition compares by <, <=, >, >=", "one of <, <=, >, >=",
         "equality is two comparisons: a >= b and a <= b");
  ++next_;
  const Expr right = side();
  if (is_comparison(peek().text))
    fail(peek(), "a second comparison in one condition", "one comparison",
         "join two comparisons: a < b and b < c");
  const bool swapped = relation.text[0] == '>';
  const Expr less = swapped ? right : left, more = swapped ? left : right;
  const Expr both = pool_.multiply(present(left), present(right));
  Truth truth;
  truth.undecided = pool_.subtract(pool_.one(), both);
  truth.holds = relation.text.size() == 1 ? pool_.if_less(less, more, pool_.one(), pool_.zero())
                                          : pool_.if_less(more, less, pool_.zero(), both);
  return truth;
}

void Parser::fail_on_probability(const Token& token) const {
  fail(token, measures_ ? "probability(..) must stand outermost" : "'probability' stands only in [measure]",
       measures_ ? "probability(condition) and nothing around it" : "an expression",
       measures_ ? "give it a name of its own in [measure] and use that" : "");
}

// --- Whole formulas ----------------------------------------------------------------------------------------

MeasureFormula Parser::whole_measure(const MeasureScope& measures) {
  measures_ = &measures;
  if (peek().text == "probability" && peek(1).text == "(") {
    const Token token = peek();
    next_ += 2;
    const Truth truth = any_of_conditions();
    expect(")", "to close probability(");
    if (peek().kind != TokenKind::end) fail_on_probability(token);
    return {truth.holds, true, truth.undecided};
  }
  const Expr value = sum();
  if (is_comparison(peek().text))
    fail(peek(), "a comparison has no place here", "one expression",
         "the share of members in which it holds is probability(a > b)");
  if (peek().kind != TokenKind::end) unexpected("an operator or the end of the formula");
  return {unless_missing(value), false, pool_.zero()};
}

MeasureFormula Parser::whole_measure_condition(const MeasureScope& measures) {
  measures_ = &measures;
  const Truth truth = any_of_conditions();
  if (peek().kind != TokenKind::end) unexpected("and, or, or the end of the condition");
  return {truth.holds, false, truth.undecided};
}

ReducedFormula Parser::whole_event_pattern() {
  ReducedFormula made{.reduction = Reduction::count};
  event_argument(made);
  if (peek().kind != TokenKind::end) unexpected("the end: one event");
  return made;
}

ReducedFormula parse_event_pattern(Expressions& pool, const std::string& text, const Scope& scope,
                                   const Source& source) {
  return Parser(pool, text, scope, allow_nothing, source).whole_event_pattern();
}

MeasureFormula parse_measure(Expressions& pool, const std::string& text, const Scope& scope,
                             const MeasureScope& measures, const Source& source) {
  return Parser(pool, text, scope, allow_parameters, source).whole_measure(measures);
}

MeasureFormula parse_measure_condition(Expressions& pool, const std::string& text, const Scope& scope,
                                       const MeasureScope& measures, const Source& source) {
  return Parser(pool, text, scope, allow_parameters, source).whole_measure_condition(measures);
}

}  // namespace zwang
