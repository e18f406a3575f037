// Reads [[body]] and [[force]]: mass, inertia, place, orientation, velocities, body points and shapes.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"
#include "src/system/body.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t body_limit = 1024, body_point_limit = 64;

// Names that a body has of its own.
bool is_body_name(const std::string& name) {
  static const std::vector<std::string> own = {"x",  "y",  "z",  "angle", "wx", "wy", "wz",   "q0",
                                               "q1", "q2", "q3", "ex",    "ey", "ez", "spin", "momentum"};
  return std::find(own.begin(), own.end(), name) != own.end();
}

}  // namespace

std::vector<Expr> StudyBuilder::quantities(const Field& field, std::size_t count, const std::string& expected,
                                           const std::vector<std::string>& names) {
  std::vector<Expr> made(count, pool().zero());
  const auto items = reader_.array(field, expected);
  if (!items) return made;
  if (items->size() != count) {
    reader_.report_found(field, "wrong number of entries", std::to_string(items->size()), expected);
    return made;
  }
  for (std::size_t k = 0; k < count; ++k)
    made[k] = names.empty() ? formula((*items)[k], allow_parameters).value_or(pool().zero())
                            : quantity((*items)[k], names[k]);
  return made;
}

void StudyBuilder::read_bodies() {
  if (bodies_.bodies.size() > body_limit)
    throw Error({.where = {study_.path, 0, 0},
                 .message = "too many bodies",
                 .found = std::to_string(bodies_.bodies.size()),
                 .expected = "at most " + std::to_string(body_limit)});
  for (std::size_t i = 0; i < bodies_.bodies.size(); ++i) {
    read_body(bodies_.bodies[i], description_.bodies[i]);
    define_body_names(description_.bodies[i]);
  }
}

void StudyBuilder::read_body(const NamedPart& part, Body& made) {
  const Table table(reader_, part.entry,
                    {"name", "mass", "inertia", "position", "orientation", "angle", "velocity",
                     "angular_velocity", "points", "shape", "frame"});
  if (const Field mass = table.require("mass", "a number or a formula of parameters")) {
    made.mass = formula(mass, allow_parameters).value_or(pool().one());
    check_every_member(mass, made.mass, is_positive, "a mass must be positive", "a finite number > 0");
  }
  const char* const inertia_form = made.spatial()
                                       ? "[Ixx, Iyy, Izz], or the 3 x 3 matrix, about the centre of mass"
                                       : "one number: the moment of inertia about the centre of mass";
  if (const Field inertia = table.require("inertia", inertia_form)) read_inertia(inertia, made);
  const Field position = table.require("position", "two or three numbers: the place of the centre of mass");
  std::vector<std::string> names;
  for (std::size_t k = 0; k < made.dimension; ++k) names.push_back(component_name(made.name, k));
  const std::vector<Expr> place =
      position && !names_.broken.contains(made.name)
          ? quantities(position, made.dimension, "the place of the centre of mass", names)
          : std::vector<Expr>(made.dimension, pool().zero());
  study_.initial_positions.insert(study_.initial_positions.end(), place.begin(), place.end());
  read_orientation(table, made);
  if (const Field frame = table["frame"]) read_frame(frame, made);
  read_body_velocity(table, made);
  if (const Field points = table["points"]) read_body_points(points, made);
  if (const Field shape = table["shape"]) read_shape(shape, made);
}

