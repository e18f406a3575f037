// Steps that are implicit in the directions in which contacts slip in space, where the slip across its
// direction decays much faster than the motion changes. kernels/dynamics/implicit_slip.h derives the method.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <functional>
#include <vector>

#include "kernels/base/status.h"
#include "src/reference/member_state.h"
#include "src/reference/runge_kutta.h"

namespace zwang {

// dy/dt for given modes, which contain the directions of slips.
using RatesForModes = std::function<Status(double t, const Eigen::VectorXd& y, const Eigen::VectorXd& modes,
                                           Eigen::VectorXd& rate)>;

// How long steps may be for the slips in space of a member, each infinite where no slip limits it
// [friction-8]: the direction of a slip turns ever faster where it vanishes, and is not defined beyond. The
// slip across decays at the rate of the deceleration by friction over the slip; explicit methods are stable
// up to about twice the time of that decay. A slip that shrinks until the time resolves no such step comes to
// rest (Motion::rest_unresolved_slip).
struct SlipTimes {
  double
      rest;  // the longest explicit step: stable, and shorter than the time until a slip vanishes at its rate
  double halved;  // until a slip would be halved
  double stable;  // the longest stable explicit step for slips that do not end soon
};
// `rate` is that of the member's state.
SlipTimes slip_times(const MemberState& member, const Eigen::VectorXd& rate);

class ImplicitSlip {
 public:
  // At the start of a step, from y at t.
  ImplicitSlip(const MemberState& member, RatesForModes rates, double t, Eigen::VectorXd y);
  // The step of length h, with its error estimate and the rates at both ends.
  Step take(double h);

 private:
  struct Slip {
    std::size_t friction;
    Eigen::Vector2d direction;  // at the start of the step
    double rounding;            // of the slip
    double shift;               // added to the slip along `direction` before its direction is taken
    double braking;             // change of the slip across with the angle of the direction
    Eigen::VectorXd turning;    // change of the accelerations with the angle of the direction
  };
  // A slip at a state, along and across its direction at the start of the step, and the row across.
  struct SlipState {
    double along, across;
    Eigen::RowVectorXd row;
  };
  SlipState state_of(const Slip& slip, double t, const Eigen::VectorXd& y) const;
  double follow_slip(const Slip& slip, double t, const Eigen::VectorXd& y);
  Eigen::VectorXd turn_directions(double t, const Eigen::VectorXd& y, double h,
                                  const Eigen::VectorXd& angles) const;
  void set_direction(const Slip& slip, const Eigen::Vector2d& direction);
  Status find_turning();
  Status euler_steps(double h, int parts, Eigen::VectorXd& y);

  const MemberState& member_;
  RatesForModes rates_;
  double t_;
  Eigen::VectorXd start_, modes_;
  std::vector<Slip> slips_;
  Status status_;
};

}  // namespace zwang
