// Finds the common axis of all hinges, and axes of the plane across it with gravity downwards.
#include "host/import/plane_of_motion.h"

#include <Eigen/Dense>
#include <cmath>

#include "host/import/mechanism.h"

namespace zwang {

namespace {

// The entry of the largest size is made positive.
bool points_backwards(const Eigen::Vector3d& v) {
  Eigen::Index largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  return v(largest) < 0;
}

MotionPlane plane_across(Eigen::Vector3d normal, const Eigen::Vector3d& gravity) {
  const Eigen::Vector3d pull = gravity - normal.dot(gravity) * normal;
  if (pull.norm() > direction_tolerance * gravity.norm() && gravity.norm() > 0) {
    const Eigen::Vector3d up = -pull.normalized();
    Eigen::Vector3d right = up.cross(normal);
    if (points_backwards(right)) {
      right = -right;
      normal = -normal;
    }
    return {tidy_direction(right), tidy_direction(up), tidy_direction(normal)};
  }
  if (points_backwards(normal)) normal = -normal;
  Eigen::Vector3d right = Eigen::Vector3d::UnitX() - normal.x() * normal;
  if (right.norm() < 0.5) right = Eigen::Vector3d::UnitY() - normal.y() * normal;
  right.normalize();
  return {tidy_direction(right), tidy_direction(normal.cross(right)), tidy_direction(normal)};
}

}  // namespace

Eigen::Vector3d tidy_direction(const Eigen::Vector3d& direction) {
  Eigen::Vector3d made = direction;
  for (Eigen::Index k = 0; k < 3; ++k) {
    if (std::abs(made(k)) < 4e-16) made(k) = 0;
    if (std::abs(std::abs(made(k)) - 1) < 4e-16) made(k) = made(k) > 0 ? 1 : -1;
  }
  return made;
}

std::optional<MotionPlane> plane_of_motion(const Mechanism& mechanism) {
  std::optional<Eigen::Vector3d> normal;
  for (const MechanismBody& body : mechanism.bodies)
    for (const Freedom& freedom : body.freedoms)
      if (freedom.kind == FreedomKind::hinge && !normal) normal = body.rest.turn * freedom.axis;
  if (!normal) return {};
  for (const MechanismBody& body : mechanism.bodies) {
    if (body.free) return {};
    for (const Freedom& freedom : body.freedoms) {
      const Eigen::Vector3d axis = body.rest.turn * freedom.axis;
      if (freedom.kind == FreedomKind::ball) return {};
      const double off =
          freedom.kind == FreedomKind::hinge ? axis.cross(*normal).norm() : std::abs(axis.dot(*normal));
      if (off > direction_tolerance) return {};
    }
  }
  for (const Plane& plane : mechanism.planes) {
    const double along = std::abs(plane.normal.dot(*normal));
    if (along > direction_tolerance && along < 1 - direction_tolerance) return {};
  }
  return plane_across(*normal, mechanism.gravity);
}

}  // namespace zwang