// One number in the plane; in space three principal moments, or the whole matrix [body-4].
void StudyBuilder::read_inertia(const Field& field, Body& made) {
  if (!made.spatial()) {
    if (field.value->kind == Value::Kind::array) {
      reader_.report(field, "a body in the plane has one moment of inertia", "one number");
      return;
    }
    made.inertia[0] = formula(field, allow_parameters).value_or(pool().one());
    check_every_member(field, made.inertia[0], is_positive, "a moment of inertia must be positive",
                       "a finite number > 0");
    return;
  }
  const char* const form = "[Ixx, Iyy, Izz], or a 3 x 3 matrix [[..], [..], [..]]";
  const auto items = reader_.array(field, form);
  if (!items) return;
  if (items->size() != 3) {
    reader_.report_found(field, "wrong number of entries", std::to_string(items->size()), form);
    return;
  }
  made.inertia.assign(6, pool().zero());
  if (items->front().value->kind != Value::Kind::array) {
    for (std::size_t k = 0; k < 3; ++k)
      made.inertia[k] = formula((*items)[k], allow_parameters).value_or(pool().one());
  } else {
    std::vector<std::vector<Expr>> rows;
    for (const Field& row : *items)
      rows.push_back(quantities(row, 3, "three numbers: a row of the inertia", {}));
    const std::size_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [i, j] = pairs[k];
      made.inertia[k] = rows[k][k];
      made.inertia[3 + k] = rows[i][j];
      const Evaluated off = evaluate(pool().subtract(rows[i][j], rows[j][i]));
      if (off.state == State::constant && off.value != 0)
        reader_.report_found(field, "the inertia is not symmetric",
                             "entries " + std::to_string(i + 1) + "," + std::to_string(j + 1) + " and " +
                                 std::to_string(j + 1) + "," + std::to_string(i + 1) + " differ",
                             "a symmetric matrix");
    }
  }
  check_inertia(field, made);
}

// [body-4] Principal moments are positive, and none exceeds the sum of the other two.
void StudyBuilder::check_inertia(const Field& field, const Body& made) {
  const std::vector<Expr>& I = made.inertia;
  const char* const expected = "positive principal moments, none larger than the sum of the other two";
  const auto moments_of = [](const std::array<double, 6>& v) {
    Eigen::Matrix3d matrix;
    matrix << v[0], v[3], v[4], v[3], v[1], v[5], v[4], v[5], v[2];
    return Eigen::Vector3d(Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(matrix).eigenvalues());
  };
  std::array<double, 6> values{};
  bool constant = true;
  for (std::size_t k = 0; k < 6; ++k) {
    const Evaluated one = evaluate(I[k]);
    constant = constant && one.state == State::constant;
    values[k] = one.value;
  }
  if (constant) {
    const Eigen::Vector3d moments = moments_of(values);
    const bool sound = moments(0) > 0 && moments(2) <= (moments(0) + moments(1)) * (1 + 1e-12);
    if (!sound || !moments.allFinite())
      reader_.report_found(field, "no rigid body has this inertia",
                           "principal moments " + number_text(moments(0)) + ", " + number_text(moments(1)) +
                               " and " + number_text(moments(2)),
                           expected);
    return;
  }
  // Sylvester's minors, and the same of trace/2 - I, whose eigenvalues are the excesses of the triangle inequality.
  const auto product = [&](Expr a, Expr b) { return pool().multiply(a, b); };
  const auto minors = [&](Expr xx, Expr yy, Expr zz, Expr xy, Expr xz, Expr yz) {
    const Expr two = pool().subtract(product(xx, yy), pool().square(xy));
    const Expr three =
        pool().add(pool().subtract(product(xx, pool().subtract(product(yy, zz), pool().square(yz))),
                                   product(xy, pool().subtract(product(xy, zz), product(yz, xz)))),
                   product(xz, pool().subtract(product(xy, yz), product(yy, xz))));
    return std::vector<Expr>{xx, two, three};
  };
  for (const Expr minor : minors(I[0], I[1], I[2], I[3], I[4], I[5]))
    check_every_member(field, minor, is_positive,
                       "no rigid body has this inertia: it is not positive definite", expected);
  const Expr half = product(pool().constant(0.5 * (1 + 1e-12)), pool().add(pool().add(I[0], I[1]), I[2]));
  const auto excess = [&](std::size_t k) { return pool().subtract(half, I[k]); };
  for (const Expr minor :
       minors(excess(0), excess(1), excess(2), pool().negate(I[3]), pool().negate(I[4]), pool().negate(I[5])))
    check_every_member(field, minor, is_not_negative,
                       "no rigid body has this inertia: a principal moment exceeds the sum of the others",
                       expected);
}

