// Reads [[contact]]: conditions between the shapes of bodies and surfaces, with the slip of the touching material.
#include <algorithm>

#include "host/study_file/builder.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/system/body.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using ShapeKind = BodyShape::Kind;

const char* const pairs_of_shapes =
    "sphere (or disc), corners or capsule with a surface; sphere with sphere; capsule with sphere";

std::string shape_name(const Body& body) {
  switch (body.shape.kind) {
    case ShapeKind::sphere:
      return body.spatial() ? "sphere" : "disc";
    case ShapeKind::disc:
      return "disc";
    case ShapeKind::corners:
      return "corners";
    case ShapeKind::capsule:
      return "capsule";
    default:
      return "no shape";
  }
}

}  // namespace

const Body* StudyBuilder::body_named(const std::string& name) const {
  for (const Body& body : description_.bodies)
    if (body.name == name) return &body;
  return nullptr;
}

// x' + omega x (place - x): of the material of the body that is at a place.
ExprVector StudyBuilder::material_velocity(const Body& body, const ExprVector& place) {
  const BodyFormulas formulas(pool(), body);
  const ExprVector arm = minus(pool(), place, formulas.centre());
  const ExprVector own = velocity_of(pool(), formulas.centre()), spin = formulas.spin();
  if (body.spatial()) return plus(pool(), own, cross(pool(), spin, arm));
  return plus(pool(), own,
              {pool().negate(pool().multiply(spin[2], arm[1])), pool().multiply(spin[2], arm[0])});
}

// A sphere of a body: f = R - n (x - p), touching at x - R n.
StudyBuilder::ContactCondition StudyBuilder::on_surface(const Body& body, const ExprVector& centre,
                                                        Expr radius, const Surface& surface) {
  ContactCondition made;
  made.value = pool().subtract(radius, height_above(surface, centre));
  made.end_gradient = pool().one();
  const ExprVector touching = minus(pool(), centre, times(pool(), radius, surface.normal));
  made.slip = across(surface.normal,
                     minus(pool(), material_velocity(body, touching), material_velocity(surface, touching)));
  return made;
}

// A thin disc whose axis is the body's z: its lowest point is x - R u, u the direction in the disc that is nearest to
// the normal. Not defined while the disc lies flat.
StudyBuilder::ContactCondition StudyBuilder::disc_on_surface(const Body& body, const Surface& surface) {
  const BodyFormulas formulas(pool(), body);
  const ExprVector axis = formulas.axis(2);
  const Expr lean = dot(pool(), surface.normal, axis);
  const Expr steep = pool().apply(Op::sqrt, pool().subtract(pool().one(), pool().square(lean)));
  const ExprVector upward = times(pool(), pool().divide(pool().one(), steep),
                                  minus(pool(), surface.normal, times(pool(), lean, axis)));
  ContactCondition made;
  made.value =
      pool().subtract(pool().multiply(body.shape.radius, steep), height_above(surface, formulas.centre()));
  made.end_gradient = pool().one();
  const ExprVector touching = minus(pool(), formulas.centre(), times(pool(), body.shape.radius, upward));
  made.slip = across(surface.normal,
                     minus(pool(), material_velocity(body, touching), material_velocity(surface, touching)));
  return made;
}

// Two spheres with centres a and b: (R^2 - d^2)/(2R) <= 0 with R the sum of the radii, as for distances.
StudyBuilder::ContactCondition StudyBuilder::of_spheres(const Body& first, const ExprVector& a,
                                                        Expr first_radius, const Body& second,
                                                        const ExprVector& b, Expr second_radius) {
  ContactCondition made;
  const Expr R = pool().add(first_radius, second_radius);
  const ExprVector between = minus(pool(), b, a);
  Expr squares = pool().zero();
  for (const Expr e : between) squares = pool().add(squares, pool().square(e));
  made.value =
      pool().divide(pool().subtract(pool().square(R), squares), pool().multiply(pool().constant(2), R));
  const Expr distance = pool().apply(Op::sqrt, squares);
  made.end_gradient = pool().divide(distance, R);
  const ExprVector normal = times(pool(), pool().divide(pool().one(), distance), between);
  const ExprVector on_first = plus(pool(), a, times(pool(), first_radius, normal)),
                   on_second = minus(pool(), b, times(pool(), second_radius, normal));
  made.slip =
      across(normal, minus(pool(), material_velocity(first, on_first), material_velocity(second, on_second)));
  return made;
}

ExprVector StudyBuilder::nearest_on_segment(const ExprVector& a, const ExprVector& b, const ExprVector& to) {
  const ExprVector along = minus(pool(), b, a);
  const Expr share = pool().divide(dot(pool(), minus(pool(), to, a), along), dot(pool(), along, along));
  const Expr inside =
      pool().apply(Op::minimum, pool().one(), pool().apply(Op::maximum, pool().zero(), share));
  return plus(pool(), a, times(pool(), inside, along));
}

