// Names, axes and the text of an imported study.
#include "host/import/study_draft.h"

#include <Eigen/Dense>
#include <cmath>

#include "host/import/formula_text.h"
#include "host/import/mechanism.h"
#include "host/import/plane_of_motion.h"
#include "src/base/error.h"
#include "src/formula/parse.h"

namespace zwang {

namespace {

// Names that every body has of its own, and bodies' functions.
const std::set<std::string> names_of_bodies = {"x",  "y",  "z",    "angle",    "wx",      "wy",
                                               "wz", "q0", "q1",   "q2",       "q3",      "ex",
                                               "ey", "ez", "spin", "momentum", "rotation"};

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : one_line(text)) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + "\"";
}

std::string key_text(const char* key, const std::string& value) {
  return std::string(key) + " = " + value + "\n";
}

// The matrix, or its diagonal; rounding errors beside it are 0.
std::string inertia_text(const Eigen::Matrix3d& inertia) {
  const double scale = inertia.trace();
  const auto entry = [&](Eigen::Index i, Eigen::Index j) {
    const double value = 0.5 * (inertia(i, j) + inertia(j, i));
    return number_text(i != j && std::abs(value) < 1e-15 * scale ? 0.0 : value);
  };
  if (entry(0, 1) == "0" && entry(0, 2) == "0" && entry(1, 2) == "0")
    return "[" + entry(0, 0) + ", " + entry(1, 1) + ", " + entry(2, 2) + "]";
  std::string made = "[";
  for (Eigen::Index i = 0; i < 3; ++i)
    made +=
        std::string(i > 0 ? ", " : "") + "[" + entry(i, 0) + ", " + entry(i, 1) + ", " + entry(i, 2) + "]";
  return made + "]";
}

std::string body_text(const MechanismBody& body, const BodyDraft& draft, const StudyAxes& axes) {
  std::string made = "[[body]]\n" + key_text("name", quoted(draft.name));
  made += key_text("mass", number_text(body.inertial.mass));
  if (axes.planar()) {
    const Eigen::Vector3d normal = body.rest.turn.transpose() * axes.plane()->normal;
    made += key_text("inertia", number_text(normal.dot(body.inertial.inertia * normal)));
  } else {
    made += key_text("inertia", inertia_text(body.inertial.inertia));
  }
  made += key_text("position", list_of_numbers(axes.in_world(body.start.at(body.inertial.centre))));
  if (axes.planar()) {
    if (draft.angle != 0) made += key_text("angle", number_text(draft.angle));
  } else {
    const Eigen::Quaterniond q(body.start.turn);
    const double sign = q.w() < 0 ? -1 : 1;
    const Eigen::Vector4d listed = sign * Eigen::Vector4d(q.w(), q.x(), q.y(), q.z());
    if (tidy_number(listed(0)) != 1) made += key_text("orientation", list_of_numbers(listed));
  }
  if (!draft.points.empty()) {
    std::string points;
    for (const auto& [name, offset] : draft.points)
      points += (points.empty() ? "" : ", ") + name + " = " + list_of_numbers(offset);
    made += key_text("points", "{ " + points + " }");
  }
  if (!draft.shape.empty()) made += key_text("shape", draft.shape);
  return made + "\n";
}

std::string header_text(const StudyDraft& draft, const std::string& source) {
  std::string made = "# Imported from " + one_line(source) + " by `zwang import`.\n";
  for (const std::string& note : draft.notes) made += "# - " + one_line(note) + "\n";
  made += draft.left_out.empty() ? "# Nothing was left out.\n" : "# Left out:\n";
  for (const std::string& text : draft.left_out) made += "# - " + one_line(text) + "\n";
  return made + "\n";
}

}  // namespace

std::string one_line(const std::string& text) {
  std::string made = text;
  for (char& c : made)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return made;
}

std::string NameTable::give(const std::string& wanted) {
  std::string base;
  for (const char c : wanted) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    base += good ? c : '_';
  }
  if (base.empty() || (base[0] >= '0' && base[0] <= '9')) base = "n" + base;
  std::string name = base;
  for (int k = 2; taken_.contains(name) || (in_formulas_ && is_reserved(name)); ++k)
    name = base + "_" + std::to_string(k);
  taken_.insert(name);
  return name;
}

