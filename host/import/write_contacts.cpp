// Solids become spheres and corners that touch planes. Where a body has one shape that studies know, it is written as
// such; otherwise each place of contact is a constraint with its slip.
#include "host/import/write_contacts.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "host/import/formula_text.h"
#include "host/import/joint_group.h"
#include "host/import/mechanism.h"
#include "host/import/plane_of_motion.h"
#include "host/import/study_draft.h"
#include "src/base/error.h"

namespace zwang {

namespace {

// A sphere of a body that may touch; a corner has radius 0.
struct TouchPoint {
  Eigen::Vector3d place;   // frame of the body in the file
  Eigen::VectorXd offset;  // from the centre of mass, axes of the study
  double radius = 0;
  const Solid* solid = nullptr;
  bool hidden = false;  // inside a neighbour's shape in every position
};

// Starts that are deeper inside than this are no rounding errors of the file.
constexpr double deepest_start = 1e-6;
// A body of a study has 64 points; some are places of joints.
constexpr std::size_t most_touch_points = 48;

bool sides_touch(unsigned type, unsigned affinity, unsigned other_type, unsigned other_affinity) {
  return (type & other_affinity) != 0 || (other_type & affinity) != 0;
}

std::string friction_key(bool rubs, double friction) {
  return rubs && friction > 0 ? "friction = " + number_text(friction) + "\n" : "";
}

class ContactWriter {
 public:
  ContactWriter(const Mechanism& mechanism, StudyDraft& draft)
      : mechanism_(mechanism), draft_(draft), axes_(draft.axes) {}

  void write() {
    for (const MechanismBody& body : mechanism_.bodies) {
      touching_.emplace_back();
      for (const Solid& solid : body.solids) add_touch_points(body, solid, touching_.back());
      if (touching_.back().size() <= most_touch_points) continue;
      draft_.left_out.push_back("contacts of '" + body.name + "', which has more than " +
                                std::to_string(most_touch_points) + " corners and spheres");
      touching_.back().clear();
    }
    for (std::size_t i = 0; i < mechanism_.bodies.size(); ++i) hide_ends_at_joint(i);
    for (std::size_t i = 0; i < mechanism_.bodies.size(); ++i) write_shape(i);
    for (const Plane& plane : mechanism_.planes) write_surface(plane);
    write_pairs();
  }

 private:
  // --- Ends at joints ---

  // A sphere about the centre of a joint keeps its place on both bodies. Where the other body's shape contains it, it
  // touches nothing first; with equal radii both would touch at once, as dependent contacts.
  void hide_ends_at_joint(std::size_t i) {
    const MechanismBody& body = mechanism_.bodies[i];
    if (body.free || body.parent == world_body) return;
    const JointGroup group = joint_group(body, axes_.planar());
    if (!group.slides.empty() || group.rotations() == 0) return;
    const MechanismBody& parent = mechanism_.bodies[body.parent];
    const Eigen::Vector3d on_parent = body.zero.at(group.centre);
    hide_inside(touching_[i], group.centre, parent, on_parent);
    hide_inside(touching_[body.parent], on_parent, body, group.centre);
  }

  // Hides the spheres about `centre` that are inside a shape of the other body, whose `place` is the same joint.
  void hide_inside(std::vector<TouchPoint>& points, const Eigen::Vector3d& centre, const MechanismBody& other,
                   const Eigen::Vector3d& place) {
    const std::size_t index = static_cast<std::size_t>(&other - mechanism_.bodies.data());
    for (TouchPoint& point : points) {
      if (point.hidden || (point.place - centre).norm() > 1e-9) continue;
      for (const TouchPoint& around : touching_[index]) {
        if (around.hidden || !contains(*around.solid, place, point.radius)) continue;
        point.hidden = true;
        draft_.notes.push_back("a round end at a joint of '" + other.name +
                               "' is inside the shape of that body and has no contacts of its own");
        break;
      }
    }
  }

  static bool contains(const Solid& solid, const Eigen::Vector3d& centre, double radius) {
    const Eigen::Vector3d local = solid.pose.turn.transpose() * (centre - solid.pose.place);
    const double room = solid.size.x() + 1e-12 - radius;
    switch (solid.kind) {
      case SolidKind::sphere:
        return local.norm() <= room;
      case SolidKind::capsule:
        return (local - Eigen::Vector3d(0, 0, std::clamp(local.z(), -solid.size.y(), solid.size.y())))
                   .norm() <= room;
      case SolidKind::box:
        return ((local.cwiseAbs().array() + radius) <= solid.size.array() + 1e-12).all();
      default:
        return false;
    }
  }