std::vector<StudyBuilder::ContactCondition> StudyBuilder::contact_conditions(const Field& field,
                                                                             const std::string& first,
                                                                             const std::string& second) {
  const Body *a = body_named(first), *b = body_named(second);
  const Surface* surface = surface_named(a ? second : first);
  if (surface && !a) std::swap(a, b);
  const auto refuse = [&](const std::string& message, const std::string& found) {
    reader_.report_found(field, message, found, pairs_of_shapes);
    return std::vector<ContactCondition>{};
  };
  if (!a || (!b && !surface)) {
    if (follows_from_earlier_error(first) || follows_from_earlier_error(second)) return {};
    std::vector<std::string> known;
    for (const Body& body : description_.bodies) known.push_back(body.name);
    for (const Surface& one : surfaces_) known.push_back(one.name);
    const std::string& unknown = body_named(first) || surface_named(first) ? second : first;
    const bool two_surfaces = surface_named(first) && surface_named(second);
    reader_.report_found(
        field, two_surfaces ? "two surfaces cannot touch" : "not a body with a shape, or a surface",
        two_surfaces ? first + " and " + second : "'" + unknown + "'", "two bodies, or a body and a surface",
        two_surfaces ? "" : suggestion(unknown, known));
    return {};
  }
  if (surface ? a->dimension != surface->normal.size() : a->dimension != b->dimension)
    return refuse("shapes of different dimensions",
                  "'" + a->name + "' has " + std::to_string(a->dimension) + " dimensions, '" +
                      (surface ? surface->name : b->name) + "' has " +
                      std::to_string(surface ? surface->normal.size() : b->dimension));
  if (!surface && a == b) return refuse("a body does not touch itself", "'" + a->name + "' twice");
  for (const Body* body : {a, b})
    if (body && body->shape.kind == ShapeKind::none)
      return refuse("the body '" + body->name + "' has no shape", "no shape");
  const BodyFormulas of_a(pool(), *a);
  const auto point = [&](const Body& body, std::size_t i) {
    return BodyFormulas(pool(), body).at(body.points[body.shape.points[i]].offset);
  };
  std::vector<ContactCondition> made;
  if (surface) {
    switch (a->shape.kind) {
      case ShapeKind::sphere:
        return {on_surface(*a, of_a.centre(), a->shape.radius, *surface)};
      case ShapeKind::disc:
        return {disc_on_surface(*a, *surface)};
      default:
        for (std::size_t i = 0; i < a->shape.points.size(); ++i) {
          const bool capsule = a->shape.kind == ShapeKind::capsule;
          made.push_back(on_surface(*a, point(*a, i), capsule ? a->shape.radius : pool().zero(), *surface));
          made.back().suffix = "." + a->points[a->shape.points[i]].name;
        }
        return made;
    }
  }
  if (a->shape.kind == ShapeKind::sphere && b->shape.kind == ShapeKind::capsule) std::swap(a, b);
  if (b->shape.kind == ShapeKind::sphere && a->shape.kind == ShapeKind::sphere)
    return {of_spheres(*a, BodyFormulas(pool(), *a).centre(), a->shape.radius, *b,
                       BodyFormulas(pool(), *b).centre(), b->shape.radius)};
  if (b->shape.kind == ShapeKind::sphere && a->shape.kind == ShapeKind::capsule) {
    const ExprVector centre = BodyFormulas(pool(), *b).centre();
    const ExprVector nearest = nearest_on_segment(point(*a, 0), point(*a, 1), centre);
    return {of_spheres(*a, nearest, a->shape.radius, *b, centre, b->shape.radius)};
  }
  return refuse("there is no rule for this pair of shapes", shape_name(*a) + " with " + shape_name(*b));
}

void StudyBuilder::read_contacts() {
  for (const Field& entry : naming_entries("contact")) read_contact(entry);
}

void StudyBuilder::read_contact(const Field& entry) {
  const Table table(reader_, entry,
                    {"name", "between", "restitution", "from", "until", "friction", "friction_static",
                     "restitution_tangential", "limit", "impulse_limit", "breaks"});
  const std::string name = entry_name(entry);
  if (!name.empty())
    register_name_in(names_.constraints, name,
                     reader_.document().locate(entry.value->find("name")->value.mark), entry.place);
  const char* const form = "[\"ball\", \"floor\"]: two bodies, or a body and a surface";
  const Field between = table.require("between", form);
  const auto items = between ? reader_.array(between, form) : std::nullopt;
  if (!items) return;
  if (items->size() != 2) {
    reader_.report_found(between, "wrong number of entries", std::to_string(items->size()), form);
    return;
  }
  const auto first = reader_.string((*items)[0], form), second = reader_.string((*items)[1], form);
  if (!first || !second) return;
  const std::vector<ContactCondition> conditions = contact_conditions(between, *first, *second);
  if (conditions.empty()) return;
  // The laws are read once: all conditions of a contact have the same coefficients, also where these are drawn.
  ConditionFormula laws;
  laws.name = name;
  laws.value = conditions.front().value;
  laws.restitution = pool().zero();
  if (const Field restitution = table["restitution"]) read_restitution(restitution, laws);
  read_time_in_force(table, laws);
  const bool rubs = !read_friction(table, laws, true, conditions.front().slip).empty();
  read_limit(table, laws, true);
  for (std::size_t k = 0; k < conditions.size(); ++k) {
    const ContactCondition& one = conditions[k];
    ConditionFormula made = laws;
    made.name = name + one.suffix;
    made.value = one.value;
    made.end_gradient = one.end_gradient;
    if (made.friction && k > 0) {
      made.friction->first_mode = description_.modes;
      description_.modes += friction_modes(one.slip.size());
    }
    if (!one.suffix.empty()) names_.constraints.insert(made.name);
    add_condition(entry, std::move(made), rubs ? one.slip : std::vector<Expr>{});
  }
}

}  // namespace zwang
