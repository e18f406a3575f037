// The joints between a body and its parent, taken together: slides before or after rotations about one point.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "host/import/mechanism.h"

namespace zwang {

struct JointGroup {
  std::vector<const Freedom*> slides, hinges;  // outermost first
  const Freedom* ball = nullptr;
  bool slides_first = true;  // the directions of the slides are fixed on the parent, else on the body
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();  // of the rotations, in the frame of the body

  // Freedoms of rotation.
  std::size_t rotations() const { return ball ? 3 : hinges.size(); }
};

// Throws Error if the freedoms of the body are not such a group: these have no conditions without an intermediate body.
JointGroup joint_group(const MechanismBody& body, bool planar);

}  // namespace zwang
