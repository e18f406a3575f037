// Default classes, angles and orientations of MJCF.
#pragma once

#include <Eigen/Dense>
#include <map>
#include <pugixml.hpp>
#include <string>

#include "host/import/mechanism.h"
#include "host/import/xml_file.h"

namespace zwang {

// <default>: attributes of elements by class; a nested class has those of the class around it, and its own.
class MjcfDefaults {
 public:
  // A <default> at the top of the file.
  void read(const XmlFile& file, const pugi::xml_node& node, Omissions& omissions);

  // The attributes of an element with those of its class, or of `childclass`, the class of the bodies around it.
  Attributes of(const XmlFile& file, const pugi::xml_node& node, const std::string& childclass) const;
  // Throws Error if there is no such class.
  void require_class(const Attributes& attributes, const std::string& name) const;

 private:
  using Values = std::map<std::string, std::string>;
  using Elements = std::map<std::string, Values>;
  void read_class(const XmlFile& file, const pugi::xml_node& node, const std::string& name,
                  Elements inherited, int depth, Omissions& omissions);

  std::map<std::string, Elements> classes_ = {{"main", {}}};
};

// <compiler>.
struct MjcfCompiler {
  double angle = 0.017453292519943295;  // radians of one unit of angle in the file
  std::string euler_sequence = "xyz";
  bool automatic_limits = true;
  std::string inertia_from_geoms = "auto";
  double least_group = 0, most_group = 5;  // of geoms that have mass
  double total_mass = -1;                  // scaled to this, if positive
};

// quat, axisangle, euler, xyaxes or zaxis; the identity if there is none of them.
Eigen::Matrix3d mjcf_orientation(Attributes& attributes, const MjcfCompiler& compiler);
// The shortest rotation that takes z to this direction.
Eigen::Matrix3d turn_from_z(const Eigen::Vector3d& direction);
// pos and orientation.
Pose mjcf_pose(Attributes& attributes, const MjcfCompiler& compiler);

}  // namespace zwang
