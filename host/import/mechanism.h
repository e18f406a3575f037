// A mechanism as robot description files have it: a tree of bodies, each with the freedoms of its joint.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"

namespace zwang {

// A frame in another frame: a vector v of the frame is turn v + place there.
struct Pose {
  Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
  Eigen::Vector3d place = Eigen::Vector3d::Zero();

  Eigen::Vector3d at(const Eigen::Vector3d& v) const { return turn * v + place; }
};
Pose operator*(const Pose& outer, const Pose& inner);

struct Inertial {
  double mass = 0;
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();   // of mass, in the frame of the body
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // about the centre of mass, axes of the body
};
// Both in the same frame, rigidly joined.
Inertial joined_inertials(const Inertial& a, const Inertial& b);
// In the frame in which the frame of the body has this pose.
Inertial moved_inertial(const Inertial& inertial, const Pose& pose);

enum class SolidKind { sphere, capsule, cylinder, box, ellipsoid };

// Capsule, cylinder: along z of its frame, size = (radius, half length without caps). Box, ellipsoid: three half
// lengths. Sphere: radius.
struct Solid {
  SolidKind kind = SolidKind::sphere;
  Eigen::Vector3d size = Eigen::Vector3d::Zero();
  Pose pose;  // in the frame of the body
  double friction = 0;
  bool rubs = true;                 // a contact rubs if one of its sides does, with the larger coefficient
  unsigned type = 1, affinity = 1;  // two solids touch if a type of one meets an affinity of the other
  std::string name;
};

enum class FreedomKind { slide, hinge, ball };

// One joint coordinate; positions are counted from the pose `zero` of the body.
struct Freedom {
  FreedomKind kind = FreedomKind::hinge;
  std::string name;
  Location where;
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();  // unit vector, frame of the body
  Eigen::Vector3d place = Eigen::Vector3d::Zero();  // a point of the axis, frame of the body
  std::optional<double> lower, upper;               // a ball has an upper bound of its rotation only
  double damping = 0, friction = 0;                 // force or torque: per rate; dry
  double stiffness = 0, relaxed = 0;                // spring, and the position in which it is relaxed
  double offset = 0;                                // the file calls this the position 0
  double start = 0;
  Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();  // of a ball: its rotation at the start
};

constexpr std::size_t world_body = static_cast<std::size_t>(-1);

struct MechanismBody {
  std::string name;
  Location where;
  std::size_t parent = world_body;  // an earlier body
  Pose zero;                        // in the frame of the parent, all positions 0
  std::vector<Freedom> freedoms;    // outermost first
  bool free = false;                // six freedoms
  Inertial inertial;
  std::vector<Solid> solids;
  Pose rest, start;  // in the world: all positions 0; at the start
};

// A half-space that bodies touch.
struct Plane {
  std::string name;
  Eigen::Vector3d point = Eigen::Vector3d::Zero(), normal = Eigen::Vector3d::UnitZ();
  double friction = 0;
  bool rubs = true;
  unsigned type = 1, affinity = 1;
};

// Positions of all joints, in their order: one number for a hinge or slide, a quaternion for a ball, place and
// quaternion for a free joint.
struct Keyframe {
  std::string name;
  Location where;
  std::vector<double> positions;
};

struct Mechanism {
  std::string name;
  Eigen::Vector3d gravity = {0, 0, -9.81};
  std::vector<MechanismBody> bodies;  // a parent comes before its children
  std::vector<Plane> planes;
  std::vector<Keyframe> keyframes;
  bool bodies_touch = false;          // solids of different bodies are tested against each other
  std::vector<std::string> notes;     // decisions that the reader of the study should know
  std::vector<std::string> left_out;  // what the study does not contain
};

// Bodies without freedoms become part of their parent, with mass, inertia and solids; those on the world vanish.
void merge_fixed_bodies(Mechanism& mechanism);

// The motion of a body's frame by one of its freedoms, as a pose in that frame.
Pose freedom_pose(const Freedom& freedom, double position);

// Fills `rest` and `start` of every body.
void place_bodies(Mechanism& mechanism);

// Throws Error for moving bodies without mass or with an impossible inertia. In the plane only the moment about the
// normal counts.
void require_masses(const Mechanism& mechanism, const std::optional<Eigen::Vector3d>& normal);

}  // namespace zwang
