// Reads the keys of [[constraint]] for Coulomb friction (friction, friction_static, slip,
// restitution_tangential) and for bounded multipliers (limit, impulse_limit, breaks).
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
#include "src/expression/interval.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"
#include "src/system/body.h"
#include "src/system/friction.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t friction_limit = 256;

bool is_limit(double x) { return x > 0; }
bool is_impulse_limit(double x) { return x >= 0; }

// Whether a word stands in some string of a value, as a whole word.
bool mentions_word(const Value& value, std::string_view word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = value.text.find(word); at != std::string::npos; at = value.text.find(word, at + 1)) {
    const std::size_t after = at + word.size();
    if ((at == 0 || !is_part(value.text[at - 1])) &&
        (after == value.text.size() || !is_part(value.text[after])))
      return true;
  }
  return std::any_of(value.items.begin(), value.items.end(),
                     [&](const Value& item) { return mentions_word(item, word); }) ||
         std::any_of(value.entries.begin(), value.entries.end(),
                     [&](const Entry& entry) { return mentions_word(entry.value, word); });
}

}  // namespace

bool StudyBuilder::study_mentions(std::string_view word) const {
  return mentions_word(reader_.document().root(), word);
}

Expr StudyBuilder::read_coefficient(const Field& field, const std::string& name, Test holds,
                                    const std::string& message, const std::string& expected) {
  const Expr made = quantity(field, name);
  check_value(field, made, holds, message, expected);
  return made;
}

std::vector<Expr> StudyBuilder::read_friction(const Table& table, ConditionFormula& made, bool readable,
                                              const std::vector<Expr>& known) {
  const Field friction = table["friction"], still = table["friction_static"], slip = table["slip"],
              tangential = table["restitution_tangential"];
  for (const Field& field : {still, slip, tangential})
    if (field && !friction)
      reader_.report(field, "has no effect without friction", "friction = \"mu\" beside it, or no such key");
  if (!friction) return {};
  FrictionFormula law;
  law.coefficient = read_coefficient(friction, made.name + ".friction", is_not_negative,
                                     "a coefficient of friction is not negative", "a number >= 0");
  law.coefficient_static = law.coefficient;
  if (still) {
    law.coefficient_static =
        read_coefficient(still, made.name + ".friction_static", is_not_negative,
                         "a coefficient of friction is not negative", "a number >= friction");
    check_value(still, pool().subtract(law.coefficient_static, law.coefficient), is_not_negative,
                "is below friction", "friction_static - friction >= 0");
  }
  law.restitution = pool().zero();
  if (tangential)
    law.restitution = read_coefficient(tangential, made.name + ".restitution_tangential", is_fraction,
                                       "a restitution lies between 0 and 1", "a number from 0 to 1");
  if (!readable) return {};
  if (made.equation) {
    reader_.report(friction, "an equation has no friction: friction needs a contact",
                   "a condition with <= or >=", "for a dry equation write limit, a bound on its force");
    return {};
  }
  if (!made.holonomic) {
    reader_.report(friction, "there is no law of friction for a condition on velocities",
                   "a condition on positions");
    return {};
  }
  if (made.general) {
    reader_.report(friction, "there is no law of friction beside variation = \"general\"",
                   "variation = \"special\"");
    return {};
  }
  const auto others = std::count_if(description_.conditions.begin(), description_.conditions.end(),
                                    [](const ConditionFormula& c) { return c.friction.has_value(); });
  if (static_cast<std::size_t>(others) >= friction_limit) {
    reader_.report_found(friction, "too many contacts with friction", std::to_string(others + 1),
                         "at most " + std::to_string(friction_limit));
    return {};
  }
  law.derived = !slip;
  const std::vector<Expr> speeds = slip            ? read_slip(slip)
                                   : known.empty() ? derived_slip(friction, made)
                                                   : known;
  if (speeds.empty()) return {};
  law.first_mode = description_.modes;
  description_.modes += friction_modes(speeds.size());
  made.friction = law;
  return speeds;
}