void StudyBuilder::read_body_velocity(const Table& table, const Body& made) {
  const Field velocity = table["velocity"], spin = table["angular_velocity"];
  std::vector<std::string> names;
  for (std::size_t k = 0; k < made.dimension; ++k) names.push_back(component_name(made.name, k) + "'");
  std::vector<Expr> rates(made.dimension, pool().zero());
  if (velocity)
    rates = quantities(velocity, made.dimension,
                       std::to_string(made.dimension) + " numbers, as many as in position", names);
  study_.initial_velocities.insert(study_.initial_velocities.end(), rates.begin(), rates.end());
  if (!made.spatial()) {
    const bool array = spin && spin.value->kind == Value::Kind::array;
    if (array)
      reader_.report(spin, "a body in the plane has one angular velocity", "one number, not an array");
    study_.initial_velocities.push_back(spin && !array ? quantity(spin, made.name + ".angle'")
                                                       : pool().zero());
    return;
  }
  rates.assign(3, pool().zero());
  if (spin)
    rates = quantities(spin, 3, "three numbers: the angular velocity in body axes",
                       {made.name + ".wx", made.name + ".wy", made.name + ".wz"});
  study_.initial_velocities.insert(study_.initial_velocities.end(), rates.begin(), rates.end());
}

void StudyBuilder::read_body_points(const Field& field, Body& made) {
  const std::string numbers =
      std::to_string(made.dimension) + " numbers: the place from the centre of mass, body axes";
  if (field.value->kind != Value::Kind::table) {
    reader_.report(field, "not a table", "points = { corner = [..] }");
    return;
  }
  if (field.value->entries.size() > body_point_limit)
    reader_.report_found(field, "too many points", std::to_string(field.value->entries.size()),
                         "at most " + std::to_string(body_point_limit) + " on a body");
  for (const Entry& entry : field.value->entries) {
    const Field item = Reader::child(field, entry.value, entry.key);
    if (!is_name(entry.key) || is_body_name(entry.key)) {
      reader_.report(reader_.document().locate(entry.mark), item.place + ": not a name for a body point",
                     "'" + printable(entry.key) + "'",
                     "letters, digits and _, and not a name that every body has, such as x, angle or ex");
      continue;
    }
    made.points.push_back({entry.key, quantities(item, made.dimension, numbers, {})});
  }
}

// A body point by its name, without that of the body.
std::optional<std::size_t> StudyBuilder::body_point(const Field& field, const Body& body) {
  const auto name = reader_.string(field, "the name of a point of the body");
  if (!name) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < body.points.size(); ++i) {
    if (body.points[i].name == *name) return i;
    names.push_back(body.points[i].name);
  }
  reader_.report(
      field, "the body '" + body.name + "' has no such point",
      names.empty() ? "a name from its points, and it has none" : "one of: " + list_text(names, "or"),
      suggestion(*name, names));
  return {};
}

