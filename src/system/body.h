// Rigid bodies: orientation by quaternions, quasi-velocities, body points and axes as expressions.
//
// A body in the plane has the coordinates x, y and angle. A body in space has six coordinates: x, y, z, and three
// angles of infinitesimal turns about its own axes, whose velocities are the body rates omega [body-1]. These angles
// are no functions of the orientation and appear in no formula; the orientation is a quaternion of four auxiliary
// states with q' = q o (0, omega)/2. Every formula depends on q by the rotation matrix R(q)/|q|^2, which is a rotation
// whatever the length of q: rounding of the length has no effect on the motion [body-3].
//
// A body that is symmetric about its z axis may have its orientation in a frame that does not spin with it (Resal's
// axes): q is that of the frame, which turns at (w1, w2, 0), and a fifth state is the angle of the spin, whose rate is
// w3. The velocities are the components of omega in that frame. However fast the spin, q is slow.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "src/expression/expression.h"
#include "src/expression/vector_algebra.h"

namespace zwang {

struct BodyPoint {
  std::string name;
  std::vector<Expr> offset;  // from the centre of mass, body axes; of parameters
};

// What touches others in a [[contact]].
struct BodyShape {
  enum class Kind { none, sphere, disc, corners, capsule };
  Kind kind = Kind::none;
  Expr radius{};                    // of a sphere, disc or capsule; of parameters
  std::vector<std::size_t> points;  // corners, or the two ends of a capsule: numbers among Body::points
};

struct Body {
  std::string name;
  std::size_t dimension = 3;  // 2 or 3
  std::size_t first = 0;      // number of its first coordinate
  std::size_t state = 0;      // in space: number of the auxiliary state q0
  bool nonspinning =
      false;    // in space: q is that of a frame without the spin about z, whose angle is state + 4
  Expr mass{};  // of parameters, as all below
  std::vector<Expr> inertia;  // one number in the plane; xx, yy, zz, xy, xz, yz in space
  std::vector<BodyPoint> points;
  BodyShape shape;

  bool spatial() const { return dimension == 3; }
  std::size_t coordinates() const { return spatial() ? 6 : 3; }
  std::size_t states() const { return !spatial() ? 0 : nonspinning ? 5 : 4; }  // of the orientation
  std::size_t first_turn() const { return first + dimension; }  // number of the coordinate of its rotation
};

// The formulas of a body. Making them for a body in space defines the slopes of its orientation in the pool.
class BodyFormulas {
 public:
  BodyFormulas(Expressions& pool, const Body& body);

  const ExprVector& centre() const { return centre_; }
  ExprVector rates() const;                            // omega in body axes; in the plane the one rate
  ExprVector axis(std::size_t k) const;                // unit vector of the body, space axes
  ExprVector turned(const ExprVector& in_body) const;  // R u: from body axes to space axes
  ExprVector at(const ExprVector& offset) const;       // the place of a body point
  ExprVector spin() const;      // angular velocity, space axes; three components also in the plane
  ExprVector momentum() const;  // angular momentum about the centre of mass, space axes
  Expr kinetic_energy() const;
  // -(rate of the axes) x (I omega), in the axes of the velocities [body-1]; in space
  std::vector<Expr> gyroscopic_torque() const;
  std::vector<Expr> orientation() const;        // the quaternion of the body at unit length; in space
  std::vector<Expr> orientation_rates() const;  // of the states of the orientation; in space
  ExprVector in_frame(const ExprVector& in_body) const;  // from body axes to those of the velocities

 private:
  void define_slopes(const std::vector<std::vector<Expr>>& frame);
  void add_spin();
  ExprVector velocities() const;  // of the rotation, in the axes of the frame
  ExprVector inertia_times_velocities() const;

  Expressions& pool_;
  const Body& body_;
  ExprVector centre_;
  std::array<Expr, 4> q_{};                  // in space
  std::vector<std::vector<Expr>> rotation_;  // by row: from body axes
  std::vector<std::vector<Expr>> frame_;     // by row: from the axes of the velocities
  Expr cosine_{}, sine_{};                   // of the spin, of a nonspinning frame
};

// The velocity of a place that moves with coordinates, and the generalized force of a force that acts there: F r_q.
ExprVector velocity_of(Expressions& pool, const ExprVector& place);
void add_force_at(Expressions& pool, const ExprVector& place, const ExprVector& force,
                  std::vector<Expr>& generalized);

}  // namespace zwang
