// Bodies, joints and geoms of MJCF; masses and inertias from geoms where the file has none.
#include "host/import/read_mjcf.h"

#include <Eigen/Dense>
#include <cmath>
#include <pugixml.hpp>
#include <set>

#include "host/import/mechanism.h"
#include "host/import/mjcf_defaults.h"
#include "host/import/solid_inertia.h"
#include "host/import/xml_file.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr int mjcf_depth_limit = 200;

// Attributes that say how a geom looks.
const std::set<std::string> appearance = {"rgba", "material", "group"};

// Where the elements of a <body> or <frame> are: in the frame of the body, below these classes.
struct MjcfPlace {
  std::size_t body = world_body;
  Pose frame;              // of the element around, in the body
  std::string childclass;  // of defaults
  bool fixed = true;       // neither the body nor one around it moves
  Pose absolute;           // of the body in the world, where it is fixed
  int depth = 0;
};

class MjcfReader {
 public:
  explicit MjcfReader(const XmlFile& file) : file_(file) {}

  Mechanism read() {
    const pugi::xml_node root = file_.root();
    mechanism_.name = root.attribute("model") ? root.attribute("model").value() : "model";
    mechanism_.bodies_touch = true;
    // Settings and defaults come first, wherever they are in the file.
    for (const pugi::xml_node& node : root.children("compiler")) read_compiler(node);
    for (const pugi::xml_node& node : root.children("option")) read_option(node);
    for (const pugi::xml_node& node : root.children("default")) defaults_.read(file_, node, omissions_);
    bool has_world = false;
    for (const pugi::xml_node& node : root.children()) {
      const std::string_view element = node.name();
      if (node.type() != pugi::node_element || element == "compiler" || element == "option" ||
          element == "default")
        continue;
      if (element == "worldbody") {
        has_world = true;
        read_elements(node, MjcfPlace{world_body, Pose{}, "main", true, Pose{}, 0});
      } else if (element == "keyframe") {
        read_keyframes(node);
      } else {
        omit_element(file_, node, omissions_);
      }
    }
    if (!has_world)
      throw Error({.where = file_.where(root),
                   .message = "the model has no <worldbody>",
                   .found = "",
                   .expected = "<worldbody> with a tree of <body>"});
    scale_masses();
    if (!contacts_) mechanism_.planes.clear();
    mechanism_.bodies_touch = contacts_;
    mechanism_.left_out = omissions_.texts();
    return std::move(mechanism_);
  }

 private:
  bool read_switch(Attributes& attributes, const char* name, bool otherwise) {
    const auto found = attributes.text(name);
    if (!found) return otherwise;
    if (*found != "true" && *found != "false")
      attributes.refuse(std::string("'") + name + "' is not a switch", *found, "true or false");
    return *found == "true";
  }

  void read_compiler(const pugi::xml_node& node) {
    Attributes attributes(file_, node);
    if (const auto angle = attributes.text("angle")) {
      if (*angle != "degree" && *angle != "radian")
        attributes.refuse("unknown unit of angles", *angle, "degree or radian");
      compiler_.angle = *angle == "radian" ? 1 : MjcfCompiler{}.angle;
    }
    if (const auto coordinate = attributes.text("coordinate"); coordinate && *coordinate != "local")
      attributes.refuse("coordinates of another kind than local", *coordinate, "coordinate=\"local\"",
                        "saving the file with a current version of MuJoCo makes them local");
    if (const auto sequence = attributes.text("eulerseq")) {
      if (sequence->size() != 3 || sequence->find_first_not_of("xyzXYZ") != std::string::npos)
        attributes.refuse("no sequence of axes", *sequence, "three letters of x, y, z, X, Y, Z");
      compiler_.euler_sequence = *sequence;
    }
    compiler_.automatic_limits = read_switch(attributes, "autolimits", compiler_.automatic_limits);
    if (const auto from = attributes.text("inertiafromgeom")) {
      if (*from != "true" && *from != "false" && *from != "auto")
        attributes.refuse("unknown value of 'inertiafromgeom'", *from, "true, false or auto");
      compiler_.inertia_from_geoms = *from;
    }
    if (const auto range = attributes.numbers("inertiagrouprange", 2, 2)) {
      compiler_.least_group = (*range)[0];
      compiler_.most_group = (*range)[1];
    }
    compiler_.total_mass = attributes.number_or("settotalmass", compiler_.total_mass);
    attributes.omit_rest(omissions_, {"meshdir", "texturedir", "assetdir", "strippath", "discardvisual"});
    for (const pugi::xml_node& child : node.children())
      if (child.type() == pugi::node_element) omit_element(file_, child, omissions_);
  }

