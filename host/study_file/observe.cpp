// Reads [[impulse]], [[event]], [time] stop and [observe].
#include <algorithm>
#include <cmath>

#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/formula/parse.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/scope.h"
#include "src/system/body.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Whether the value can change during a motion.
bool can_change(const Expressions& pool, Expr e) {
  const std::vector<Symbol> symbols = pool.symbols({e});
  return std::any_of(symbols.begin(), symbols.end(),
                     [](const Symbol& symbol) { return symbol.kind != SymbolKind::parameter; });
}

}  // namespace

void StudyBuilder::read_impulses() {
  std::size_t number = 0;
  for (Field entry : repeated_table(reader_, "impulse")) {
    entry.place = "impulse number " + std::to_string(++number);
    const Table table(reader_, entry, {"at", "on", "velocity", "momentum", "angular"});
    ImpulseFormula made;
    made.at = pool().zero();
    if (const Field at = table.require("at", "the time of the impulse"))
      if (const auto time = formula(at, allow_parameters)) {
        made.at = *time;
        check_value(at, *time, is_not_negative, "lies before the start", "a time >= 0");
      }
    const Field velocity = table["velocity"], momentum = table["momentum"];
    if (!velocity == !momentum)
      reader_.report_found(entry, velocity ? "both velocity and momentum" : "neither velocity nor momentum",
                           "", "the gain of the free body: either velocity = [..] or momentum = [..]");
    const Field on = table.require("on", "the name of a point, a body, a body point or a coordinate");
    made.momentum = !velocity;
    if (on && !velocity != !momentum && !read_impulse_on_body(on, table, made)) {
      read_target(on, made);
      read_amounts(velocity ? velocity : momentum, made);
    }
    fields_.impulses.push_back(entry);
    description_.impulses.push_back(std::move(made));
  }
}

// An impulse on a body, with `angular` in body axes, or on a body point. False: the target is neither.
bool StudyBuilder::read_impulse_on_body(const Field& on, const Table& table, ImpulseFormula& made) {
  const Field velocity = table["velocity"], momentum = table["momentum"], angular = table["angular"];
  const std::string name = on.value->kind == Value::Kind::string ? on.value->text : "";
  const std::string owner = name.substr(0, name.find('.'));
  const Body* body = body_named(owner);
  const auto vector = scope_.vectors.find(name);
  const bool place = vector != scope_.vectors.end() && vector->second.is_place;
  if (angular && (!body || name != owner))
    reader_.report(angular, "only a body as a whole has an angular impulse", "on = \"NAME\" of a [[body]]");
  if (!body || !place) return false;
  made.target = name;
  const Field field = velocity ? velocity : momentum;
  const auto read = [&](const Field& list, std::size_t count) {
    std::vector<Field> items = {list};
    const std::string expected =
        count == 1 ? "one number or formula" : "[..] with " + std::to_string(count) + " entries";
    if (count > 1 || list.value->kind == Value::Kind::array)
      items = reader_.array(list, expected).value_or(std::vector<Field>{});
    if (items.size() != count) {
      reader_.report_found(list, "wrong number of entries", std::to_string(items.size()), expected);
      return std::vector<Expr>(count, pool().zero());
    }
    std::vector<Expr> amounts;
    for (const Field& item : items) amounts.push_back(formula(item, allow_state).value_or(pool().zero()));
    return amounts;
  };
  if (name == owner) {
    made.amounts = read(field, body->dimension);
    const std::size_t turns = body->coordinates() - body->dimension;
    std::vector<Expr> more = angular ? read(angular, turns) : std::vector<Expr>(turns, pool().zero());
    if (body->nonspinning) more = BodyFormulas(pool(), *body).in_frame(more);
    made.amounts.insert(made.amounts.end(), more.begin(), more.end());
  } else if (velocity) {
    reader_.report(velocity, "a body point has no velocity of its own",
                   "momentum = [..]: a blow at this point");
    return true;
  } else {
    made.amounts.assign(description_.coordinates.size(), pool().zero());
    add_force_at(pool(), vector->second.position, read(field, body->dimension), made.amounts);
    const auto first = made.amounts.begin() + static_cast<std::ptrdiff_t>(body->first);
    made.amounts = std::vector<Expr>(first, first + static_cast<std::ptrdiff_t>(body->coordinates()));
  }
  for (std::size_t k = 0; k < body->coordinates(); ++k) made.coordinates.push_back(body->first + k);
  return true;
}

void StudyBuilder::read_target(const Field& field, ImpulseFormula& made) {
  const auto name = reader_.string(field, "the name of a point or a coordinate");
  if (!name) return;
  made.target = *name;
  const auto point = std::find_if(bodies_.points.begin(), bodies_.points.end(),
                                  [&](const NamedPart& body) { return body.name == *name; });
  const std::vector<std::string>& names = description_.coordinates;
  const auto coordinate = std::find(names.begin(), names.end(), *name);
  if (point != bodies_.points.end()) {
    for (std::size_t k = 0; k < point->dimension; ++k) made.coordinates.push_back(point->first + k);
  } else if (coordinate != names.end()) {
    made.coordinates.push_back(static_cast<std::size_t>(coordinate - names.begin()));
  } else if (!follows_from_earlier_error(*name)) {
    std::vector<std::string> known = names;
    for (const NamedPart& body : bodies_.points) known.push_back(body.name);
    const auto vector = scope_.vectors.find(*name);
    const bool anchor = vector != scope_.vectors.end() && vector->second.is_anchor;
    reader_.report(field, anchor ? "an anchor has prescribed motion" : "not a point or a coordinate",
                   "the name of a point or a coordinate", anchor ? "" : suggestion(*name, known));
  }
}

