// The names of rigid bodies: coordinates, rates, quaternions, axes, angular velocity and momentum, body points.
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/formula/scope.h"
#include "src/system/body.h"
#include "src/system/system.h"

namespace zwang {

// Coordinates of the place, then of the rotation [body-1].
void StudyBuilder::register_body(NamedPart& part) {
  if (part.dimension == 1) {
    const Field position = Reader::child(part.entry, part.entry.value->find("position")->value, "position");
    reader_.report_found(position, "a body moves in the plane or in space", "1 entry",
                         "two numbers for a planar body, three for a body in space",
                         "on a line write a [[point]]");
    names_.broken.insert(part.name);
    part.dimension = 3;
  }
  Body body;
  body.name = part.name;
  body.dimension = part.dimension;
  body.first = part.first = description_.coordinates.size();
  body.mass = pool().one();
  body.inertia.assign(body.spatial() ? 6 : 1, pool().one());
  const Entry* frame = part.entry.value->find("frame");
  body.nonspinning = body.spatial() && frame && frame->value.text == "nonspinning";
  VectorName centre;
  for (std::size_t k = 0; k < body.dimension; ++k) {
    const std::string name = component_name(part.name, k);
    description_.coordinates.push_back(name);
    centre.position.push_back(pool().symbol(SymbolKind::coordinate, body.first + k));
    centre.velocity.push_back(pool().symbol(SymbolKind::velocity, body.first + k));
    scope_.scalars[name] = {centre.position.back(), centre.velocity.back(), allow_positions};
  }
  const std::vector<std::string> turns =
      body.spatial() ? std::vector<std::string>{".wx", ".wy", ".wz"} : std::vector<std::string>{".angle"};
  for (const std::string& turn : turns) {
    const std::size_t index = description_.coordinates.size();
    const std::string name = part.name + turn;
    description_.coordinates.push_back(name);
    const Expr rate = pool().symbol(SymbolKind::velocity, index);
    scope_.scalars[name] =
        body.spatial() ? ScalarName{rate, {}, allow_positions | allow_velocities}
                       : ScalarName{pool().symbol(SymbolKind::coordinate, index), rate, allow_positions};
  }
  scope_.vectors[part.name] = centre;
  description_.bodies.push_back(std::move(body));
}

// The four states of an orientation come after the auxiliary states of the study.
void StudyBuilder::register_orientation(std::size_t index) {
  Body& body = description_.bodies[index];
  VectorName& centre = scope_.vectors[body.name];
  if (!body.spatial()) {
    centre.rotation = pool().symbol(SymbolKind::coordinate, body.first_turn());
    return;
  }
  body.state = description_.auxiliaries.size();
  for (const char* name : {".q0", ".q1", ".q2", ".q3"}) description_.auxiliaries.push_back(body.name + name);
  if (body.nonspinning) description_.auxiliaries.push_back(body.name + ".spun");
  const BodyFormulas formulas(pool(), body);
  // Names are those of the body axes, whatever the axes of the states.
  const ExprVector rates = formulas.rates();
  for (std::size_t k = 0; k < 3; ++k)
    scope_.scalars[description_.coordinates[body.first_turn() + k]].value = rates[k];
  const std::vector<Expr> q = formulas.orientation();
  for (std::size_t k = 0; k < 4; ++k)
    scope_.scalars[description_.auxiliaries[body.state + k]] = {
        q[k], {}, allow_positions | allow_quaternions};
  // 2 atan2(|(q1, q2, q3)|, |q0|): q and -q are one orientation.
  Expr squares = pool().zero();
  for (std::size_t k = 1; k < 4; ++k) squares = pool().add(squares, pool().square(q[k]));
  centre.rotation =
      pool().multiply(pool().constant(2),
                      pool().apply(Op::atan2, pool().apply(Op::sqrt, squares), pool().apply(Op::abs, q[0])));
}

// A vector and its components.
void StudyBuilder::define_vector(const std::string& name, const VectorName& vector) {
  for (std::size_t k = 0; k < vector.position.size(); ++k) {
    ScalarName component{vector.position[k], {}, vector.needs};
    if (!vector.velocity.empty()) component.rate = vector.velocity[k];
    scope_.scalars[component_name(name, k)] = component;
  }
  scope_.vectors[name] = vector;
}

// Body points, axes, angular velocity and angular momentum.
void StudyBuilder::define_body_names(const Body& body) {
  const BodyFormulas formulas(pool(), body);
  for (const BodyPoint& point : body.points) {
    VectorName place;
    place.position = formulas.at(point.offset);
    place.velocity = velocity_of(pool(), place.position);
    define_vector(body.name + "." + point.name, place);
  }
  const char* const axes[] = {".ex", ".ey", ".ez"};
  for (std::size_t k = 0; k < body.dimension; ++k) {
    VectorName axis;
    axis.is_place = false;
    axis.position = formulas.axis(k);
    axis.velocity = velocity_of(pool(), axis.position);
    define_vector(body.name + axes[k], axis);
  }
  VectorName rotation;
  rotation.is_place = false;
  rotation.needs = allow_positions | allow_velocities;
  rotation.position = formulas.spin();
  define_vector(body.name + ".spin", rotation);
  rotation.position = formulas.momentum();
  define_vector(body.name + ".momentum", rotation);
}

}  // namespace zwang