void StudyBuilder::read_shape(const Field& field, Body& made) {
  const char* const form =
      "{ sphere = R }, { disc = R }, { corners = [..] } or { capsule = { ends = [..], radius = r } }";
  if (field.value->kind != Value::Kind::table || field.value->entries.size() != 1) {
    reader_.report(field, "not a shape", form);
    return;
  }
  const Table table(reader_, field, {"sphere", "disc", "corners", "capsule"});
  using Kind = BodyShape::Kind;
  const auto read_radius = [&](const Field& radius) {
    made.shape.radius = formula(radius, allow_parameters).value_or(pool().one());
    check_every_member(radius, made.shape.radius, is_positive, "a radius must be positive",
                       "a finite number > 0");
  };
  const auto read_points = [&](const Field& list, const char* expected) {
    const auto items = reader_.array(list, expected);
    if (!items) return;
    for (const Field& item : *items)
      if (const auto point = body_point(item, made)) made.shape.points.push_back(*point);
  };
  if (const Field sphere = table["sphere"]) {
    made.shape.kind = Kind::sphere;
    read_radius(sphere);
  } else if (const Field disc = table["disc"]) {
    made.shape.kind = made.spatial() ? Kind::disc : Kind::sphere;
    read_radius(disc);
  } else if (const Field corners = table["corners"]) {
    made.shape.kind = Kind::corners;
    read_points(corners, "a list of names of body points");
  } else if (const Field capsule = table["capsule"]) {
    const Table parts(reader_, capsule, {"ends", "radius"});
    const Field ends = parts.require("ends", "the names of two body points"),
                radius = parts.require("radius", "a number > 0");
    made.shape.kind = Kind::capsule;
    if (radius) read_radius(radius);
    const std::size_t before = reader_.problems().size();
    if (ends) read_points(ends, "the names of two body points");
    if (ends && made.shape.points.size() != 2 && reader_.problems().size() == before)
      reader_.report_found(ends, "a capsule has two ends", std::to_string(made.shape.points.size()),
                           "the names of two body points");
  }
}

const VectorName* StudyBuilder::place_named(const Field& field, std::string& name) {
  const char* const expected = "the name of a point, a body, a body point or an anchor";
  const auto text = reader_.string(field, expected);
  if (!text) return nullptr;
  name = *text;
  const auto found = scope_.vectors.find(name);
  if (found != scope_.vectors.end() && found->second.is_place) return &found->second;
  if (follows_from_earlier_error(name)) return nullptr;
  std::vector<std::string> known;
  for (const auto& [word, vector] : scope_.vectors)
    if (vector.is_place) known.push_back(word);
  const std::string owner = name.substr(0, name.find('.'));
  const auto body = std::find_if(description_.bodies.begin(), description_.bodies.end(),
                                 [&](const Body& one) { return one.name == owner; });
  if (body != description_.bodies.end() && owner.size() < name.size()) {
    std::vector<std::string> points;
    for (const BodyPoint& point : body->points) points.push_back(owner + "." + point.name);
    reader_.report(
        field, "the body '" + owner + "' has no such point",
        points.empty() ? "a name from its points, and it has none" : "one of: " + list_text(points, "or"),
        suggestion(name, points));
  } else {
    reader_.report(field, "not a point, a body, a body point or an anchor", expected,
                   suggestion(name, known));
  }
  return nullptr;
}

// [[force]]: a force in space axes that acts at a place.
void StudyBuilder::read_forces() {
  std::size_t number = 0;
  for (Field entry : repeated_table(reader_, "force")) {
    entry.place = "force number " + std::to_string(++number);
    const Table table(reader_, entry, {"on", "vector"});
    const Field on = table.require("on", "the name of a point, a body or a body point"),
                vector = table.require("vector", "the components of the force, space axes");
    if (!on || !vector) continue;
    std::string name;
    const VectorName* place = place_named(on, name);
    if (!place) continue;
    if (place->is_anchor) {
      reader_.report(on, "an anchor has prescribed motion", "the name of a point, a body or a body point");
      continue;
    }
    const auto items = reader_.array(vector, "the components of the force, space axes");
    if (!items) continue;
    if (items->size() != place->position.size()) {
      reader_.report_found(vector, "wrong number of entries", std::to_string(items->size()),
                           std::to_string(place->position.size()) + ", as '" + name + "' has coordinates");
      continue;
    }
    std::vector<Expr> force;
    for (const Field& item : *items) force.push_back(formula(item, allow_state).value_or(pool().zero()));
    add_force_at(pool(), place->position, force, description_.force);
  }
}

}  // namespace zwang