  // --- Shapes ---

  void add_touch_points(const MechanismBody& body, const Solid& solid, std::vector<TouchPoint>& made) {
    const Pose& pose = solid.pose;
    const auto add = [&](const Eigen::Vector3d& local, double radius) {
      TouchPoint point{pose.at(local), {}, radius, &solid};
      point.offset = axes_.point(body, point.place);
      // In the plane corners behind each other are one.
      for (const TouchPoint& known : made)
        if ((known.offset - point.offset).norm() < 1e-12 && known.radius == radius && known.solid == &solid)
          return;
      made.push_back(point);
    };
    const double a = solid.size.x(), b = solid.size.y(), c = solid.size.z();
    switch (solid.kind) {
      case SolidKind::sphere:
        add({0, 0, 0}, a);
        return;
      case SolidKind::capsule:
        add({0, 0, -b}, a);
        add({0, 0, b}, a);
        return;
      case SolidKind::box:
        for (const double z : {-c, c})
          for (const double y : {-b, b})
            for (const double x : {-a, a}) add({x, y, z}, 0);
        return;
      case SolidKind::cylinder:
        if (axes_.planar() && add_planar_cylinder(body, solid, add)) return;
        break;
      default:
        break;
    }
    const std::string kind = solid.kind == SolidKind::cylinder ? "cylinder" : "ellipsoid";
    draft_.left_out.push_back("contact of the " + kind + (solid.name.empty() ? "" : " '" + solid.name + "'") +
                              " of '" + body.name + "'" +
                              (kind == "cylinder" ? ": in space there is no contact shape for it"
                                                  : ": there is no contact shape for it"));
  }

  // A disc, seen along the axis; a rectangle, seen across it.
  template <typename Add>
  bool add_planar_cylinder(const MechanismBody& body, const Solid& solid, const Add& add) {
    const Eigen::Vector3d normal =
        solid.pose.turn.transpose() * body.rest.turn.transpose() * axes_.plane()->normal;
    const double along = std::abs(normal.z()), a = solid.size.x(), b = solid.size.y();
    if (along > 1 - direction_tolerance) {
      add(Eigen::Vector3d(0, 0, 0), a);
      return true;
    }
    if (along > direction_tolerance) return false;
    const Eigen::Vector3d across = Eigen::Vector3d::UnitZ().cross(normal).normalized();
    for (const double z : {-b, b})
      for (const double r : {-a, a}) add(Eigen::Vector3d(0, 0, z) + r * across, 0);
    return true;
  }

  std::string point_word(std::size_t body, const TouchPoint& point, std::size_t number) {
    const std::string& own = point.solid->name;
    return draft_.bodies[body].place((own.empty() ? "touch" : own) + "_" + std::to_string(number + 1),
                                     point.offset);
  }

  bool starts_inside(const MechanismBody& body, const TouchPoint& point, const Plane& plane) const {
    return height(body, point, plane) < -deepest_start;
  }
  static double height(const MechanismBody& body, const TouchPoint& point, const Plane& plane) {
    return plane.normal.dot(body.start.at(point.place) - plane.point) - point.radius;
  }
  bool across_the_plane(const Plane& plane) const {
    return axes_.planar() && std::abs(plane.normal.dot(axes_.plane()->normal)) > direction_tolerance;
  }

