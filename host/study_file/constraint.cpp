// Reads [[constraint]]: conditions are rewritten with Mayer's sign, f <= 0 or f == 0.
#include <cmath>
#include <regex>

#include "host/study_file/builder.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
#include "src/expression/interval.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/formula/parse.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/scope.h"
#include "src/system/equations.h"
#include "src/system/friction.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t condition_limit = 4096;

// The offset at which the right side of a condition begins.
std::size_t right_side(const std::string& text) {
  const std::size_t sign = text.find_first_of("<>=");
  const std::size_t after = text.find_first_not_of("<>= \t\r\n", sign);
  return after == std::string::npos ? 0 : after;
}

}  // namespace

void StudyBuilder::read_constraints() {
  const std::vector<Field> entries = naming_entries("constraint");
  if (entries.size() > condition_limit)
    throw Error({.where = {study_.path, 0, 0},
                 .message = "too many constraints",
                 .found = std::to_string(entries.size()),
                 .expected = "at most " + std::to_string(condition_limit)});
  for (const Field& entry : entries) read_constraint(entry);
}

void StudyBuilder::read_constraint(const Field& entry) {
  const Table table(
      reader_, entry,
      {"name", "require", "restitution", "from", "until", "variation", "multiplier", "friction",
       "friction_static", "slip", "restitution_tangential", "limit", "impulse_limit", "breaks"});
  ConditionFormula made;
  made.name = entry_name(entry);
  made.value = made.restitution = pool().zero();
  if (!made.name.empty())
    register_name_in(names_.constraints, made.name,
                     reader_.document().locate(entry.value->find("name")->value.mark), entry.place);
  const Field require = table.require("require", "a condition such as \"distance(load, hook) <= L\"");
  const bool ok = require && read_condition(require, made) && check_condition(require, made);
  if (const Field restitution = table["restitution"]) {
    if (ok && made.equation)
      reader_.report(restitution, "an equation has no restitution", "restitution only with <= or >=");
    else
      read_restitution(restitution, made);
  }
  read_time_in_force(table, made);
  read_variation(table, made, ok);
  const std::vector<Expr> slip = read_friction(table, made, ok);
  read_limit(table, made, ok);
  add_condition(entry, std::move(made), slip);
}

void StudyBuilder::add_condition(const Field& entry, ConditionFormula made, const std::vector<Expr>& slip) {
  if (description_.conditions.size() >= condition_limit)
    throw Error({.where = {study_.path, 0, 0},
                 .message = "too many constraints, with those of links and contacts",
                 .found = "more than " + std::to_string(condition_limit),
                 .expected = "at most " + std::to_string(condition_limit)});
  add_mode_states(made);
  define_constraint_names(made, slip);
  fields_.constraints.push_back(entry);
  description_.conditions.push_back(std::move(made));
  for (std::size_t k = 0; k < slip.size(); ++k) {
    fields_.constraints.push_back(entry);
    description_.conditions.push_back(slip_row(slip[k], k, slip.size()));
  }
}

bool StudyBuilder::read_condition(const Field& field, ConditionFormula& made) {
  if (!reader_.string(field, "a condition in quotes")) return false;
  const unsigned allowed = allow_time | allow_parameters | allow_positions | allow_velocities;
  const auto condition = parse_or_report(field, [&](const Source& source) {
    return parse_condition(pool(), field.value->text, scope_, allowed, source, false);
  });
  if (!condition) return false;
  made.equation = condition->comparison == Comparison::equal;
  if (distance_condition(field, *condition, made)) return true;
  const bool greater = condition->comparison == Comparison::greater_equal;
  made.value = greater ? pool().subtract(condition->right, condition->left)
                       : pool().subtract(condition->left, condition->right);
  made.holonomic = !pool().mentions(made.value, SymbolKind::velocity);
  // The force at a body point is the multiplier times the gradient there, without the arm of its torque.
  if (made.holonomic && !description_.bodies.empty())
    if (const auto at = gradient_at_place(made.value)) made.end_gradient = length_of(pool(), at->gradient);
  return true;
}

