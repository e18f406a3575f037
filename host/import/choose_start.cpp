// Positions of joints from the command line, from keyframes and from ranges; bodies put on the ground.
#include "host/import/choose_start.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr double along_tolerance = 1e-6;

const Keyframe* keyframe_of(const Mechanism& mechanism, const ImportOptions& options,
                            const std::string& path) {
  const std::string wanted = options.keyframe.value_or("");
  if (wanted == "none" || (mechanism.keyframes.empty() && !options.keyframe)) return nullptr;
  if (!options.keyframe) return &mechanism.keyframes.front();
  std::vector<std::string> known;
  for (const Keyframe& one : mechanism.keyframes) {
    if (one.name == wanted) return &one;
    known.push_back(one.name);
  }
  throw Error({.where = {"--keyframe", 0, 0},
               .message = path + " has no such keyframe",
               .found = printable(wanted),
               .expected = known.empty() ? "none: the file has no keyframe with positions"
                                         : list_text(known, "or") + ", or none",
               .hint = suggestion(wanted, known)});
}

// Numbers of a body's joints in a keyframe: place and quaternion of a free joint, a quaternion of a ball.
std::size_t numbers_of(const Freedom& freedom) { return freedom.kind == FreedomKind::ball ? 4 : 1; }

std::size_t numbers_of(const Mechanism& mechanism) {
  std::size_t count = 0;
  for (const MechanismBody& body : mechanism.bodies) {
    if (body.free) count += 7;
    for (const Freedom& freedom : body.freedoms) count += numbers_of(freedom);
  }
  return count;
}

Eigen::Matrix3d rotation_by(const Keyframe& keyframe, std::size_t first) {
  const std::vector<double>& q = keyframe.positions;
  const Eigen::Quaterniond made(q[first], q[first + 1], q[first + 2], q[first + 3]);
  if (!(made.norm() > 0))
    throw Error({.where = keyframe.where,
                 .message = "keyframe '" + keyframe.name + "' has a quaternion of length 0",
                 .found = "0 0 0 0",
                 .expected = "four numbers, w x y z"});
  return made.normalized().toRotationMatrix();
}

// Positions in the order of the file's joints, as MuJoCo has them in qpos: radians, counted as the file does.
void take_keyframe(const Keyframe& keyframe, Mechanism& mechanism) {
  const std::size_t needed = numbers_of(mechanism);
  if (keyframe.positions.size() != needed)
    throw Error(
        {.where = keyframe.where,
         .message = "keyframe '" + keyframe.name + "' has a wrong number of positions",
         .found = std::to_string(keyframe.positions.size()),
         .expected = std::to_string(needed) +
                     ": 1 for each hinge and slide, 4 for a ball, 7 for a free joint, in their order"});
  std::size_t next = 0;
  for (MechanismBody& body : mechanism.bodies) {
    if (body.free) {
      const double* p = keyframe.positions.data() + next;
      body.zero = {rotation_by(keyframe, next + 3), Eigen::Vector3d(p[0], p[1], p[2])};
      next += 7;
    }
    for (Freedom& freedom : body.freedoms) {
      if (freedom.kind == FreedomKind::ball)
        freedom.turn = rotation_by(keyframe, next);
      else
        freedom.start = keyframe.positions[next] - freedom.offset;
      next += numbers_of(freedom);
    }
  }
  mechanism.notes.push_back("the start is that of keyframe '" + keyframe.name + "'");
}

// A start outside of the range is moved to its nearest end if a keyframe gives it, else to the middle.
void keep_in_range(Freedom& freedom, bool by_keyframe, Mechanism& mechanism) {
  if (!freedom.lower || (freedom.start >= *freedom.lower && freedom.start <= *freedom.upper)) return;
  const std::string range =
      number_text(*freedom.lower + freedom.offset) + " to " + number_text(*freedom.upper + freedom.offset);
  if (by_keyframe) {
    mechanism.notes.push_back("joint '" + freedom.name + "' starts at the end of its range, " + range +
                              ", which does not contain the keyframe's " +
                              number_text(freedom.start + freedom.offset));
    freedom.start = std::clamp(freedom.start, *freedom.lower, *freedom.upper);
    return;
  }
  freedom.start = 0.5 * (*freedom.lower + *freedom.upper);
  mechanism.notes.push_back("joint '" + freedom.name + "' starts in the middle of its range, " + range +
                            ", which does not contain 0");
}

