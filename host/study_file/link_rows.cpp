// The conditions of links: points that coincide, axes that stay aligned, rotations that vanish, distances, rolling.
#include <array>

#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/system/body.h"
#include "src/system/system.h"

namespace zwang {

// The value where every member starts, as a formula of parameters.
Expr StudyBuilder::at_start(Expr e) {
  Replacements start;
  for (std::size_t i = 0; i < study_.initial_positions.size(); ++i)
    start[pool().symbol(SymbolKind::coordinate, i).id] = study_.initial_positions[i];
  for (std::size_t i = 0; i < study_.initial_auxiliaries.size(); ++i)
    start[pool().symbol(SymbolKind::auxiliary, i).id] = study_.initial_auxiliaries[i];
  start[pool().time().id] = pool().zero();
  return replaced(pool(), e, start);
}

ExprVector StudyBuilder::turned(const LinkEnd& end, const ExprVector& in_body) {
  return end.body ? BodyFormulas(pool(), *end.body).turned(in_body) : in_body;
}

ExprVector StudyBuilder::in_axes_at_start(const LinkEnd& end, const ExprVector& vector) {
  ExprVector made;
  for (std::size_t k = 0; k < vector.size(); ++k) {
    Expr component = vector[k];
    if (end.body) component = dot(pool(), BodyFormulas(pool(), *end.body).axis(k), vector);
    made.push_back(at_start(component));
  }
  return made;
}

// `axis`, a unit vector in the axes of the first end; x if the link has none.
ExprVector StudyBuilder::read_link_axis(const Table& table, const LinkEnd& a) {
  const std::size_t dimension = a.place.size();
  ExprVector axis(dimension, pool().zero());
  axis[0] = pool().one();
  const bool needed = dimension == 3 || table["type"].value->text == "slider";
  if (!needed) return axis;
  const Field field =
      table.require("axis", std::to_string(dimension) + " numbers: the axis in body axes of the first");
  if (!field) return axis;
  const std::size_t before = reader_.problems().size();
  axis = quantities(field, dimension,
                    std::to_string(dimension) + " numbers: the axis in body axes of the first", {});
  check_every_member(field, dot(pool(), axis, axis), is_positive, "an axis of length 0 has no direction",
                     "numbers that are not all 0");
  if (reader_.problems().size() > before) {
    axis.assign(dimension, pool().zero());
    axis[0] = pool().one();
  }
  return unit(axis);
}

std::vector<StudyBuilder::LinkRow> StudyBuilder::coincidence(const LinkEnd& a, const LinkEnd& b) {
  std::vector<LinkRow> rows;
  for (const Expr e : minus(pool(), a.place, b.place)) {
    LinkRow row;
    row.value = e;
    row.end_gradient = pool().one();
    rows.push_back(row);
  }
  return rows;
}

// The axis of the first end stays perpendicular to two directions of the second: those across the axis as it lies in
// the second at the start, or across `axis_b`.
std::vector<StudyBuilder::LinkRow> StudyBuilder::axes_aligned(const Table& table, const LinkEnd& a,
                                                              const LinkEnd& b, const ExprVector& axis) {
  ExprVector other = in_axes_at_start(b, turned(a, axis));
  if (const Field field = table["axis_b"]) {
    const ExprVector written = quantities(field, 3, "three numbers: the axis in body axes of the second", {});
    check_every_member(field, dot(pool(), written, written), is_positive,
                       "an axis of length 0 has no direction", "three numbers, not all 0");
    other = unit(written);
  }
  std::vector<LinkRow> rows;
  for (const ExprVector& across_axis : tangents(pool(), other)) {
    LinkRow row;
    row.value = dot(pool(), turned(a, axis), turned(b, across_axis));
    row.is_force = false;
    rows.push_back(row);
  }
  return rows;
}

// In space the entries of the relative rotation that vanish to first order; in the plane the difference of angles.
std::vector<StudyBuilder::LinkRow> StudyBuilder::no_rotation(const LinkEnd& a, const LinkEnd& b) {
  std::vector<LinkRow> rows;
  LinkRow row;
  row.is_force = false;
  if (a.place.size() == 2) {
    const auto angle = [&](const LinkEnd& end) {
      return end.body ? pool().symbol(SymbolKind::coordinate, end.body->first_turn()) : pool().zero();
    };
    const Expr difference = pool().subtract(angle(a), angle(b));
    row.value = pool().subtract(difference, at_start(difference));
    return {row};
  }
  std::array<ExprVector, 3> in_a, in_b;
  for (std::size_t k = 0; k < 3; ++k) {
    in_a[k].assign(3, pool().zero());
    in_a[k][k] = pool().one();
    in_b[k] = in_axes_at_start(b, turned(a, in_a[k]));
  }
  for (std::size_t k = 0; k < 3; ++k) {
    row.value = dot(pool(), turned(a, in_a[k]), turned(b, in_b[(k + 1) % 3]));
    rows.push_back(row);
  }
  return rows;
}

// No offset across the axis, which is fixed on the first end.
std::vector<StudyBuilder::LinkRow> StudyBuilder::offset_along(const LinkEnd& a, const LinkEnd& b,
                                                              const ExprVector& axis) {
  std::vector<LinkRow> rows;
  const ExprVector offset = minus(pool(), b.place, a.place);
  for (const ExprVector& across_axis : tangents(pool(), axis)) {
    LinkRow row;
    row.value = dot(pool(), offset, turned(a, across_axis));
    row.end_gradient = pool().one();
    rows.push_back(row);
  }
  return rows;
}

std::vector<StudyBuilder::LinkRow> StudyBuilder::distance_row(const Table& table, const LinkEnd& a,
                                                              const LinkEnd& b, bool string) {
  LinkRow row;
  row.equation = !string;
  row.difference = minus(pool(), a.place, b.place);
  Expr squares = pool().zero();
  for (const Expr e : row.difference) squares = pool().add(squares, pool().square(e));
  const Field length = table["length"];
  const Expr distance = pool().apply(Op::sqrt, squares);
  const Expr R = length ? quantity(length, table["name"].value->text + ".length") : at_start(distance);
  check_value(length ? length : table["between"], R, is_positive, "a length must be positive",
              "a number > 0");
  row.value =
      pool().divide(pool().subtract(squares, pool().square(R)), pool().multiply(pool().constant(2), R));
  row.end_gradient = pool().divide(distance, R);
  row.radius = R;
  return {row};
}

// The slip of a contact between a body and a surface or another body vanishes.
std::vector<StudyBuilder::LinkRow> StudyBuilder::rolling_rows(const Field& entry, const Table& table) {
  const char* const form = "[\"ball\"] with on = \"floor\", or [\"ball\", \"floor\"]";
  const Field between = table.require("between", form), on = table["on"];
  if (!between) return {};
  std::vector<std::string> names;
  if (between.value->kind == Value::Kind::string) {
    names.push_back(between.value->text);
  } else if (const auto items = reader_.array(between, form)) {
    for (const Field& item : *items) names.push_back(reader_.string(item, form).value_or(""));
  }
  if (on) names.push_back(reader_.string(on, "a surface, or a body with a shape").value_or(""));
  if (names.size() != 2) {
    reader_.report_found(between, "what rolls on what is not clear", std::to_string(names.size()) + " names",
                         form);
    return {};
  }
  const std::vector<ContactCondition> contacts = contact_conditions(between, names[0], names[1]);
  if (contacts.size() > 1)
    reader_.report_found(entry, "a shape with several places of contact does not roll",
                         std::to_string(contacts.size()) + " places", "a sphere or a disc");
  std::vector<LinkRow> rows;
  if (contacts.size() != 1) return rows;
  for (const Expr slip : contacts.front().slip) {
    LinkRow row;
    row.value = slip;
    row.holonomic = false;
    row.end_gradient = pool().one();
    rows.push_back(row);
  }
  return rows;
}

// Dry friction of the direction that a hinge or slider leaves free: its speed is zero while the force needed for that
// is within the limit.
std::optional<StudyBuilder::LinkRow> StudyBuilder::dry_row(const std::string& type, const LinkEnd& a,
                                                           const LinkEnd& b, const ExprVector& axis) {
  LinkRow row;
  row.holonomic = false;
  row.is_force = false;
  const auto spin = [&](const LinkEnd& end) {
    return end.body ? BodyFormulas(pool(), *end.body).spin() : ExprVector(3, pool().zero());
  };
  if (type == "slider") {
    const ExprVector speed = velocity_of(pool(), minus(pool(), b.place, a.place));
    row.value = dot(pool(), turned(a, axis), speed);
  } else if (a.place.size() == 2) {
    row.value = pool().subtract(spin(a)[2], spin(b)[2]);
  } else {
    row.value = dot(pool(), turned(a, axis), minus(pool(), spin(a), spin(b)));
  }
  return row;
}

}  // namespace zwang
