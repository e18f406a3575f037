// Reads the mechanical system: anchors, points, coordinates, auxiliaries and [system].
#include <algorithm>

#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"
#include "src/system/body.h"

namespace zwang {

namespace {

std::string count_text(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

}  // namespace

void StudyBuilder::read_anchors() {
  for (const NamedPart& anchor : bodies_.anchors) {
    const Table table(reader_, anchor.entry, {"name", "position"});
    const Field position = table.require("position", "1, 2 or 3 numbers or formulas");
    const auto items = position ? reader_.array(position, "1, 2 or 3 numbers or formulas") : std::nullopt;
    if (!items) continue;
    if (items->size() != anchor.dimension) {
      reader_.report_found(position, "wrong number of entries", std::to_string(items->size()),
                           "1, 2 or 3 numbers or formulas");
      continue;
    }
    VectorName vector;
    vector.is_anchor = true;
    const std::size_t before = reader_.problems().size();
    for (std::size_t k = 0; k < items->size(); ++k) {
      const std::string name = component_name(anchor.name, k);
      const Expr place = quantity((*items)[k], name, allow_parameters | allow_time);
      vector.position.push_back(place);
      vector.velocity.push_back(total_derivative(pool(), place));
      if (names_.taken.contains(anchor.name) && !names_.broken.contains(anchor.name))
        scope_.scalars[name] = {place, vector.velocity.back(), allow_time};
    }
    if (reader_.problems().size() > before) names_.broken.insert(anchor.name);
    if (names_.broken.contains(anchor.name)) continue;
    study_.anchors.push_back({anchor.name, vector.position});
    scope_.vectors[anchor.name] = std::move(vector);
  }
}

void StudyBuilder::read_points() {
  for (std::size_t i = 0; i < bodies_.points.size(); ++i) {
    const NamedPart& point = bodies_.points[i];
    const Table table(reader_, point.entry, {"name", "mass", "position", "velocity"});
    if (const Field mass = table.require("mass", "a number or a formula of parameters"))
      if (const std::optional<Expr> made = formula(mass, allow_parameters)) {
        description_.points[i].mass = *made;
        check_every_member(mass, *made, is_positive, "a mass must be positive", "a finite number > 0");
      }

    const Field position = table.require("position", "1, 2 or 3 numbers: the point's coordinates");
    const Field velocity = table["velocity"];
    const auto read = [&](const Field& field, std::vector<Expr>& made, const std::string& prime,
                          const std::string& expected) {
      auto items = field ? reader_.array(field, expected) : std::nullopt;
      if (items && items->size() != point.dimension) {
        reader_.report_found(field, "wrong number of entries", std::to_string(items->size()), expected);
        items.reset();
      }
      for (std::size_t k = 0; k < point.dimension; ++k)
        made.push_back(items ? quantity((*items)[k], description_.coordinates[point.first + k] + prime)
                             : pool().zero());
    };
    read(position, study_.initial_positions, "", "1, 2 or 3 numbers: the point's coordinates");
    const bool known = position && !names_.broken.contains(point.name);
    if (known || !velocity)
      read(velocity, study_.initial_velocities, "'",
           count_text(point.dimension, "number") + ", as many as in position");
  }
}

void StudyBuilder::read_coordinates() {
  for (const NamedPart& coordinate : bodies_.coordinates) {
    const Table table(reader_, coordinate.entry, {"name", "position", "velocity"});
    const Field position = table.require("position", "a number, a formula of parameters, or a distribution");
    const Field velocity = table["velocity"];
    study_.initial_positions.push_back(position ? quantity(position, coordinate.name) : pool().zero());
    study_.initial_velocities.push_back(velocity ? quantity(velocity, coordinate.name + "'") : pool().zero());
  }
}

void StudyBuilder::read_auxiliaries() {
  for (std::size_t i = 0; i < bodies_.auxiliaries.size(); ++i) {
    const Table table(reader_, bodies_.auxiliaries[i], {"name", "initial", "rate"});
    const Field initial = table.require("initial", "a number, a formula of parameters, or a distribution");
    const Field rate = table.require("rate", "a formula: the time derivative of the state");
    study_.initial_auxiliaries.push_back(initial ? quantity(initial, bodies_.auxiliary_names[i])
                                                 : pool().zero());
    const std::optional<Expr> made = rate ? formula(rate, allow_state) : std::nullopt;
    description_.rates.push_back(made.value_or(pool().zero()));
  }
}

void StudyBuilder::read_system() {
  description_.force.assign(description_.coordinates.size(), pool().zero());
  const Table table(reader_, single_table(reader_, "system"), {"gravity", "kinetic", "potential", "force"});
  if (const Field gravity = table["gravity"]) read_gravity(gravity);
  fields_.kinetic = table["kinetic"];
  if (fields_.kinetic)
    if (const auto made =
            formula(fields_.kinetic, allow_time | allow_parameters | allow_positions | allow_velocities)) {
      description_.kinetic = *made;
      check_kinetic(fields_.kinetic);
      for (const Body& body : description_.bodies) {
        const std::vector<Symbol> symbols = pool().symbols({*made});
        if (!pool().turning({*made}).empty() ||
            std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
              return (symbol.kind == SymbolKind::coordinate || symbol.kind == SymbolKind::velocity) &&
                     symbol.index >= body.first && symbol.index < body.first + body.coordinates();
            }))
          reader_.report(fields_.kinetic, "mentions the body '" + body.name + "'",
                         "the kinetic energy of generalized coordinates alone",
                         "bodies have their own kinetic energy, from mass and inertia");
      }
    }
  if (const Field potential = table["potential"])
    description_.potential =
        formula(potential, allow_time | allow_parameters | allow_positions).value_or(pool().zero());
  if (const Field force = table["force"]) read_force(force);
  turn_torques_into_frames();
}