// Takes --joint for this freedom; false if there is none.
bool take_given(Freedom& freedom, const ImportOptions& options, std::vector<bool>& used) {
  bool given = false;
  for (std::size_t k = 0; k < options.joints.size(); ++k) {
    if (options.joints[k].first != freedom.name) continue;
    used[k] = given = true;
    freedom.start = options.joints[k].second - freedom.offset;
  }
  if (given && freedom.lower && (freedom.start < *freedom.lower || freedom.start > *freedom.upper))
    throw Error({.where = {"--joint", 0, 0},
                 .message = "joint '" + freedom.name + "' starts outside of its limits",
                 .found = number_text(freedom.start + freedom.offset),
                 .expected = "from " + number_text(*freedom.lower + freedom.offset) + " to " +
                             number_text(*freedom.upper + freedom.offset)});
  return given;
}

// The least height of a solid over a plane: along -n from its centre the support of its shape.
double least_height(const Solid& solid, const Pose& body, const Plane& plane) {
  const Pose pose = body * solid.pose;
  const Eigen::Vector3d n = pose.turn.transpose() * plane.normal, &size = solid.size;
  const double across = std::hypot(n.x(), n.y());
  double reach = size.x();
  if (solid.kind == SolidKind::capsule) reach = size.x() + size.y() * std::abs(n.z());
  if (solid.kind == SolidKind::cylinder) reach = size.x() * across + size.y() * std::abs(n.z());
  if (solid.kind == SolidKind::box) reach = size.dot(n.cwiseAbs());
  if (solid.kind == SolidKind::ellipsoid) reach = size.cwiseProduct(n).norm();
  return plane.normal.dot(pose.place - plane.point) - reach;
}

std::size_t root_of(const Mechanism& mechanism, std::size_t body) {
  while (mechanism.bodies[body].parent != world_body) body = mechanism.bodies[body].parent;
  return body;
}

// Moves a root by this much along the normal; false: no joint of it can.
bool lift_root(MechanismBody& root, const Eigen::Vector3d& normal, double height) {
  if (root.free) {
    root.zero.place += height * normal;
    return true;
  }
  for (Freedom& freedom : root.freedoms) {
    // A slide before every hinge: its axis has the direction that it has at rest.
    if (freedom.kind != FreedomKind::slide) return false;
    const double along = (root.zero.turn * freedom.axis).dot(normal);
    if (std::abs(std::abs(along) - 1) > along_tolerance) continue;
    const double start = freedom.start + height / along;
    if (freedom.lower && (start < *freedom.lower || start > *freedom.upper)) return false;
    freedom.start = start;
    return true;
  }
  return false;
}

}  // namespace

void choose_start(Mechanism& mechanism, const ImportOptions& options, const std::string& path) {
  const Keyframe* keyframe = keyframe_of(mechanism, options, path);
  if (keyframe) take_keyframe(*keyframe, mechanism);
  std::vector<std::string> known;
  std::vector<bool> used(options.joints.size(), false);
  for (MechanismBody& body : mechanism.bodies)
    for (Freedom& freedom : body.freedoms) {
      if (freedom.kind == FreedomKind::ball) continue;
      known.push_back(freedom.name);
      if (!take_given(freedom, options, used)) keep_in_range(freedom, keyframe != nullptr, mechanism);
    }
  for (std::size_t k = 0; k < used.size(); ++k)
    if (!used[k])
      throw Error({.where = {"--joint", 0, 0},
                   .message = path + " has no such joint that moves",
                   .found = printable(options.joints[k].first),
                   .expected = known.empty() ? "no joint" : list_text(known, "or"),
                   .hint = suggestion(options.joints[k].first, known)});
}

void stand_on_plane(Mechanism& mechanism) {
  if (mechanism.planes.empty())
    throw Error({.where = {"--stand", 0, 0},
                 .message = "there is no plane to stand on",
                 .found = "a file without a plane",
                 .expected = "a plane in the file, or --ground for URDF"});
  const Plane& plane = mechanism.planes.front();
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> least(mechanism.bodies.size(), infinity);  // by root
  for (std::size_t i = 0; i < mechanism.bodies.size(); ++i)
    for (const Solid& solid : mechanism.bodies[i].solids) {
      double& lowest = least[root_of(mechanism, i)];
      lowest = std::min(lowest, least_height(solid, mechanism.bodies[i].start, plane));
    }
  bool any = false;
  for (std::size_t i = 0; i < mechanism.bodies.size(); ++i) {
    MechanismBody& body = mechanism.bodies[i];
    if (body.parent != world_body || least[i] == infinity) continue;
    if (!lift_root(body, plane.normal, -least[i])) continue;
    any = true;
    mechanism.notes.push_back("'" + body.name + "' is moved by " + number_text(-least[i]) +
                              " along the normal of '" + plane.name +
                              "', so that its lowest shape touches it");
  }
  if (!any)
    throw Error({.where = {"--stand", 0, 0},
                 .message = "nothing can be moved onto '" + plane.name + "'",
                 .found = "no root with a free joint, or with a slide along the normal that reaches it",
                 .expected = "a mechanism that is not fixed to the world"});
}

}  // namespace zwang