  void read_option(const pugi::xml_node& node) {
    Attributes attributes(file_, node);
    mechanism_.gravity = attributes.vector_or("gravity", mechanism_.gravity);
    attributes.omit_rest(omissions_);
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      if (std::string_view(child.name()) != "flag") {
        omit_element(file_, child, omissions_);
        continue;
      }
      Attributes flags(file_, child);
      if (flags.text("gravity").value_or("enable") == "disable") mechanism_.gravity.setZero();
      if (flags.text("contact").value_or("enable") == "disable") contacts_ = false;
      flags.omit_rest(omissions_);
    }
  }

  void read_elements(const pugi::xml_node& node, const MjcfPlace& place) {
    if (place.depth > mjcf_depth_limit)
      throw Error({.where = file_.where(node),
                   .message = "bodies are nested too deeply",
                   .found = "more than " + std::to_string(mjcf_depth_limit) + " levels",
                   .expected = "at most " + std::to_string(mjcf_depth_limit)});
    // The joints of a body come first: whether it is fixed decides what its geoms are.
    MjcfPlace inside = place;
    for (const pugi::xml_node& child : node.children()) {
      const std::string_view element = child.name();
      if (element == "joint" || element == "freejoint") read_joint(child, inside);
    }
    if (inside.body != world_body) {
      const MechanismBody& body = mechanism_.bodies[inside.body];
      if (body.free || !body.freedoms.empty()) inside.fixed = false;
    }
    for (const pugi::xml_node& child : node.children()) {
      const std::string_view element = child.name();
      if (child.type() != pugi::node_element || element == "joint" || element == "freejoint") continue;
      if (element == "geom")
        read_geom(child, inside);
      else if (element == "body")
        read_body(child, inside);
      else if (element == "frame")
        read_frame(child, inside);
      else if (element == "inertial" && inside.body != world_body)
        read_inertial(child, inside);
      else
        omissions_.add("<" + printable(element) + ">", file_.where(child));
    }
  }

  void read_frame(const pugi::xml_node& node, MjcfPlace place) {
    Attributes attributes(file_, node);
    attributes.text("name");
    place.frame = place.frame * mjcf_pose(attributes, compiler_);
    place.childclass = class_of(attributes, place);
    ++place.depth;
    attributes.omit_rest(omissions_);
    read_elements(node, place);
  }

  std::string class_of(Attributes& attributes, const MjcfPlace& place) {
    const auto given = attributes.text("childclass");
    if (given) defaults_.require_class(attributes, *given);
    return given.value_or(place.childclass);
  }

  void read_body(const pugi::xml_node& node, const MjcfPlace& place) {
    Attributes attributes(file_, node);
    MechanismBody body;
    body.name = attributes.text("name").value_or("body_" + std::to_string(mechanism_.bodies.size() + 1));
    body.where = attributes.where();
    body.parent = place.body;
    body.zero = place.frame * mjcf_pose(attributes, compiler_);
    MjcfPlace inside;
    inside.body = mechanism_.bodies.size();
    inside.childclass = class_of(attributes, place);
    inside.fixed = place.fixed;
    inside.absolute = place.absolute * body.zero;
    inside.depth = place.depth + 1;
    attributes.omit_rest(omissions_);
    mechanism_.bodies.push_back(std::move(body));
    has_inertial_.push_back(false);
    read_elements(node, inside);
  }

  void read_inertial(const pugi::xml_node& node, const MjcfPlace& place) {
    Attributes attributes(file_, node);
    const auto mass = attributes.number("mass");
    if (!mass) attributes.refuse("'mass' is missing", "", "mass=\"..\"");
    Inertial made;
    made.mass = require_not_negative(attributes, "mass", *mass);
    const Pose pose = mjcf_pose(attributes, compiler_);
    const auto diagonal = attributes.numbers("diaginertia", 3, 3),
               full = attributes.numbers("fullinertia", 6, 6);
    if (diagonal)
      made.inertia = Eigen::Vector3d((*diagonal)[0], (*diagonal)[1], (*diagonal)[2]).asDiagonal();
    else if (full)
      made.inertia << (*full)[0], (*full)[3], (*full)[4], (*full)[3], (*full)[1], (*full)[5], (*full)[4],
          (*full)[5], (*full)[2];
    else
      attributes.refuse("the inertia is missing", "", "diaginertia or fullinertia");
    attributes.omit_rest(omissions_);
    if (compiler_.inertia_from_geoms == "true") return;
    mechanism_.bodies[place.body].inertial = moved_inertial(made, place.frame * pose);
    has_inertial_[place.body] = true;
  }

  void read_joint(const pugi::xml_node& node, const MjcfPlace& place) {
    Attributes attributes = defaults_.of(file_, node, place.childclass);
    if (place.body == world_body)
      attributes.refuse("the world has no joints", "a joint in <worldbody>", "a joint in a <body>");
    MechanismBody& body = mechanism_.bodies[place.body];
    Freedom made;
    made.name = attributes.text("name").value_or(
        body.name + "_joint" + (body.freedoms.empty() ? "" : "_" + std::to_string(body.freedoms.size() + 1)));
    made.where = attributes.where();
    const bool free_element = std::string_view(node.name()) == "freejoint";
    const std::string type = free_element ? "free" : attributes.text("type").value_or("hinge");
    if (type == "free") {
      if (body.parent != world_body || !body.freedoms.empty() || body.free)
        attributes.refuse("a free joint is the only joint of a body of the world", "", "one free joint");
      body.free = true;
      attributes.omit_rest(omissions_, {"group", "limited", "axis", "pos", "range"});
      return;
    }
    if (body.free)
      attributes.refuse("a body with a free joint has another joint", made.name, "one free joint");
    if (type != "hinge" && type != "slide" && type != "ball")
      attributes.refuse("unknown type of joint", type, "hinge, slide, ball or free",
                        suggestion(type, {"hinge", "slide", "ball", "free"}));
    made.kind = type == "hinge"   ? FreedomKind::hinge
                : type == "slide" ? FreedomKind::slide
                                  : FreedomKind::ball;
    const Eigen::Vector3d axis = attributes.vector_or("axis", Eigen::Vector3d::UnitZ());
    made.axis = place.frame.turn * require_direction(attributes, "axis", axis);
    made.place = place.frame.at(attributes.vector_or("pos", Eigen::Vector3d::Zero()));
    read_joint_laws(attributes, made);
    attributes.omit_rest(omissions_, {"group"});
    body.freedoms.push_back(made);
  }

  // Positions of the file are counted from `ref`, those of a freedom from the pose in the file.
  void read_joint_laws(Attributes& attributes, Freedom& made) {
    const double unit = made.kind == FreedomKind::slide ? 1 : compiler_.angle;
    made.offset = unit * attributes.number_or("ref", 0);
    made.damping = require_not_negative(attributes, "damping", attributes.number_or("damping", 0));
    made.friction = require_not_negative(attributes, "frictionloss", attributes.number_or("frictionloss", 0));
    made.stiffness = require_not_negative(attributes, "stiffness", attributes.number_or("stiffness", 0));
    made.relaxed = unit * attributes.number_or("springref", 0) - made.offset;
    const auto range = attributes.numbers("range", 2, 2);
    const std::string limited = attributes.text("limited").value_or("auto");
    if (limited != "auto" && limited != "true" && limited != "false")
      attributes.refuse("unknown value of 'limited'", limited, "true, false or auto");
    const bool bounded = limited == "true" || (limited == "auto" && range && compiler_.automatic_limits);
    if (bounded && !range) attributes.refuse("limited, but 'range' is missing", "", "range=\"lower upper\"");
    if (!bounded) return;
    const double lower = unit * (*range)[0], upper = unit * (*range)[1];
    if (made.kind == FreedomKind::ball) {
      if (lower != 0 || !(upper > 0))
        attributes.refuse("'range' of a ball joint", number_text(lower) + " " + number_text(upper),
                          "0 and the largest rotation");
      made.upper = upper;
      return;
    }
    if (!(lower < upper))
      attributes.refuse("'range' is empty", number_text((*range)[0]) + " " + number_text((*range)[1]),
                        "lower < upper");
    made.lower = lower - made.offset;
    made.upper = upper - made.offset;
  }

  // Postures; what else a keyframe holds, velocities among it, is left out.
  void read_keyframes(const pugi::xml_node& node) {
    constexpr std::size_t most = 100000;
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      if (std::string_view(child.name()) != "key") {
        omit_element(file_, child, omissions_);
        continue;
      }
      Attributes attributes(file_, child);
      Keyframe made;
      made.name = attributes.text("name").value_or("key_" + std::to_string(mechanism_.keyframes.size() + 1));
      made.where = attributes.where();
      const auto positions = attributes.numbers("qpos", 1, most);
      attributes.omit_rest(omissions_, {"time"});
      if (!positions) continue;
      made.positions = *positions;
      mechanism_.keyframes.push_back(std::move(made));
    }
  }

  unsigned read_bits(Attributes& attributes, const char* name) {
    const double value = attributes.number_or(name, 1);
    if (value < 0 || value > 2147483647.0 || value != std::floor(value))
      attributes.refuse(std::string("'") + name + "' is not a set of bits", number_text(value),
                        "a whole number >= 0");
    return static_cast<unsigned>(value);
  }

  void read_geom(const pugi::xml_node& node, const MjcfPlace& place) {
    Attributes attributes = defaults_.of(file_, node, place.childclass);
    const std::string type = attributes.text("type").value_or(attributes.has("mesh") ? "mesh" : "sphere");
    const std::string name = attributes.text("name").value_or("");
    const double group = attributes.number_or("group", 0);
    const auto friction = attributes.numbers("friction", 1, 3);
    const double sliding = require_not_negative(attributes, "friction", friction ? friction->front() : 1);
    if (friction && friction->size() > 1)
      omissions_.add("friction of <geom> against spin and rolling, the numbers after the first",
                     attributes.where());
    const bool rubs = attributes.number_or("condim", 3) > 1;
    const unsigned kinds = read_bits(attributes, "contype"), affinity = read_bits(attributes, "conaffinity");
    if (type == "plane") {
      read_plane(attributes, place, {name, {}, {}, sliding, rubs, kinds, affinity});
      return;
    }
    static const std::map<std::string, SolidKind> solid_kinds = {{"sphere", SolidKind::sphere},
                                                                 {"capsule", SolidKind::capsule},
                                                                 {"cylinder", SolidKind::cylinder},
                                                                 {"box", SolidKind::box},
                                                                 {"ellipsoid", SolidKind::ellipsoid}};
    const auto kind = solid_kinds.find(type);
    if (kind == solid_kinds.end()) {
      if (type != "mesh" && type != "hfield" && type != "sdf")
        attributes.refuse("unknown type of geom", type,
                          "plane, sphere, capsule, cylinder, box, ellipsoid or mesh");
      omissions_.add("<geom> of type " + type + ": its shape and its mass", attributes.where());
      return;
    }
    Solid solid;
    solid.kind = kind->second;
    solid.friction = sliding;
    solid.rubs = rubs;
    solid.type = kinds;
    solid.affinity = affinity;
    solid.name = name;
    read_extent(attributes, solid);
    solid.pose = place.frame * solid.pose;
    const auto mass = attributes.number("mass");
    const double density = require_not_negative(attributes, "density", attributes.number_or("density", 1000));
    const double weight =
        mass ? require_not_negative(attributes, "mass", *mass) : density * solid_volume(solid);
    attributes.omit_rest(omissions_, appearance);
    const bool touches = kinds != 0 || affinity != 0;
    if (place.body == world_body) {
      if (touches)
        omissions_.add("<geom> of type " + type + " of the world: only planes are touched",
                       attributes.where());
      return;
    }
    MechanismBody& body = mechanism_.bodies[place.body];
    const bool counted = group >= compiler_.least_group && group <= compiler_.most_group;
    if (compiler_.inertia_from_geoms != "false" && counted)
      geoms_mass(place.body, solid_inertial(solid, weight));
    if (touches) body.solids.push_back(solid);
  }

  // An <inertial> replaces the masses of the geoms, whether it comes before or after them.
  void geoms_mass(std::size_t body, const Inertial& more) {
    if (has_inertial_[body]) return;
    mechanism_.bodies[body].inertial = joined_inertials(mechanism_.bodies[body].inertial, more);
  }

  // size, and where it is: pos with an orientation, or fromto.
  void read_extent(Attributes& attributes, Solid& solid) {
    const auto ends = attributes.numbers("fromto", 6, 6);
    const auto size = attributes.numbers("size", 1, 3);
    const bool round = solid.kind == SolidKind::capsule || solid.kind == SolidKind::cylinder;
    const std::size_t needed = solid.kind == SolidKind::sphere || ends ? 1 : round ? 2 : 3;
    if (!size || size->size() < needed)
      attributes.refuse("'size' has too few numbers", size ? std::to_string(size->size()) : "none",
                        std::to_string(needed) + " for this type");
    for (std::size_t k = 0; k < size->size(); ++k) solid.size(static_cast<Eigen::Index>(k)) = (*size)[k];
    if (ends && solid.kind != SolidKind::sphere) {
      const Eigen::Vector3d from((*ends)[0], (*ends)[1], (*ends)[2]), to((*ends)[3], (*ends)[4], (*ends)[5]);
      const double half = 0.5 * (to - from).norm();
      solid.pose = {turn_from_z(require_direction(attributes, "fromto", to - from)), 0.5 * (from + to)};
      if (round)
        solid.size.y() = half;
      else
        solid.size = {solid.size.x(), solid.size.x(), half};
      for (const char* ignored : {"pos", "quat", "axisangle", "euler", "xyaxes", "zaxis"})
        attributes.text(ignored);
    } else {
      solid.pose = mjcf_pose(attributes, compiler_);
    }
    const Eigen::Index counted = solid.kind == SolidKind::sphere ? 1 : round ? 2 : 3;
    for (Eigen::Index k = 0; k < counted; ++k) require_positive(attributes, "size", solid.size(k));
  }

  void read_plane(Attributes& attributes, const MjcfPlace& place, Plane plane) {
    if (!place.fixed)
      attributes.refuse("a plane on a body that moves", "type=\"plane\"", "planes in <worldbody>");
    attributes.text("size");  // of the picture: a plane has no edges
    const Pose pose = place.absolute * place.frame * mjcf_pose(attributes, compiler_);
    attributes.omit_rest(omissions_, {"rgba", "material", "group", "density", "mass"});
    if (plane.type == 0 && plane.affinity == 0) return;
    plane.point = pose.place;
    plane.normal = pose.turn.col(2);
    if (plane.name.empty()) plane.name = "plane_" + std::to_string(mechanism_.planes.size() + 1);
    mechanism_.planes.push_back(plane);
  }

  void scale_masses() {
    if (!(compiler_.total_mass > 0)) return;
    double total = 0;
    for (const MechanismBody& body : mechanism_.bodies) total += body.inertial.mass;
    if (!(total > 0)) return;
    for (MechanismBody& body : mechanism_.bodies) {
      body.inertial.mass *= compiler_.total_mass / total;
      body.inertial.inertia *= compiler_.total_mass / total;
    }
  }

  const XmlFile& file_;
  Mechanism mechanism_;
  MjcfCompiler compiler_;
  MjcfDefaults defaults_;
  Omissions omissions_;
  std::vector<bool> has_inertial_;  // by body
  bool contacts_ = true;
};

}  // namespace

Mechanism read_mjcf(const XmlFile& file) { return MjcfReader(file).read(); }

}  // namespace zwang
