// Recognises links and walls in the constraints of a study.
#include "host/report/report_scene.h"

#include <algorithm>
#include <cmath>
#include <regex>

#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "host/toml/document.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/system/body.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Expressions of t and one member's parameters.
class MemberFormulas {
 public:
  MemberFormulas(const Study& study, const std::vector<long long>& members) : study_(study) {
    const Sampler sampler(study);
    Sampler::Scratch scratch;
    for (const long long member : members) {
      PreparedMember made;
      sampler.prepare(static_cast<unsigned long long>(member), scratch, made);
      parameters_.push_back(made.inputs.parameters);
    }
  }

  double value(const Program& program, std::size_t member, double t) const {
    const Inputs<double> inputs{.time = t,
                                .parameters = parameters_[member],
                                .coordinates = zeros_,
                                .velocities = zeros_,
                                .auxiliaries = zeros_};
    return program.run<double>(inputs)[0];
  }

  // [member][time], or [member][one] if the expression does not depend on time.
  ReportJson table(Expr e, const std::vector<std::size_t>& times) const {
    const Program program(*study_.system->pool, {e});
    const bool moves = study_.system->pool->mentions(e, SymbolKind::time);
    ReportJson made = ReportJson::array();
    for (std::size_t m = 0; m < parameters_.size(); ++m) {
      std::vector<double> row;
      for (const std::size_t t : times) {
        row.push_back(value(program, m, study_.time.outputs[t]));
        if (!moves) break;
      }
      made.push_back(rounded(row));
    }
    return made;
  }

 private:
  const Study& study_;
  std::vector<std::vector<double>> parameters_;
  std::vector<double> zeros_ =
      std::vector<double>(std::max(study_.system->size(), study_.system->auxiliaries.size()) + 1, 0.0);
};

// The `require` text of a constraint in the study.
std::string require_text(const Study& study, std::size_t condition) {
  const Entry* list = study.document->find("constraint");
  if (!list) return "";
  for (const Value& item : list->value.items) {
    const Entry *name = item.find("name"), *require = item.find("require");
    if (name && require && name->value.text == study.system->constraints[condition].name)
      return require->value.text;
  }
  return "";
}

// distance(a, b) OP R and norm(a) OP R, in either order: the points linked and the kind of link.
ReportJson link(const Study& study, std::size_t condition, const MemberFormulas& formulas,
                const std::vector<std::size_t>& times) {
  static const std::regex pair(R"(distance\s*\(\s*(\w+)\s*,\s*(\w+)\s*\))"),
      single(R"(norm\s*\(\s*(\w+)\s*\))");
  const Constraint& constraint = study.system->constraints[condition];
  const std::string text = require_text(study, condition);
  std::smatch found;
  if (!constraint.radius) return nullptr;
  const bool two = std::regex_search(text, found, pair);
  if (!two && !std::regex_search(text, found, single)) return nullptr;
  const std::size_t relation = text.find_first_of("<>=");
  const bool mirrored = static_cast<std::size_t>(found.position(0)) > relation;
  const bool at_most = relation != std::string::npos && (text[relation] == '<') != mirrored;
  ReportJson made = {{"name", constraint.name},
                     {"constraint", condition},
                     {"kind", constraint.equation ? "rod" : (at_most ? "string" : "apart")},
                     {"from", found[1].str()},
                     {"to", two ? ReportJson(found[2].str()) : ReportJson()}};  // null: the origin
  made["length"] = formulas.table(*constraint.radius, times);
  return made;
}

// f = ±(x − place): a wall across one coordinate of a point, perhaps moving.
ReportJson wall(const Study& study, std::size_t condition, const MemberFormulas& formulas,
                const std::vector<std::size_t>& times) {
  const System& system = *study.system;
  const Constraint& constraint = system.constraints[condition];
  if (!constraint.holonomic || constraint.equation || constraint.columns.size() != 1) return nullptr;
  const bool plus = system.pool->is_constant(constraint.row[0], 1),
             minus = system.pool->is_constant(constraint.row[0], -1);
  if (!plus && !minus) return nullptr;
  // With the coordinate at 0, f is ∓place.
  const Expr place = plus ? system.pool->negate(constraint.value) : constraint.value;
  return {{"name", constraint.name},
          {"constraint", condition},
          {"coordinate", constraint.columns[0]},
          {"side", plus ? "below" : "above"},
          {"place", formulas.table(place, times)}};
}

// --- Bodies ------------------------------------------------------------------------------------------------

using Outline = std::vector<std::vector<std::vector<double>>>;  // lines of places, body axes

// A circle about a place: in the plane, or across an axis in space.
std::vector<std::vector<double>> circle(const std::vector<double>& centre, double radius, std::size_t axis) {
  std::vector<std::vector<double>> made;
  constexpr int sides = 32;
  for (int k = 0; k <= sides; ++k) {
    std::vector<double> place = centre;
    const double angle = 2 * M_PI * k / sides;
    const std::size_t i = centre.size() == 2 ? 0 : (axis + 1) % 3,
                      j = centre.size() == 2 ? 1 : (axis + 2) % 3;
    place[i] += radius * std::cos(angle);
    place[j] += radius * std::sin(angle);
    made.push_back(place);
  }
  return made;
}