Eigen::VectorXd StudyAxes::in_world(const Eigen::Vector3d& v) const {
  if (!plane_) return v;
  return Eigen::Vector2d(plane_->right.dot(v), plane_->up.dot(v));
}

Eigen::VectorXd StudyAxes::direction(const MechanismBody& body, const Eigen::Vector3d& v) const {
  if (!plane_) return v;
  return in_world(body.rest.turn * v);
}

Eigen::VectorXd StudyAxes::point(const MechanismBody& body, const Eigen::Vector3d& v) const {
  return direction(body, v - body.inertial.centre);
}

double StudyAxes::sense(const MechanismBody& body, const Freedom& hinge) const {
  return plane_->normal.dot(body.rest.turn * hinge.axis) > 0 ? 1 : -1;
}

std::string BodyDraft::place(const std::string& wanted, const Eigen::VectorXd& offset) {
  if (offset.norm() < 1e-15) return name;
  for (const auto& [known, where] : points)
    if ((where - offset).norm() < 1e-15) return name + "." + known;
  points.emplace_back(point_names.give(wanted), offset);
  return name + "." + points.back().first;
}

StudyDraft::StudyDraft(const Mechanism& mechanism, StudyAxes chosen)
    : axes(std::move(chosen)),
      names(names_of_bodies, true),
      notes(mechanism.notes),
      left_out(mechanism.left_out) {
  for (const MechanismBody& body : mechanism.bodies) {
    BodyDraft draft;
    draft.name = names.give(body.name);
    draft.point_names = NameTable(names_of_bodies, false);
    if (axes.planar()) {
      draft.angle = body.parent == world_body ? 0 : bodies[body.parent].angle;
      for (const Freedom& freedom : body.freedoms)
        if (freedom.kind == FreedomKind::hinge) draft.angle += axes.sense(body, freedom) * freedom.start;
    }
    bodies.push_back(std::move(draft));
  }
  // Surfaces may not have the names of bodies.
  std::set<std::string> given;
  for (const BodyDraft& body : bodies) given.insert(body.name);
  surfaces = NameTable(given, false);
}

void StudyDraft::add_load(const std::string& coordinate, const std::string& term) {
  for (auto& [known, text] : loads)
    if (known == coordinate) {
      text += term.starts_with("-") ? " - " + term.substr(1) : " + " + term;
      return;
    }
  loads.emplace_back(coordinate, term);
}

void StudyDraft::add_constraint(const std::string& wanted, const std::string& require,
                                const std::string& more) {
  constraints += "[[constraint]]\n" + key_text("name", quoted(conditions.give(wanted))) +
                 key_text("require", quoted(require)) + more + "\n";
}

void StudyDraft::add_observable(const std::string& wanted, const std::string& formula) {
  observe.emplace_back(observables.give(wanted), formula);
}

std::string draft_text(const Mechanism& mechanism, const StudyDraft& draft, const std::string& source) {
  std::string made = header_text(draft, source) + key_text("title", quoted(mechanism.name)) + "\n";
  for (std::size_t i = 0; i < draft.bodies.size(); ++i)
    made += body_text(mechanism.bodies[i], draft.bodies[i], draft.axes);
  made +=
      draft.anchors + draft.links + draft.constraints + draft.surface_entries + draft.contacts + draft.forces;
  const Eigen::VectorXd gravity = draft.axes.in_world(mechanism.gravity);
  if (gravity.norm() > 0 || !draft.potential.empty()) made += "[system]\n";
  if (gravity.norm() > 0) made += key_text("gravity", list_of_numbers(gravity));
  if (!draft.potential.empty()) made += key_text("potential", quoted(draft.potential));
  if (gravity.norm() > 0 || !draft.potential.empty()) made += "\n";
  if (!draft.loads.empty()) made += "[system.force]\n";
  for (const auto& [coordinate, text] : draft.loads) made += quoted(coordinate) + " = " + quoted(text) + "\n";
  if (!draft.loads.empty()) made += "\n";
  made += "[time]\nend = 5\nsamples = 101\n\n[observe]\n";
  for (const auto& [name, formula] : draft.observe) made += name + " = " + quoted(formula) + "\n";
  return made + "\n[output]\ntrajectories = [0]\n";
}

}  // namespace zwang