// One formula, or two in a list.
std::vector<Expr> StudyBuilder::read_slip(const Field& field) {
  std::vector<Field> parts = {field};
  if (field.value->kind == Value::Kind::array) {
    const auto items = reader_.array(field, "one or two slip speeds");
    if (!items) return {};
    parts = *items;
  }
  if (parts.empty() || parts.size() > 2) {
    reader_.report_found(field, "a contact slips in one direction in the plane, in two in space",
                         std::to_string(parts.size()) + " entries", "one or two slip speeds");
    return {};
  }
  std::vector<Expr> made;
  const unsigned allowed = allow_time | allow_parameters | allow_positions | allow_velocities;
  for (const Field& part : parts) {
    const auto speed = formula(part, allowed);
    if (!speed || !check_slip(part, *speed)) return {};
    made.push_back(*speed);
  }
  return made;
}

bool StudyBuilder::check_slip(const Field& field, Expr slip) {
  if (field.value->kind == Value::Kind::string && follows_from_earlier_error(field.value->text)) return false;
  bool moves = false;
  for (const Symbol& symbol : pool().symbols({slip})) {
    if (symbol.kind != SymbolKind::velocity) continue;
    const Expr entry = derivative(pool(), slip, symbol);
    moves = moves || !pool().is_zero(entry);
    if (!pool().mentions(entry, SymbolKind::velocity)) continue;
    reader_.report_found(field, "a slip speed is linear in the velocities",
                         "not linear in " + description_.coordinates[symbol.index] + "'",
                         "a speed such as \"p.x' - belt\"");
    return false;
  }
  if (!moves)
    reader_.report(field, "contains no velocity, so nothing can slip", "a speed such as \"p.x' - belt\"");
  return moves;
}

// The velocity across the normal. Within a step the slip must not jump, as its direction is known by that at the step's
// start; tangents() do where the third component of the normal changes its sign.
std::vector<Expr> StudyBuilder::across(const std::vector<Expr>& normal, const std::vector<Expr>& velocity) {
  Expr squares = pool().zero();
  for (const Expr e : normal) squares = pool().add(squares, pool().square(e));
  const Expr length = pool().apply(Op::sqrt, squares);
  std::vector<Expr> unit, made;
  for (const Expr e : normal) unit.push_back(pool().divide(e, length));
  const bool may_jump = normal.size() == 3 && !pool().is_constant(normal[2]);
  for (const std::vector<Expr>& direction :
       may_jump ? tangents_without_jump(pool(), unit) : tangents(pool(), unit)) {
    Expr speed = pool().zero();
    for (std::size_t k = 0; k < direction.size(); ++k)
      speed = pool().add(speed, pool().multiply(direction[k], velocity[k]));
    made.push_back(speed);
  }
  return made;
}

// [friction-2] The slip of a point on a surface at rest, and of two points at a distance.
std::vector<Expr> StudyBuilder::derived_slip(const Field& field, const ConditionFormula& made) {
  const std::string hint =
      "a slip follows from the geometry for a condition on the coordinates of one point, without t, and for "
      "distance(a, b) >= R or <= R";
  const auto refuse = [&](const std::string& found) {
    reader_.report_found(field, "the slip of this contact is not known from its condition", found,
                         "slip = \"...\", the speed with which the touching material slips", hint);
    return std::vector<Expr>{};
  };
  if (!made.difference.empty() && made.difference.size() > 1) {
    std::vector<Expr> velocity;
    for (const Expr e : made.difference) velocity.push_back(total_derivative(pool(), e));
    return across(made.difference, velocity);
  }
  if (pool().mentions(made.value, SymbolKind::time)) return refuse("a condition that depends on t");
  const std::vector<Symbol> symbols = pool().symbols({made.value});
  for (const Point& point : description_.points) {
    if (!pool().turning({made.value}).empty()) break;
    const auto belongs = [&](const Symbol& symbol) {
      return symbol.kind != SymbolKind::coordinate ||
             (symbol.index >= point.first && symbol.index < point.first + point.dimension);
    };
    if (!std::all_of(symbols.begin(), symbols.end(), belongs)) continue;
    if (point.dimension < 2) return refuse("a point on a line, which cannot slip");
    std::vector<Expr> normal, velocity;
    for (std::size_t k = point.first; k < point.first + point.dimension; ++k) {
      normal.push_back(
          derivative(pool(), made.value, {SymbolKind::coordinate, static_cast<std::uint32_t>(k)}));
      velocity.push_back(pool().symbol(SymbolKind::velocity, k));
    }
    return across(normal, velocity);
  }
  if (const auto at = gradient_at_place(made.value); at && at->place.size() > 1)
    return across(at->gradient, velocity_of(pool(), at->place));
  return refuse("a condition on several points, or on generalized coordinates");
}

