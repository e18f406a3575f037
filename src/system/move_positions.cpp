// Displacements of coordinates and orientations.
#include "src/system/move_positions.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "src/system/body.h"

namespace zwang {

void move_positions(const System& system, const Eigen::VectorXd& displacement, State& state) {
  state.q += displacement;
  for (const Body& body : system.bodies) {
    if (!body.spatial()) continue;
    const auto turn = static_cast<Eigen::Index>(body.first_turn()),
               first = static_cast<Eigen::Index>(body.state);
    state.q.segment<3>(turn).setZero();
    const Eigen::Vector3d angles = displacement.segment<3>(turn);
    const Eigen::Quaterniond now(state.z(first), state.z(first + 1), state.z(first + 2), state.z(first + 3));
    const double angle = angles.norm();
    const Eigen::Quaterniond by = angle > 0 ? Eigen::Quaterniond(Eigen::AngleAxisd(angle, angles / angle))
                                            : Eigen::Quaterniond::Identity();
    const Eigen::Quaterniond then = (now * by).normalized();
    state.z.segment<4>(first) << then.w(), then.x(), then.y(), then.z();
  }
}

double distance_moved(const System& system, const State& from, const State& to) {
  double squares = (to.q - from.q).squaredNorm();
  for (const Body& body : system.bodies) {
    if (!body.spatial()) continue;
    const auto first = static_cast<Eigen::Index>(body.state);
    const Eigen::Vector4d a = from.z.segment<4>(first).normalized(), b = to.z.segment<4>(first).normalized();
    const double angle = 2 * std::min((a - b).norm(), (a + b).norm());  // to first order
    squares += angle * angle;
  }
  return std::sqrt(squares);
}

}  // namespace zwang