void StudyBuilder::read_amounts(const Field& field, ImpulseFormula& made) {
  const std::size_t wanted = made.coordinates.size();
  if (wanted == 0 || names_.broken.contains(made.target)) return;
  std::vector<Field> items = {field};
  const std::string expected =
      wanted == 1 ? "one number or formula"
                  : "[..] with " + std::to_string(wanted) + " entries, one for each coordinate";
  if (wanted > 1 || field.value->kind == Value::Kind::array) {
    const auto list = reader_.array(field, expected);
    if (!list) return;
    items = *list;
  }
  if (items.size() != wanted)
    reader_.report_found(field, "wrong number of entries", std::to_string(items.size()), expected);
  for (const Field& item : items) made.amounts.push_back(formula(item, allow_state).value_or(pool().zero()));
}

void StudyBuilder::read_events() {
  for (const Field& entry : naming_entries("event")) {
    const Table table(reader_, entry, {"name", "when", "direction"});
    WatchFormula made;
    made.name = entry_name(entry);
    made.value = pool().zero();
    if (!made.name.empty() &&
        register_name_in(names_.events, made.name,
                         reader_.document().locate(entry.value->find("name")->value.mark), entry.place))
      scope_.events.push_back(made.name);
    if (const Field when = table.require("when", "a formula; the event occurs where it is zero"))
      if (const auto value = formula(when, allow_state | allow_reactions)) {
        made.value = *value;
        if (!can_change(pool(), *value) && !follows_from_earlier_error(when.value->text))
          reader_.report(when, "never changes",
                         "a formula of t, coordinates, velocities or auxiliary states");
      }
    if (const Field direction = table["direction"])
      made.direction = static_cast<int>(reader_.integer(direction, -1, 1).value_or(0));
    description_.watches.push_back(std::move(made));
  }
}

void StudyBuilder::read_stop(const Field& field) {
  if (!reader_.string(field, "a condition in quotes")) return;
  const auto condition = parse_or_report(field, [&](const Source& source) {
    return parse_condition(pool(), field.value->text, scope_, allow_state | allow_reactions, source, true);
  });
  if (!condition) return;
  const bool greater =
      condition->comparison == Comparison::greater || condition->comparison == Comparison::greater_equal;
  description_.stop = greater ? pool().subtract(condition->left, condition->right)
                              : pool().subtract(condition->right, condition->left);
  if (!can_change(pool(), *description_.stop) && !follows_from_earlier_error(field.value->text))
    reader_.report(field, "never changes", "a condition on t, coordinates, velocities or auxiliary states");
}

// kinetic() and potential() of the whole system, including points and gravity, as System defines them.
void StudyBuilder::define_energies() {
  scope_.kinetic = whole_kinetic_energy(description_);
  scope_.potential = whole_potential_energy(description_);
  // The auxiliary states of logdensity() come after all others and exist only if a formula uses them.
  const std::size_t nz = description_.auxiliaries.size();
  const Expr density = pool().symbol(SymbolKind::auxiliary, nz),
             lost = pool().symbol(SymbolKind::auxiliary, nz + 1);
  scope_.logdensity = pool().if_less(pool().constant(0.5), lost, pool().constant(std::nan("")), density);
}

// [voss-11] If logdensity() is used, it becomes an auxiliary state that starts at 0.
void StudyBuilder::add_density() {
  const std::size_t nz = description_.auxiliaries.size();
  const auto uses_density = [&](Expr e) {
    const std::vector<Symbol> symbols = pool().symbols({e});
    return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
      return symbol.kind == SymbolKind::auxiliary && symbol.index >= nz;
    });
  };
  bool wanted = false;
  for (const NamedExpr& observable : description_.observables)
    wanted = wanted || uses_density(observable.value);
  for (const RecordFormula& record : description_.records)
    for (const NamedExpr& value : record.values) wanted = wanted || uses_density(value.value);
  for (const WatchFormula& watch : description_.watches) wanted = wanted || uses_density(watch.value);
  wanted = wanted || (description_.stop && uses_density(*description_.stop));
  for (std::size_t i = 0; i < description_.reductions.size(); ++i) {
    const ReductionFormula& formula = description_.reductions[i];
    if (!uses_density(formula.value)) continue;
    wanted = true;
    if (formula.reduction == Reduction::integral || formula.reduction == Reduction::mean)
      reader_.report(fields_.reductions[i],
                     "logdensity() has no integral or mean, because a shock may make it undefined",
                     "initial, final, minimum, maximum or at of it");
  }
  if (!wanted) return;
  for (const Body& body : description_.bodies)
    if (body.nonspinning)
      throw Error({.where = {study_.path, 0, 0},
                   .message = "there is no logdensity() beside a frame that does not spin",
                   .found = "frame = \"nonspinning\" of body '" + body.name + "'",
                   .expected = "bodies without frame, or no logdensity()"});
  description_.density = nz;
  for (const char* name : {"logdensity", "logdensity.lost"}) {
    description_.auxiliaries.emplace_back(name);
    description_.rates.push_back(pool().zero());
    study_.initial_auxiliaries.push_back(pool().zero());
  }
}

void StudyBuilder::read_observables() {
  const Field table = single_table(reader_, "observe");
  if (!table) return;
  std::set<std::string> names;
  for (const Entry& entry : table.value->entries) {
    const Field field{&entry.value, named_place("observable", entry)};
    register_name_in(names, entry.key, reader_.document().locate(entry.mark), field.place);
    const std::optional<Expr> made = formula(field, allow_state | allow_reactions);
    description_.observables.push_back({entry.key, made.value_or(pool().zero())});
  }
}

}  // namespace zwang