// The formula with the components of a place replaced by variables of their own: if nothing else in it moves, its
// derivatives by them are the gradient.
std::optional<StudyBuilder::PlaceGradient> StudyBuilder::gradient_at_place(Expr f) {
  constexpr std::size_t variables = 1'000'000'000;  // beyond all coordinates
  for (const auto& [name, vector] : scope_.vectors) {
    if (!vector.is_place || vector.is_anchor) continue;
    const std::size_t dimension = vector.position.size();
    Replacements apart, back;
    for (std::size_t k = 0; k < dimension; ++k) {
      const Expr variable = pool().symbol(SymbolKind::coordinate, variables + k);
      apart[vector.position[k].id] = variable;
      back[variable.id] = vector.position[k];
    }
    const Expr free = replaced(pool(), f, apart);
    const std::vector<Symbol> symbols = pool().symbols({free});
    const bool alone = pool().turning({free}).empty() &&
                       std::all_of(symbols.begin(), symbols.end(), [](const Symbol& symbol) {
                         return symbol.kind != SymbolKind::coordinate || symbol.index >= variables;
                       });
    if (!alone || free == f) continue;
    PlaceGradient made{vector.position, {}};
    for (std::size_t k = 0; k < dimension; ++k) {
      const Symbol variable{SymbolKind::coordinate, static_cast<std::uint32_t>(variables + k)};
      made.gradient.push_back(replaced(pool(), derivative(pool(), free, variable), back));
    }
    return made;
  }
  return {};
}

// distance OP R with R free of coordinates. f = d - R would have a kink at d = 0 and unbounded second
// derivatives near it; f = (d^2 - R^2)/(2R) has the same zeros, is smooth, and at d = R its gradient at each
// end has length d/R = 1.
bool StudyBuilder::distance_condition(const Field& field, const Condition& condition,
                                      ConditionFormula& made) {
  const auto moves = [&](Expr e) {
    return pool().mentions_positions(e) || pool().mentions(e, SymbolKind::velocity);
  };
  const bool left = condition.left_distance && moves(condition.left) && !moves(condition.right);
  const bool right = condition.right_distance && moves(condition.right) && !moves(condition.left);
  if (!left && !right) return false;
  const Distance& distance = left ? *condition.left_distance : *condition.right_distance;
  const Expr R = left ? condition.right : condition.left;
  Expr squared = pool().zero();
  for (const Expr component : distance.difference) squared = pool().add(squared, pool().square(component));
  const Expr f =
      pool().divide(pool().subtract(squared, pool().square(R)), pool().multiply(pool().constant(2), R));
  // f grows with the distance; its sign is that of left - right, or of right - left for >=.
  const bool grows = left == (condition.comparison != Comparison::greater_equal);
  made.value = grows ? f : pool().negate(f);
  made.radius = R;
  made.end_gradient = pool().divide(pool().apply(Op::sqrt, squared), R);
  made.difference = distance.difference;

  const std::string hint = "for points that must coincide write their coordinates: a.x == b.x";
  const std::string message = "a distance must be compared with something positive";
  const Evaluated size = evaluate(R);
  if (size.state == State::drawn)
    parameters_.deferred_checks.push_back({field, R, message, "a number > 0", hint, is_positive});
  if (size.state == State::constant && !is_positive(size.value)) {
    const std::size_t offset = left ? right_side(field.value->text) : 0;
    reader_.report(reader_.document().locate(*field.value, offset), field.place + ": " + message,
                   number_text(size.value), "a number > 0", hint);
    made.radius.reset();
  }
  return true;
}