// Lines that show a body's shape and orientation: circles of spheres and discs, edges between corners that differ in one
// body axis, capsules; without a shape, lines from the centre to the body points.
Outline outline_of(const Body& body, double radius, const std::vector<std::vector<double>>& points) {
  using Kind = BodyShape::Kind;
  const std::vector<double> centre(body.dimension, 0.0);
  Outline made;
  const auto add_ball = [&](const std::vector<double>& about) {
    for (std::size_t axis = 0; axis < (body.spatial() ? 3U : 1U); ++axis)
      made.push_back(circle(about, radius, axis));
  };
  if (body.shape.kind == Kind::sphere) add_ball(centre);
  if (body.shape.kind == Kind::disc) made.push_back(circle(centre, radius, 2));
  if (body.shape.kind == Kind::sphere || body.shape.kind == Kind::disc) {
    std::vector<double> mark = centre;
    mark[0] = radius;
    made.push_back({centre, mark});
  }
  if (body.shape.kind == Kind::capsule) {
    for (const std::size_t i : body.shape.points) add_ball(points[i]);
    if (body.shape.points.size() == 2)
      made.push_back({points[body.shape.points[0]], points[body.shape.points[1]]});
  }
  if (body.shape.kind == Kind::corners)
    for (std::size_t a = 0; a < body.shape.points.size(); ++a)
      for (std::size_t b = a + 1; b < body.shape.points.size(); ++b) {
        const std::vector<double>&from = points[body.shape.points[a]], &to = points[body.shape.points[b]];
        std::size_t differ = 0;
        for (std::size_t k = 0; k < from.size(); ++k) differ += from[k] != to[k] ? 1 : 0;
        if (differ == 1 || body.shape.points.size() <= 3) made.push_back({from, to});
      }
  if (made.empty())
    for (const std::vector<double>& point : points) made.push_back({centre, point});
  return made;
}

// The bodies, with an outline for each member: its radius and points may depend on drawn parameters.
ReportJson bodies(const Study& study, const MemberFormulas& formulas, std::size_t members) {
  ReportJson made = ReportJson::array();
  for (const Body& body : study.system->bodies) {
    ReportJson outlines = ReportJson::array(), places = ReportJson::array();
    const auto number = [&](Expr e, std::size_t member) {
      return formulas.value(Program(*study.system->pool, {e}), member, 0);
    };
    for (std::size_t m = 0; m < members; ++m) {
      std::vector<std::vector<double>> points;
      for (const BodyPoint& point : body.points) {
        points.emplace_back();
        for (const Expr e : point.offset) points.back().push_back(number(e, m));
      }
      const bool round =
          body.shape.kind != BodyShape::Kind::none && body.shape.kind != BodyShape::Kind::corners;
      const double radius = round ? number(body.shape.radius, m) : 0;
      outlines.push_back(outline_of(body, radius, points));
      places.push_back(points);
    }
    made.push_back({{"name", body.name},
                    {"first", body.first},
                    {"dimension", body.dimension},
                    {"state", body.spatial() ? ReportJson(body.state) : ReportJson()},
                    {"outline", outlines},
                    {"points", places}});
  }
  return made;
}

// --- Contacts with friction --------------------------------------------------------------------------------

// Whether coordinates from `first` on are among those of a constraint.
bool concerns(const Constraint& constraint, std::size_t first, std::size_t count) {
  return std::any_of(constraint.columns.begin(), constraint.columns.end(),
                     [&](std::size_t column) { return column >= first && column < first + count; });
}

// The number of the body point that a contact of corners or capsule ends is named after.
ReportJson corner_of(const Body& body, const std::string& contact) {
  for (std::size_t i = 0; i < body.points.size(); ++i) {
    const std::string suffix = "." + body.points[i].name;
    if (contact.size() > suffix.size() && contact.ends_with(suffix)) return i;
  }
  return nullptr;
}

// The contacts with friction: the rows that are in force while they stick, and the points or bodies that touch, which
// are their place in the picture.
ReportJson rubbing_contacts(const System& system) {
  ReportJson made = ReportJson::array();
  for (const Friction& friction : system.frictions) {
    const Constraint& constraint = system.constraints[friction.contact];
    ReportJson touching = ReportJson::array(), corner;
    for (const Point& point : system.points)
      if (concerns(constraint, point.first, point.dimension)) touching.push_back(point.name);
    for (const Body& body : system.bodies)
      if (concerns(constraint, body.first, body.spatial() ? 6 : 3)) {
        touching.push_back(body.name);
        corner = corner_of(body, constraint.name);
      }
    made.push_back({{"name", constraint.name},
                    {"constraint", friction.contact},
                    {"slip", friction.rows[0]},
                    {"touching", touching},
                    {"corner", corner}});
  }
  return made;
}

}  // namespace

ReportJson report_scene(const ReportSource& source, const std::vector<long long>& members,
                        const std::vector<std::size_t>& times) {
  const Study& study = source.study;
  const MemberFormulas formulas(study, members);
  ReportJson points = ReportJson::array(), anchors = ReportJson::array(), links = ReportJson::array(),
             walls = ReportJson::array();
  for (const Point& point : study.system->points)
    points.push_back({{"name", point.name}, {"first", point.first}, {"dimension", point.dimension}});
  for (const Body& body : study.system->bodies)
    points.push_back({{"name", body.name}, {"first", body.first}, {"dimension", body.dimension}});
  for (const AnchorFormula& anchor : study.anchors) {
    ReportJson place = ReportJson::array();
    for (const Expr e : anchor.position) place.push_back(formulas.table(e, times));
    anchors.push_back({{"name", anchor.name}, {"place", place}});
  }
  for (std::size_t i = 0; i < study.system->constraints.size(); ++i) {
    if (const ReportJson made = link(study, i, formulas, times); !made.is_null()) links.push_back(made);
    if (const ReportJson made = wall(study, i, formulas, times); !made.is_null()) walls.push_back(made);
  }
  return {{"points", points},
          {"anchors", anchors},
          {"links", links},
          {"walls", walls},
          {"contacts", rubbing_contacts(*study.system)},
          {"bodies", bodies(study, formulas, members.size())}};
}

}  // namespace zwang