void StudyBuilder::read_gravity(const Field& field) {
  const auto items = reader_.array(field, "an array, one number for each coordinate of a point");
  if (!items) return;
  for (const Field& item : *items)
    description_.gravity.push_back(formula(item, allow_parameters | allow_time).value_or(pool().zero()));
  if (bodies_.points.empty() && bodies_.bodies.empty() && !names_.lost)
    reader_.report(field, "gravity acts on points and bodies, and there are none",
                   "at least one [[point]] or [[body]]", "for coordinates, write a potential");
  for (const auto* list : {&bodies_.points, &bodies_.bodies})
    for (const NamedPart& part : *list) {
      if (part.dimension == items->size() || names_.broken.contains(part.name)) continue;
      reader_.report_found(field, "wrong number of entries", std::to_string(items->size()),
                           "as many as every point and body has coordinates of its place; '" + part.name +
                               "' has " + std::to_string(part.dimension));
      return;
    }
}

void StudyBuilder::read_force(Field field) {
  if (field.value->set_path.empty()) field.place = "[system.force]";
  if (field.value->kind != Value::Kind::table) {
    reader_.report(field, "not a table", "[system.force] with coordinates as keys");
    return;
  }
  const std::vector<std::string>& names = description_.coordinates;
  for (const Entry& entry : field.value->entries) {
    const auto it = std::find(names.begin(), names.end(), entry.key);
    const Field item = Reader::child(field, entry.value, "\"" + printable(entry.key) + "\"");
    const std::string body = entry.key.substr(0, entry.key.find('.'));
    if (it != names.end() && !entry.key.empty()) {
      const std::optional<Expr> made = formula(item, allow_state);
      description_.force[static_cast<std::size_t>(it - names.begin())] = made.value_or(pool().zero());
    } else if (!names_.lost && !names_.broken.contains(body)) {
      const bool point = scope_.vectors.contains(entry.key);
      const Entry* inner = entry.value.kind == Value::Kind::table && !entry.value.entries.empty()
                               ? &entry.value.entries.front()
                               : nullptr;
      std::string hint = suggestion(entry.key, names);
      if (point) hint = "a point has one force for each coordinate: \"" + entry.key + ".x\"";
      if (point && inner)
        hint = "write a key with a dot in quotes: \"" + entry.key + "." + printable(inner->key) + "\"";
      reader_.report(reader_.document().locate(entry.mark), item.place + ": not a coordinate",
                     "'" + printable(entry.key) + "'", "the name of a coordinate", hint);
    }
  }
}

// Torques are given in body axes.
void StudyBuilder::turn_torques_into_frames() {
  for (const Body& body : description_.bodies) {
    if (!body.nonspinning) continue;
    Expr* const torque = description_.force.data() + body.first_turn();
    const ExprVector turned = BodyFormulas(pool(), body).in_frame({torque[0], torque[1], torque[2]});
    for (std::size_t k = 0; k < 3; ++k) torque[k] = turned[k];
  }
}

// M = T_vv must not depend on v; otherwise the equations of motion would not be linear in the accelerations.
void StudyBuilder::check_kinetic(const Field& field) {
  const auto mentions_velocity = [&](Expr e) { return pool().mentions(e, SymbolKind::velocity); };
  bool quadratic = true;
  for (const Symbol& v : pool().symbols({description_.kinetic})) {
    if (v.kind != SymbolKind::velocity) continue;
    const Expr momentum = derivative(pool(), description_.kinetic, v);
    for (const Symbol& w : pool().symbols({momentum}))
      if (w.kind == SymbolKind::velocity && mentions_velocity(derivative(pool(), momentum, w)))
        quadratic = false;
  }
  // The symbolic derivatives of functions with kinks do not show the kink, so these functions are found by
  // name.
  for (const Expr e : pool().reachable({description_.kinetic})) {
    const Op op = pool().node(e).op;
    const bool kinked = op == Op::abs || op == Op::sign || op == Op::floor || op == Op::minimum ||
                        op == Op::maximum || op == Op::wrap;
    if (kinked && mentions_velocity(e)) quadratic = false;
  }
  if (!quadratic)
    reader_.report(field, "not quadratic in the velocities", "at most squares and products of velocities",
                   "write squares out, as in 0.5*m*(x'^2 + y'^2); abs, sqrt, hypot and speed are not "
                   "recognised as squares");
}

}  // namespace zwang
