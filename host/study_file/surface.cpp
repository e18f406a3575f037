// Reads [[surface]]: half-spaces whose material may move along them.
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/system/body.h"

namespace zwang {

ExprVector StudyBuilder::unit(const ExprVector& a) {
  return times(pool(), pool().divide(pool().one(), length_of(pool(), a)), a);
}

void StudyBuilder::read_surfaces() {
  for (const Field& entry : naming_entries("surface")) {
    const Table table(reader_, entry, {"name", "point", "normal", "velocity", "turning"});
    Surface made;
    made.name = entry_name(entry);
    // Surfaces appear in no formula: their names may be those of functions, such as floor, but not of bodies.
    if (!made.name.empty()) {
      const Location where = reader_.document().locate(entry.value->find("name")->value.mark);
      register_name_in(names_.surfaces, made.name, where, entry.place);
      if (body_named(made.name))
        reader_.report(where, entry.place + ": the name is taken", "'" + made.name + "'",
                       "a name that is not used yet", "it is already the name of a body");
    }
    const std::size_t before = reader_.problems().size();
    const auto read = [&](const Field& field, std::size_t dimension, const std::string& expected) {
      ExprVector vector;
      const auto items = field ? reader_.array(field, expected) : std::nullopt;
      if (!items) return vector;
      const bool fits =
          dimension == 0 ? items->size() == 2 || items->size() == 3 : items->size() == dimension;
      if (!fits) {
        reader_.report_found(field, "wrong number of entries", std::to_string(items->size()), expected);
        return vector;
      }
      for (const Field& item : *items)
        vector.push_back(formula(item, allow_parameters | allow_time).value_or(pool().zero()));
      return vector;
    };
    const Field normal = table.require("normal", "the direction out of the surface: two or three numbers");
    made.normal = read(normal, 0, "two numbers in the plane, three in space");
    const std::size_t dimension = made.normal.size();
    const std::string as_many = std::to_string(dimension) + " numbers, as many as in normal";
    if (const Field point = table.require("point", "a point of the surface"); point && dimension > 0)
      made.point = read(point, dimension, as_many);
    if (dimension > 0) {
      check_value(normal, dot(pool(), made.normal, made.normal), is_positive,
                  "a normal of length 0 has no direction", "numbers that are not all 0");
      made.normal = unit(made.normal);
    }
    // The material moves with the given point, unless it is said to move otherwise.
    made.velocity = velocity_of(pool(), made.point);
    if (const Field velocity = table["velocity"]; velocity && dimension > 0)
      made.velocity = read(velocity, dimension, as_many);
    if (const Field turning = table["turning"]) read_turning(turning, made);
    if (reader_.problems().size() > before)
      names_.broken.insert(made.name);
    else
      surfaces_.push_back(std::move(made));
  }
}

void StudyBuilder::read_turning(const Field& field, Surface& made) {
  if (made.normal.size() == 2) {
    reader_.report(field, "a surface in the plane cannot turn about its normal", "a surface in space");
    return;
  }
  const Table table(reader_, field, {"rate", "about"});
  if (const Field rate = table.require("rate", "the angular velocity about the normal"))
    made.turning = formula(rate, allow_parameters | allow_time).value_or(pool().zero());
  const Field about = table.require("about", "three numbers: a point of the axis");
  const auto items = about ? reader_.array(about, "three numbers: a point of the axis") : std::nullopt;
  if (!items) return;
  if (items->size() != 3) {
    reader_.report_found(about, "wrong number of entries", std::to_string(items->size()),
                         "three numbers: a point of the axis");
    return;
  }
  for (const Field& item : *items)
    made.about.push_back(formula(item, allow_parameters | allow_time).value_or(pool().zero()));
}

const StudyBuilder::Surface* StudyBuilder::surface_named(const std::string& name) const {
  for (const Surface& surface : surfaces_)
    if (surface.name == name) return &surface;
  return nullptr;
}

Expr StudyBuilder::height_above(const Surface& surface, const ExprVector& place) {
  return dot(pool(), surface.normal, minus(pool(), place, surface.point));
}

ExprVector StudyBuilder::material_velocity(const Surface& surface, const ExprVector& place) {
  if (!surface.turning) return surface.velocity;
  const ExprVector arm = minus(pool(), place, surface.about);
  return plus(pool(), surface.velocity, times(pool(), *surface.turning, cross(pool(), surface.normal, arm)));
}

}  // namespace zwang
