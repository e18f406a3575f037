// Closed forms for sphere, ellipsoid, box, cylinder and capsule.
#include "host/import/solid_inertia.h"

#include <Eigen/Dense>
#include <numbers>

#include "host/import/mechanism.h"

namespace zwang {

double solid_volume(const Solid& solid) {
  const double a = solid.size.x(), b = solid.size.y(), c = solid.size.z();
  switch (solid.kind) {
    case SolidKind::sphere:
      return 4.0 / 3 * std::numbers::pi * a * a * a;
    case SolidKind::ellipsoid:
      return 4.0 / 3 * std::numbers::pi * a * b * c;
    case SolidKind::box:
      return 8 * a * b * c;
    case SolidKind::cylinder:
      return 2 * std::numbers::pi * a * a * b;
    default:
      return 2 * std::numbers::pi * a * a * b + 4.0 / 3 * std::numbers::pi * a * a * a;
  }
}

Inertial solid_inertial(const Solid& solid, double mass) {
  const double a = solid.size.x(), b = solid.size.y(), c = solid.size.z();
  Eigen::Vector3d moments;
  switch (solid.kind) {
    case SolidKind::sphere:
      moments.setConstant(0.4 * mass * a * a);
      break;
    case SolidKind::ellipsoid:
      moments = mass / 5 * Eigen::Vector3d(b * b + c * c, a * a + c * c, a * a + b * b);
      break;
    case SolidKind::box:
      moments = mass / 3 * Eigen::Vector3d(b * b + c * c, a * a + c * c, a * a + b * b);
      break;
    case SolidKind::cylinder:
      moments.setConstant(mass * (3 * a * a + 4 * b * b) / 12);
      moments.z() = 0.5 * mass * a * a;
      break;
    default: {
      // A cylinder, and two half balls whose flat sides are b from the centre: about the centre each has
      // m (2/5 a^2 + b^2 + 3/4 a b), since its centre of mass is 3/8 a from the flat side.
      const double balls = mass * (4.0 / 3 * a) / (2 * b + 4.0 / 3 * a), tube = mass - balls;
      moments.setConstant(tube * (3 * a * a + 4 * b * b) / 12 + balls * (0.4 * a * a + b * b + 0.75 * a * b));
      moments.z() = 0.5 * tube * a * a + 0.4 * balls * a * a;
    }
  }
  Inertial made;
  made.mass = mass;
  made.inertia = moments.asDiagonal();
  return moved_inertial(made, solid.pose);
}

}  // namespace zwang