void StudyBuilder::read_limit(const Table& table, ConditionFormula& made, bool readable) {
  const Field limit = table["limit"], breaks = table["breaks"], impulse = table["impulse_limit"];
  const bool gone = breaks && reader_.boolean(breaks).value_or(false);
  if (!limit) {
    if (gone)
      reader_.report(breaks, "a constraint breaks at its limit, and there is none",
                     "limit = \"...\" beside it");
    if (impulse) reader_.report(impulse, "has no effect without limit", "limit = \"...\" beside it");
    return;
  }
  LimitFormula law;
  law.breaks = gone;
  law.limit = read_coefficient(limit, made.name + ".limit", is_limit, "a limit is positive", "a number > 0");
  law.impulse_limit = pool().zero();
  if (!readable) return;
  if (!made.equation && !gone) {
    reader_.report(limit, "a bound on an inequality can only break it", "breaks = true beside it");
    return;
  }
  if (made.general) {
    reader_.report(limit, "there is no law of limits beside variation = \"general\"",
                   "variation = \"special\"");
    return;
  }
  if (!made.equation && !impulse) {
    reader_.report_found(limit, "says nothing about shocks", "no impulse_limit",
                         "impulse_limit, the impulse at which it breaks",
                         "impulse_limit = inf: shocks never break it; 0: the first shock does");
    return;
  }
  made.limit = law;
  if (impulse) read_impulse_limit(table, made);
  if (gone) return;
  made.limit->sign = description_.modes++;
  if (made.holonomic) made.limit->offset = description_.modes++;
}

void StudyBuilder::read_impulse_limit(const Table& table, ConditionFormula& made) {
  const Field field = table["impulse_limit"];
  const double infinity = std::numeric_limits<double>::infinity();
  if (field.value->is_number() && field.value->number == infinity)
    made.limit->impulse_limit = pool().constant(infinity);
  else
    made.limit->impulse_limit = read_coefficient(field, made.name + ".impulse_limit", is_impulse_limit,
                                                 "an impulse_limit is not negative", "a number >= 0, or inf");
}

// The auxiliary states behind dissipated(c) and broken(c), where some formula of the study uses them.
void StudyBuilder::add_mode_states(ConditionFormula& made) {
  const auto add = [&](const std::string& name) {
    description_.auxiliaries.push_back(made.name + "." + name);
    description_.rates.push_back(pool().zero());
    study_.initial_auxiliaries.push_back(pool().zero());
    return description_.auxiliaries.size() - 1;
  };
  const bool dissipates = made.friction || (made.limit && !made.limit->breaks);
  if (dissipates && study_mentions("dissipated")) made.dissipated = add("dissipated");
  const bool breaks = (made.limit && made.limit->breaks) || (made.breaks_with_link && !made.broken);
  if (breaks && study_mentions("broken")) made.broken = add("broken");
}

// A slip speed as a condition of its own, in force while the contact before it sticks.
ConditionFormula StudyBuilder::slip_row(Expr slip, std::size_t which, std::size_t count) const {
  const std::size_t contact = description_.conditions.size() - 1 - which;
  ConditionFormula made;
  made.name = description_.conditions[contact].name + ".slip";
  if (count > 1) made.name += std::to_string(which + 1);
  made.holonomic = false;
  made.equation = true;
  made.value = slip;
  made.restitution = description_.pool->zero();
  made.slip_of = contact;
  return made;
}

void StudyBuilder::define_friction_names(const Constraint& constraint, const std::vector<Expr>& slip,
                                         ConditionName& names) {
  const std::size_t contact = description_.conditions.size();
  const Expr normal = pool().symbol(SymbolKind::multiplier, contact);
  const std::vector<Expr> drag = friction_drag(pool(), constraint, slip);
  std::vector<Expr> forces;
  for (std::size_t k = 0; k < slip.size(); ++k)
    forces.push_back(
        pool().add(pool().symbol(SymbolKind::multiplier, contact + 1 + k), pool().multiply(drag[k], normal)));
  const Expr sticking = pool().symbol(SymbolKind::closed, contact + 1);
  names.friction = length_of(pool(), forces);
  names.slip = slip.size() == 1 ? slip[0] : length_of(pool(), slip);
  names.sticking = sticking;
  names.slipping = pool().subtract(names.closed, sticking);
}

}  // namespace zwang