  // One shape for the whole body needs equal laws, and no place that starts inside a plane.
  void write_shape(std::size_t i) {
    const MechanismBody& body = mechanism_.bodies[i];
    const std::vector<TouchPoint>& points = touching_[i];
    shaped_.push_back(false);
    whole_.push_back(
        std::none_of(points.begin(), points.end(), [](const TouchPoint& point) { return point.hidden; }));
    if (points.empty()) return;
    bool equal = true, corners = true;
    for (const TouchPoint& point : points) {
      const Solid &one = *point.solid, &first = *points[0].solid;
      equal = equal && one.friction == first.friction && one.rubs == first.rubs && one.type == first.type &&
              one.affinity == first.affinity;
      corners = corners && point.radius == 0;
      for (const Plane& plane : mechanism_.planes)
        if (!point.hidden && !across_the_plane(plane) && starts_inside(body, point, plane)) equal = false;
    }
    if (!equal) return;
    BodyDraft& draft = draft_.bodies[i];
    const auto names = [&] {
      std::string list;
      for (std::size_t k = 0; k < points.size(); ++k) {
        const std::string word = point_word(i, points[k], k);
        list += (k > 0 ? ", \"" : "\"") + word.substr(word.find('.') + 1) + "\"";
      }
      return list;
    };
    const bool centred = points.size() == 1 && points[0].offset.norm() < 1e-12;
    if (corners)
      draft.shape = "{ corners = [" + names() + "] }";
    else if (centred)
      draft.shape = "{ sphere = " + number_text(points[0].radius) + " }";
    else if (points.size() == 2 && points[0].solid == points[1].solid)
      draft.shape =
          "{ capsule = { ends = [" + names() + "], radius = " + number_text(points[0].radius) + " } }";
    else
      return;
    shaped_.back() = true;
  }

  // --- Surfaces ---

  void write_surface(const Plane& plane) {
    if (across_the_plane(plane)) {
      draft_.left_out.push_back("plane '" + plane.name + "', along which everything moves");
      return;
    }
    const std::string name = draft_.surfaces.give(plane.name);
    std::string contacts;
    for (std::size_t i = 0; i < mechanism_.bodies.size(); ++i) contacts += body_on_surface(i, plane, name);
    if (contacts.empty()) return;
    draft_.surface_entries +=
        "[[surface]]\nname = \"" + name + "\"\npoint = " + list_of_numbers(axes_.in_world(plane.point)) +
        "\nnormal = " + list_of_numbers(axes_.in_world(tidy_direction(plane.normal))) + "\n\n";
    draft_.contacts += contacts;
  }

  std::string body_on_surface(std::size_t i, const Plane& plane, const std::string& surface) {
    const std::vector<TouchPoint>& points = touching_[i];
    const std::string& body = draft_.bodies[i].name;
    if (shaped_[i] && whole_[i]) {
      const Solid& solid = *points[0].solid;
      if (!sides_touch(solid.type, solid.affinity, plane.type, plane.affinity)) return "";
      return "[[contact]]\nname = \"" + draft_.conditions.give(body + "_" + surface) + "\"\nbetween = [\"" +
             body + "\", \"" + surface + "\"]\n" +
             friction_key(solid.rubs || plane.rubs, std::max(solid.friction, plane.friction)) + "\n";
    }
    for (std::size_t k = 0; k < points.size(); ++k) {
      const TouchPoint& point = points[k];
      if (point.hidden) continue;
      if (!sides_touch(point.solid->type, point.solid->affinity, plane.type, plane.affinity)) continue;
      if (starts_inside(mechanism_.bodies[i], point, plane)) {
        draft_.left_out.push_back("contact of '" + mechanism_.bodies[i].name + "' with '" + plane.name +
                                  "' at one place, which starts " +
                                  number_text(-height(mechanism_.bodies[i], point, plane)) + " inside");
        continue;
      }
      write_touch(i, point, k, plane, surface);
    }
    return "";
  }

  // n (x - p) >= r, with the velocity of the touching material x - r n along the surface.
  void write_touch(std::size_t i, const TouchPoint& point, std::size_t number, const Plane& plane,
                   const std::string& surface) {
    const std::string place = point_word(i, point, number), &body = draft_.bodies[i].name;
    const Eigen::VectorXd n = axes_.in_world(tidy_direction(plane.normal)), p = axes_.in_world(plane.point);
    const auto along = [&](const Eigen::VectorXd& u, const char* prime) {
      SumText made;
      for (Eigen::Index k = 0; k < u.size(); ++k) made.add(u(k), component_word(place, k) + prime);
      return made;
    };
    std::string more =
        friction_key(point.solid->rubs || plane.rubs, std::max(point.solid->friction, plane.friction));
    if (!more.empty() && axes_.planar()) {
      SumText slip = along(Eigen::Vector2d(n(1), -n(0)), "'");
      slip.add(point.radius, body + ".angle'");
      more += "slip = \"" + slip.text() + "\"\n";
    } else if (!more.empty()) {
      const Eigen::Vector3d normal = n, first = tidy_direction(normal.unitOrthogonal()),
                            second = normal.cross(first);
      const auto slip = [&](const Eigen::Vector3d& t) {
        SumText made = along(t, "'");
        const Eigen::Vector3d turning = normal.cross(t);
        for (Eigen::Index k = 0; k < 3; ++k)
          made.add(-point.radius * turning(k), component_word(body + ".spin", k));
        return made.text();
      };
      more += "slip = [\"" + slip(first) + "\", \"" + slip(second) + "\"]\n";
    }
    draft_.add_constraint(body + "_" + surface + "_" + std::to_string(number + 1),
                          along(n, "").text() + " >= " + number_text(tidy_number(n.dot(p) + point.radius)),
                          more);
  }

