// Reads the orientation of a [[body]]: its angle in the plane, its quaternion and frame in space.
#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/system/body.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

const char* const orientation_form =
    "[w, x, y, z], a quaternion, { axis = [x, y, z], angle = \"...\" }, or \"uniform\"";

}  // namespace

// The angle of a planar body is a coordinate; the quaternion of a spatial one becomes the start of its four states.
void StudyBuilder::read_orientation(const Table& table, const Body& made) {
  const Field orientation = table["orientation"], angle = table["angle"];
  if (!made.spatial()) {
    if (orientation)
      reader_.report(orientation, "a body in the plane has no quaternion",
                     "angle = 0.3, one number in radians",
                     "angle = { uniform = [0, \"2*pi\"] } is a uniform orientation");
    study_.initial_positions.push_back(angle ? quantity(angle, made.name + ".angle") : pool().zero());
    return;
  }
  if (angle)
    reader_.report(angle, "a body in space has no single angle",
                   std::string("orientation = ") + orientation_form);
  for (int k = 0; k < 3; ++k) study_.initial_positions.push_back(pool().zero());
  std::vector<Expr> q = {pool().one(), pool().zero(), pool().zero(), pool().zero()};
  if (orientation && orientation.value->kind == Value::Kind::string)
    q = read_uniform_orientation(orientation, made.name);
  else if (orientation)
    q = orientation.value->kind == Value::Kind::table ? read_axis_and_angle(orientation, made.name)
                                                      : read_quaternion(orientation, made.name);
  bodies_.orientations.insert(bodies_.orientations.end(), q.begin(), q.end());
  if (made.nonspinning) bodies_.orientations.push_back(pool().zero());
}

// The axes in which the orientation and its velocities are integrated.
void StudyBuilder::read_frame(const Field& field, const Body& made) {
  const auto word = reader_.choice(field, {"body", "nonspinning"});
  if (!word || *word == "body") return;
  const char* const form = "inertia = [a, a, b], with the same a";
  if (!made.spatial()) {
    reader_.report(field, "a body in the plane has no such frame", "no frame, or a body in space");
    return;
  }
  const std::vector<Expr>& I = made.inertia;
  const bool diagonal = pool().is_zero(I[3]) && pool().is_zero(I[4]) && pool().is_zero(I[5]);
  if (!diagonal || I[0] != I[1])
    reader_.report(field, "a frame that does not spin needs a body that is symmetric about its z axis", form);
}

std::vector<Expr> StudyBuilder::read_quaternion(const Field& field, const std::string& body) {
  return unit_quaternion(field, quantities(field, 4, orientation_form,
                                           {body + ".q0", body + ".q1", body + ".q2", body + ".q3"}));
}

// Four independent standard normals: their direction is uniform on the sphere, and so is the orientation.
std::vector<Expr> StudyBuilder::read_uniform_orientation(const Field& field, const std::string& body) {
  std::vector<Expr> q(4, pool().zero());
  if (field.value->text != "uniform") {
    reader_.report(field, "not an orientation", orientation_form);
    q[0] = pool().one();
    return q;
  }
  for (std::size_t k = 0; k < 4; ++k) {
    ParameterRule rule;
    rule.name = body + ".q" + std::to_string(k);
    rule.distribution = Distribution{.kind = Distribution::Kind::normal,
                                     .arguments = {pool().zero(), pool().one()},
                                     .file = "",
                                     .column = "",
                                     .file_values = {}};
    const ParameterFact fact = {State::drawn, 0, range(*rule.distribution)};
    q[k] = pool().symbol(SymbolKind::parameter, add_parameter(std::move(rule), fact));
  }
  return unit_quaternion(field, q);
}

std::vector<Expr> StudyBuilder::unit_quaternion(const Field& field, const std::vector<Expr>& q) {
  const Expr squares = dot(pool(), q, q);
  // Four normal draws have length 0 at the nominal member only, which then has the orientation of the body axes.
  const Evaluated size = evaluate(squares);
  if (size.state == State::constant && !(size.value > 0))
    reader_.report(field, "a quaternion of length 0 is no orientation", orientation_form);
  const Expr one = pool().one(), length = pool().apply(Op::sqrt, squares);
  std::vector<Expr> made;
  for (std::size_t k = 0; k < 4; ++k)
    made.push_back(
        pool().if_less(pool().zero(), squares, pool().divide(q[k], length), k == 0 ? one : pool().zero()));
  return made;
}

std::vector<Expr> StudyBuilder::read_axis_and_angle(const Field& field, const std::string& body) {
  const Table table(reader_, field, {"axis", "angle"});
  const Field axis = table.require("axis", "three numbers: the axis of the rotation"),
              angle = table.require("angle", "a number in radians, a formula or a distribution");
  if (!axis || !angle) return {pool().one(), pool().zero(), pool().zero(), pool().zero()};
  const std::vector<Expr> along = quantities(axis, 3, "three numbers: the axis of the rotation",
                                             {body + ".axis.x", body + ".axis.y", body + ".axis.z"});
  const Expr squares = dot(pool(), along, along);
  check_every_member(axis, squares, is_positive, "an axis of length 0 has no direction",
                     "three numbers, not all 0");
  const Expr half = pool().multiply(pool().constant(0.5), quantity(angle, body + ".angle"));
  const Expr scale = pool().divide(pool().apply(Op::sin, half), pool().apply(Op::sqrt, squares));
  std::vector<Expr> q = {pool().apply(Op::cos, half)};
  for (const Expr e : along) q.push_back(pool().multiply(scale, e));
  return q;
}

void StudyBuilder::add_orientation_states() {
  study_.initial_auxiliaries.insert(study_.initial_auxiliaries.end(), bodies_.orientations.begin(),
                                    bodies_.orientations.end());
  for (const Body& body : description_.bodies) {
    if (!body.spatial()) continue;
    const std::vector<Expr> rates = BodyFormulas(pool(), body).orientation_rates();
    description_.rates.insert(description_.rates.end(), rates.begin(), rates.end());
  }
}

}  // namespace zwang