// Reports conditions that are always satisfied or never satisfied.
bool StudyBuilder::check_condition(const Field& field, const ConditionFormula& made) {
  if (follows_from_earlier_error(field.value->text) || (made.end_gradient && !made.radius)) return true;
  const bool moves = made.holonomic ? pool().mentions_positions(made.value)
                                    : pool().mentions(made.value, SymbolKind::velocity);
  if (!moves) {
    static const std::regex to_itself(R"(distance\s*\(\s*(\w+)\s*,\s*\1\s*\))");
    std::smatch found;
    // The library's regular expressions recurse on long texts.
    const bool itself =
        field.value->text.size() < 1000 && std::regex_search(field.value->text, found, to_itself);
    reader_.report(field, "contains no coordinate or velocity", "a condition on coordinates or velocities",
                   itself ? "the distance of '" + found[1].str() + "' to itself is always 0" : "");
    return false;
  }
  const Interval bounds = range(made.value);
  const bool never = bounds.low > 0 || (made.equation && bounds.high < 0);
  if (never || (!made.equation && bounds.high <= 0)) {
    reader_.report(field, never ? "can never be met" : "is always met and restricts nothing",
                   "a condition that some states meet and others do not");
    return false;
  }
  if (derive_constraint(pool(), made).row.empty()) {
    reader_.report(field, "its gradient is zero everywhere, so it cannot restrict the motion",
                   std::string("a condition that changes smoothly with ") +
                       (made.holonomic ? "the coordinates" : "the velocities"));
    return false;
  }
  return true;
}

void StudyBuilder::read_restitution(const Field& field, ConditionFormula& made) {
  const std::string message = "a restitution lies between 0 and 1", expected = "a number from 0 to 1";
  made.restitution = quantity(field, made.name + ".restitution");
  check_value(field, made.restitution, is_fraction, message, expected);
  // If the known range extends beyond [0, 1], some member is invalid even if the nominal member is not.
  const Interval all = range(made.restitution);
  const bool bounded = std::isfinite(all.low) && std::isfinite(all.high);
  if (evaluate(made.restitution).state == State::drawn && bounded && (all.low < 0 || all.high > 1))
    reader_.report_found(field, message, number_text(all.low) + " to " + number_text(all.high), expected);
}

// `from` and `until`; -inf and inf mean the same as leaving them out.
void StudyBuilder::read_time_in_force(const Table& table, ConditionFormula& made) {
  const Field from = table["from"], until = table["until"];
  const double infinity = std::numeric_limits<double>::infinity();
  if (from && !(from.value->is_number() && from.value->number == -infinity)) {
    made.from = formula(from, allow_parameters);
    if (made.from)
      check_value(from, *made.from, is_not_negative, "lies before the start", "a time >= 0",
                  "leave it out for a constraint in force from the start");
  }
  if (until && !(until.value->is_number() && until.value->number == infinity)) {
    made.until = formula(until, allow_parameters);
    if (made.until) check_value(until, *made.until, is_not_negative, "lies before the start", "a time >= 0");
  }
  if (!made.from || !made.until) return;
  const Evaluated begin = evaluate(*made.from), end = evaluate(*made.until);
  const std::string message = "must lie after 'from'";
  if (begin.state == State::constant && end.state == State::constant && begin.value >= end.value)
    reader_.report_found(until, message, number_text(end.value),
                         "a time later than from = " + number_text(begin.value));
  else
    check_value(until, pool().subtract(*made.until, *made.from), is_positive, message, "until - from > 0");
}

// Defines the names by which [observe] and [measure] may refer to the constraint.
void StudyBuilder::define_constraint_names(const ConditionFormula& made, const std::vector<Expr>& slip) {
  const std::size_t index = description_.conditions.size();
  const Constraint constraint = derive_constraint(pool(), made);
  Expr multiplier = pool().symbol(SymbolKind::multiplier, index);
  if (made.limit) multiplier = pool().add(multiplier, yield_force(pool(), *made.limit));
  const Expr closed = pool().symbol(SymbolKind::closed, index);
  ConditionName names{multiplier, pool().multiply(multiplier, constraint.reach), made.value,
                      pool().subtract(pool().one(), closed), closed};
  if (made.friction && !slip.empty()) define_friction_names(constraint, slip, names);
  if (made.limit || made.breaks_with_link) names.holding = closed;
  names.breaks = (made.limit && made.limit->breaks) || made.breaks_with_link;
  if (made.broken) names.broken = pool().symbol(SymbolKind::auxiliary, *made.broken);
  if (made.dissipated) {
    names.dissipated = pool().symbol(SymbolKind::auxiliary, *made.dissipated);
    scope_.dissipated = pool().add(scope_.dissipated.value_or(pool().zero()), *names.dissipated);
  }
  scope_.conditions.emplace(made.name, names);
  names_.constraint_index.emplace(made.name, index);
}

}  // namespace zwang