  // --- Bodies with each other ---

  enum class ShapeWord { none, sphere, capsule };
  ShapeWord shape_of(std::size_t i) const {
    if (!shaped_[i]) return ShapeWord::none;
    if (touching_[i].size() == 1 && touching_[i][0].radius > 0) return ShapeWord::sphere;
    return touching_[i][0].radius > 0 ? ShapeWord::capsule : ShapeWord::none;
  }

  void write_pairs() {
    if (!mechanism_.bodies_touch) return;
    bool omitted = false;
    for (std::size_t j = 1; j < mechanism_.bodies.size(); ++j)
      for (std::size_t i = 0; i < j; ++i) {
        if (mechanism_.bodies[j].parent == i || touching_[i].empty() || touching_[j].empty()) continue;
        if (!may_touch(i, j)) continue;
        if (!write_pair(i, j)) omitted = true;
      }
    if (omitted)
      draft_.left_out.push_back(
          "contacts between bodies, except of spheres about a centre of mass with such spheres and with "
          "capsules");
  }

  bool may_touch(std::size_t i, std::size_t j) const {
    for (const TouchPoint& a : touching_[i])
      for (const TouchPoint& b : touching_[j])
        if (sides_touch(a.solid->type, a.solid->affinity, b.solid->type, b.solid->affinity)) return true;
    return false;
  }

  bool write_pair(std::size_t i, std::size_t j) {
    const ShapeWord a = shape_of(i), b = shape_of(j);
    if (a == ShapeWord::none || b == ShapeWord::none || (a == ShapeWord::capsule && b == ShapeWord::capsule))
      return false;
    if (gap(i, j) < -deepest_start) return false;
    const Solid &one = *touching_[i][0].solid, &other = *touching_[j][0].solid;
    const std::string &first = draft_.bodies[i].name, &second = draft_.bodies[j].name;
    draft_.contacts += "[[contact]]\nname = \"" + draft_.conditions.give(first + "_" + second) +
                       "\"\nbetween = [\"" + first + "\", \"" + second + "\"]\n" +
                       friction_key(one.rubs || other.rubs, std::max(one.friction, other.friction)) + "\n";
    return true;
  }

  // Between two spheres, or a sphere and a capsule, at the start. In the plane those in different layers do not touch.
  double gap(std::size_t i, std::size_t j) const {
    const auto ends = [&](std::size_t k) {
      const Pose& start = mechanism_.bodies[k].start;
      return std::pair(start.at(touching_[k].front().place), start.at(touching_[k].back().place));
    };
    auto [a, b] = ends(i);
    auto [c, d] = ends(j);
    if (touching_[i].size() == 1) {
      std::swap(a, c);
      std::swap(b, d);
    }
    // c is the centre of a sphere now, a to b the axis of the other.
    const Eigen::Vector3d axis = b - a;
    const double share =
        axis.squaredNorm() > 0 ? std::clamp((c - a).dot(axis) / axis.squaredNorm(), 0.0, 1.0) : 0.0;
    Eigen::Vector3d between = c - (a + share * axis);
    if (axes_.planar() && std::abs(between.dot(axes_.plane()->normal)) > 1e-9) return -1;
    return between.norm() - touching_[i][0].radius - touching_[j][0].radius;
  }

  const Mechanism& mechanism_;
  StudyDraft& draft_;
  const StudyAxes& axes_;
  std::vector<std::vector<TouchPoint>> touching_;  // by body
  std::vector<bool> shaped_;                       // by body: written as a shape
  std::vector<bool> whole_;                        // by body: no place of contact is hidden
};

}  // namespace

void write_contacts(const Mechanism& mechanism, StudyDraft& draft) {
  ContactWriter(mechanism, draft).write();
}

}  // namespace zwang
