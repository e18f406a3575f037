// Classes of defaults; the five ways to write an orientation.
#include "host/import/mjcf_defaults.h"

#include <Eigen/Dense>
#include <cctype>
#include <cmath>

#include "host/import/mechanism.h"
#include "host/import/xml_file.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr int class_depth_limit = 100;

}  // namespace

void MjcfDefaults::read(const XmlFile& file, const pugi::xml_node& node, Omissions& omissions) {
  const std::string name = node.attribute("class") ? node.attribute("class").value() : "main";
  read_class(file, node, name, classes_["main"], 0, omissions);
}

void MjcfDefaults::read_class(const XmlFile& file, const pugi::xml_node& node, const std::string& name,
                              Elements inherited, int depth, Omissions& omissions) {
  const Location where = file.where(node);
  if (name.empty())
    throw Error(
        {.where = where, .message = "<default>: 'class' is missing", .found = "", .expected = "a name"});
  if (depth > class_depth_limit)
    throw Error({.where = where,
                 .message = "<default>: too deeply nested",
                 .found = std::to_string(depth),
                 .expected = "at most " + std::to_string(class_depth_limit) + " levels"});
  for (const pugi::xml_node& child : node.children()) {
    const std::string element = child.name();
    if (child.type() != pugi::node_element || element == "default") continue;
    if (element != "geom" && element != "joint")
      omissions.add("defaults of <" + printable(element) + ">", file.where(child));
    for (const pugi::xml_attribute& attribute : child.attributes())
      inherited[element][attribute.name()] = attribute.value();
  }
  classes_[name] = inherited;
  for (const pugi::xml_node& child : node.children("default"))
    read_class(file, child, child.attribute("class").value(), inherited, depth + 1, omissions);
}

void MjcfDefaults::require_class(const Attributes& attributes, const std::string& name) const {
  if (classes_.contains(name)) return;
  std::vector<std::string> known;
  for (const auto& [one, elements] : classes_) known.push_back(one);
  attributes.refuse("there is no such default class", name, "a class of <default>", suggestion(name, known));
}

Attributes MjcfDefaults::of(const XmlFile& file, const pugi::xml_node& node,
                            const std::string& childclass) const {
  Attributes made(file, node);
  const std::string name = made.text("class").value_or(childclass);
  require_class(made, name);
  const Elements& elements = classes_.at(name);
  if (const auto found = elements.find(node.name()); found != elements.end())
    for (const auto& [attribute, value] : found->second) made.add_default(attribute, value);
  return made;
}

Eigen::Matrix3d turn_from_z(const Eigen::Vector3d& direction) {
  return Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), direction).toRotationMatrix();
}

namespace {

// Lower-case letters turn about the moving axes, upper-case ones about the fixed axes.
Eigen::Matrix3d from_euler(const Attributes& attributes, const std::vector<double>& angles,
                           const MjcfCompiler& compiler) {
  Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
  for (std::size_t k = 0; k < 3; ++k) {
    const char letter = compiler.euler_sequence[k];
    const int axis = std::tolower(static_cast<unsigned char>(letter)) - 'x';
    if (axis < 0 || axis > 2)
      attributes.refuse("no sequence of axes", compiler.euler_sequence, "such as xyz");
    const Eigen::Matrix3d one =
        Eigen::AngleAxisd(angles[k] * compiler.angle, Eigen::Vector3d::Unit(axis)).toRotationMatrix();
    if (std::isupper(static_cast<unsigned char>(letter)))
      turn = one * turn;
    else
      turn = turn * one;
  }
  return turn;
}

Eigen::Matrix3d from_two_axes(const Attributes& attributes, const std::vector<double>& v) {
  const Eigen::Vector3d x = require_direction(attributes, "xyaxes", {v[0], v[1], v[2]}),
                        given(v[3], v[4], v[5]);
  const Eigen::Vector3d y = require_direction(attributes, "xyaxes", given - x.dot(given) * x);
  Eigen::Matrix3d turn;
  turn << x, y, x.cross(y);
  return turn;
}

}  // namespace

Eigen::Matrix3d mjcf_orientation(Attributes& attributes, const MjcfCompiler& compiler) {
  const auto quaternion = attributes.numbers("quat", 4, 4),
             axis_angle = attributes.numbers("axisangle", 4, 4), euler = attributes.numbers("euler", 3, 3),
             axes = attributes.numbers("xyaxes", 6, 6), z_axis = attributes.numbers("zaxis", 3, 3);
  const int given = quaternion.has_value() + axis_angle.has_value() + euler.has_value() + axes.has_value() +
                    z_axis.has_value();
  if (given > 1)
    attributes.refuse("has several orientations", std::to_string(given) + " of them",
                      "one of quat, axisangle, euler, xyaxes, zaxis");
  if (quaternion) {
    const std::vector<double>& q = *quaternion;
    const Eigen::Quaterniond made(q[0], q[1], q[2], q[3]);
    if (!(made.norm() > 0)) attributes.refuse("a quaternion of length 0", "0 0 0 0", "w x y z, not all 0");
    return made.normalized().toRotationMatrix();
  }
  if (axis_angle) {
    const std::vector<double>& a = *axis_angle;
    return Eigen::AngleAxisd(a[3] * compiler.angle,
                             require_direction(attributes, "axisangle", {a[0], a[1], a[2]}))
        .toRotationMatrix();
  }
  if (euler) return from_euler(attributes, *euler, compiler);
  if (axes) return from_two_axes(attributes, *axes);
  if (z_axis)
    return turn_from_z(require_direction(attributes, "zaxis", {(*z_axis)[0], (*z_axis)[1], (*z_axis)[2]}));
  return Eigen::Matrix3d::Identity();
}

Pose mjcf_pose(Attributes& attributes, const MjcfCompiler& compiler) {
  Pose pose;
  pose.place = attributes.vector_or("pos", Eigen::Vector3d::Zero());
  pose.turn = mjcf_orientation(attributes, compiler);
  return pose;
}

}  // namespace zwang
