// Links and joints of URDF become bodies and freedoms; the tree is ordered from its root.
#include "host/import/read_urdf.h"

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <pugixml.hpp>

#include "host/import/mechanism.h"
#include "host/import/xml_file.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

struct UrdfJoint {
  std::string name, parent, child;
  Location where;
  Pose origin;
  std::vector<Freedom> freedoms;
  bool free = false;
};

class UrdfReader {
 public:
  UrdfReader(const XmlFile& file, const UrdfOptions& options) : file_(file), options_(options) {}

  Mechanism read() {
    const pugi::xml_node robot = file_.root();
    Attributes attributes(file_, robot);
    mechanism_.name = attributes.text("name").value_or("robot");
    for (const pugi::xml_node& node : robot.children()) {
      if (node.type() != pugi::node_element) continue;
      const std::string_view element = node.name();
      if (element == "link")
        read_link(node);
      else if (element == "joint")
        read_joint(node);
      else
        omit_element(file_, node, omissions_);
    }
    if (links_.empty())
      throw Error({.where = file_.where(robot),
                   .message = "the robot has no links",
                   .found = "no <link>",
                   .expected = "<link name=\"...\"> with <inertial>"});
    order_links();
    add_ground();
    mechanism_.left_out = omissions_.texts();
    return std::move(mechanism_);
  }

 private:
  // xyz, and rpy: rotations about the fixed axes x, y, z in this order.
  Pose read_origin(const pugi::xml_node& node) {
    if (!node) return {};
    Attributes attributes(file_, node);
    const Eigen::Vector3d rpy = attributes.vector_or("rpy", Eigen::Vector3d::Zero());
    Pose pose;
    pose.place = attributes.vector_or("xyz", Eigen::Vector3d::Zero());
    pose.turn = (Eigen::AngleAxisd(rpy.z(), Eigen::Vector3d::UnitZ()) *
                 Eigen::AngleAxisd(rpy.y(), Eigen::Vector3d::UnitY()) *
                 Eigen::AngleAxisd(rpy.x(), Eigen::Vector3d::UnitX()))
                    .toRotationMatrix();
    attributes.omit_rest(omissions_);
    return pose;
  }

  Inertial read_inertial(const pugi::xml_node& node, const std::string& link) {
    const pugi::xml_node mass = node.child("mass"), inertia = node.child("inertia");
    const auto missing = [&](const char* what, const char* form) {
      throw Error({.where = file_.where(node),
                   .message = "<inertial> of link '" + link + "' has no <" + what + ">",
                   .found = "",
                   .expected = form});
    };
    if (!mass) missing("mass", "<mass value=\"1.0\"/>");
    if (!inertia)
      missing("inertia", "<inertia ixx=\"..\" ixy=\"..\" ixz=\"..\" iyy=\"..\" iyz=\"..\" izz=\"..\"/>");
    Inertial made;
    Attributes of_mass(file_, mass);
    const auto value = of_mass.number("value");
    if (!value) of_mass.refuse("'value' is missing", "", "<mass value=\"1.0\"/>");
    made.mass = require_not_negative(of_mass, "value", *value);
    Attributes of_inertia(file_, inertia);
    const auto entry = [&](const char* name, bool needed) {
      const auto found = of_inertia.number(name);
      if (!found && needed)
        of_inertia.refuse(std::string("'") + name + "' is missing", "", "ixx, iyy and izz");
      return found.value_or(0);
    };
    const double xx = entry("ixx", true), yy = entry("iyy", true), zz = entry("izz", true);
    const double xy = entry("ixy", false), xz = entry("ixz", false), yz = entry("iyz", false);
    made.inertia << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    of_mass.omit_rest(omissions_);
    of_inertia.omit_rest(omissions_);
    for (const pugi::xml_node& child : node.children()) {
      const std::string_view name = child.name();
      if (child.type() == pugi::node_element && name != "origin" && name != "mass" && name != "inertia")
        omit_element(file_, child, omissions_);
    }
    return moved_inertial(made, read_origin(node.child("origin")));
  }

  void read_collision(const pugi::xml_node& node, MechanismBody& body) {
    const pugi::xml_node shape = node.child("geometry").first_child();
    Solid solid;
    solid.pose = read_origin(node.child("origin"));
    solid.friction = options_.friction;
    solid.name = node.attribute("name").value();
    const std::string_view kind = shape.name();
    Attributes attributes(file_, shape ? shape : node);
    const auto length = [&](const char* name) {
      const auto found = attributes.number(name);
      if (!found) attributes.refuse(std::string("'") + name + "' is missing", "", "a number > 0");
      return require_positive(attributes, name, *found);
    };
    if (kind == "sphere") {
      solid.kind = SolidKind::sphere;
      solid.size.x() = length("radius");
    } else if (kind == "box") {
      solid.kind = SolidKind::box;
      solid.size = 0.5 * attributes.vector_or("size", Eigen::Vector3d::Zero());
      for (int k = 0; k < 3; ++k) require_positive(attributes, "size", solid.size(k));
    } else if (kind == "cylinder" || kind == "capsule") {
      solid.kind = kind == "cylinder" ? SolidKind::cylinder : SolidKind::capsule;
      solid.size.x() = length("radius");
      solid.size.y() = 0.5 * length("length");
    } else {
      omissions_.add("collision shape <" + printable(kind) + "> of link '" + body.name + "'",
                     file_.where(node));
      return;
    }
    body.solids.push_back(solid);
  }

  void read_link(const pugi::xml_node& node) {
    Attributes attributes(file_, node);
    MechanismBody body;
    body.name = attributes.required_text("name", "<link name=\"...\">");
    body.where = attributes.where();
    attributes.omit_rest(omissions_);
    if (index_.contains(body.name))
      attributes.refuse("the name is taken", body.name, "links with different names");
    bool massive = false;
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      const std::string_view element = child.name();
      if (element == "inertial") {
        if (massive) attributes.refuse("has two <inertial>", "", "one <inertial>");
        massive = true;
        body.inertial = read_inertial(child, body.name);
      } else if (element == "collision") {
        read_collision(child, body);
      } else {
        omissions_.add("<" + printable(element) + "> of <link>", file_.where(child));
      }
    }
    index_[body.name] = links_.size();
    links_.push_back(std::move(body));
  }

  // Limits, dry friction and damping. Limits without numbers bound nothing.
  void read_joint_laws(const pugi::xml_node& node, Freedom& freedom, bool limited) {
    if (const pugi::xml_node dynamics = node.child("dynamics")) {
      Attributes attributes(file_, dynamics);
      freedom.damping = require_not_negative(attributes, "damping", attributes.number_or("damping", 0));
      freedom.friction = require_not_negative(attributes, "friction", attributes.number_or("friction", 0));
      attributes.omit_rest(omissions_);
    }
    const pugi::xml_node limit = node.child("limit");
    if (!limit) return;
    Attributes attributes(file_, limit);
    if (limited) {
      freedom.lower = attributes.number("lower");
      freedom.upper = attributes.number("upper");
      // One of them alone leaves the other at 0, the default of the format.
      if (freedom.lower && !freedom.upper) freedom.upper = 0;
      if (freedom.upper && !freedom.lower) freedom.lower = 0;
      if (freedom.lower && *freedom.lower > *freedom.upper)
        attributes.refuse("joint '" + freedom.name + "': lower is above upper",
                          number_text(*freedom.lower) + " > " + number_text(*freedom.upper),
                          "lower <= upper");
      if (!freedom.lower)
        mechanism_.notes.push_back("joint '" + freedom.name + "' has no lower and upper limit: not limited");
    }
    attributes.omit_rest(omissions_);
  }

  Eigen::Vector3d read_axis(const pugi::xml_node& node) {
    const pugi::xml_node axis = node.child("axis");
    if (!axis) return Eigen::Vector3d::UnitX();
    Attributes attributes(file_, axis);
    return require_direction(attributes, "xyz", attributes.vector_or("xyz", Eigen::Vector3d::UnitX()));
  }

  void read_joint(const pugi::xml_node& node) {
    Attributes attributes(file_, node);
    UrdfJoint joint;
    joint.name = attributes.required_text("name", "<joint name=\"...\" type=\"...\">");
    joint.where = attributes.where();
    const std::string type =
        attributes.required_text("type", "revolute, continuous, prismatic, fixed, floating or planar");
    attributes.omit_rest(omissions_);
    const auto end = [&](const char* name) {
      const pugi::xml_node found = node.child(name);
      if (!found.attribute("link"))
        attributes.refuse(std::string("<") + name + "> is missing", "",
                          std::string("<") + name + " link=\"...\"/>");
      return std::string(found.attribute("link").value());
    };
    joint.parent = end("parent");
    joint.child = end("child");
    joint.origin = read_origin(node.child("origin"));
    Freedom freedom;
    freedom.name = joint.name;
    freedom.where = joint.where;
    freedom.axis = read_axis(node);
    if (type == "revolute" || type == "continuous" || type == "prismatic") {
      freedom.kind = type == "prismatic" ? FreedomKind::slide : FreedomKind::hinge;
      read_joint_laws(node, freedom, type != "continuous");
      add_moving(joint, freedom);
    } else if (type == "planar") {
      add_planar(joint, freedom);
    } else if (type == "floating") {
      joint.free = true;
    } else if (type != "fixed") {
      attributes.refuse(
          "unknown type of joint", type, "revolute, continuous, prismatic, fixed, floating or planar",
          suggestion(type, {"revolute", "continuous", "prismatic", "fixed", "floating", "planar"}));
    }
    for (const pugi::xml_node& child : node.children()) {
      const std::string_view name = child.name();
      const bool read = name == "origin" || name == "parent" || name == "child" || name == "axis" ||
                        name == "limit" || name == "dynamics";
      if (child.type() == pugi::node_element && !read)
        omissions_.add("<" + printable(name) + "> of joint '" + joint.name + "'", file_.where(child));
    }
    joints_.push_back(std::move(joint));
  }

  // A joint whose limits are equal does not move.
  void add_moving(UrdfJoint& joint, const Freedom& freedom) {
    if (!freedom.lower || *freedom.lower < *freedom.upper) {
      joint.freedoms.push_back(freedom);
      return;
    }
    joint.origin = joint.origin * freedom_pose(freedom, *freedom.lower);
    mechanism_.notes.push_back("joint '" + joint.name + "': lower = upper, so it is fixed");
  }

  // Motion in the plane across the axis: two slides and a hinge.
  static void add_planar(UrdfJoint& joint, const Freedom& normal) {
    const Eigen::Vector3d across = normal.axis.unitOrthogonal();
    Freedom slide = normal;
    slide.kind = FreedomKind::slide;
    slide.axis = across;
    slide.name = joint.name + "_1";
    joint.freedoms.push_back(slide);
    slide.axis = normal.axis.cross(across);
    slide.name = joint.name + "_2";
    joint.freedoms.push_back(slide);
    Freedom turn = normal;
    turn.kind = FreedomKind::hinge;
    turn.name = joint.name + "_angle";
    joint.freedoms.push_back(turn);
  }

  // Joints by child; every link has one parent at most, and all come from one root.
  void order_links() {
    std::map<std::string, const UrdfJoint*> above;
    std::map<std::string, std::vector<const UrdfJoint*>> below;
    for (const UrdfJoint& joint : joints_) {
      for (const std::string* end : {&joint.parent, &joint.child})
        if (!index_.contains(*end)) {
          std::vector<std::string> known;
          for (const auto& [name, place] : index_) known.push_back(name);
          throw Error({.where = joint.where,
                       .message = "joint '" + joint.name + "' names a link that does not exist",
                       .found = printable(*end),
                       .expected = "the name of a link",
                       .hint = suggestion(*end, known)});
        }
      const auto [it, fresh] = above.emplace(joint.child, &joint);
      if (!fresh)
        throw Error({.where = joint.where,
                     .message = "link '" + joint.child + "' has two parents",
                     .found = "joints '" + it->second->name + "' and '" + joint.name + "'",
                     .expected = "a tree: each link is the child of one joint at most"});
      below[joint.parent].push_back(&joint);
    }
    std::vector<std::string> roots;
    for (const MechanismBody& link : links_)
      if (!above.contains(link.name)) roots.push_back(link.name);
    if (roots.empty())
      throw Error({.where = joints_.front().where,
                   .message = "the joints form a cycle: no link is without a parent",
                   .found = std::to_string(links_.size()) + " links, each the child of a joint",
                   .expected = "a tree with one root link"});
    if (roots.size() > 1)
      throw Error({.where = links_[index_[roots[1]]].where,
                   .message = "the robot has several root links",
                   .found = list_text(roots),
                   .expected = "one link that is the child of no joint"});
    add_below(roots.front(), below);
    if (mechanism_.bodies.size() < links_.size()) report_cycle(above);
  }

  void add_below(const std::string& root, const std::map<std::string, std::vector<const UrdfJoint*>>& below) {
    std::map<std::string, std::size_t> places;
    MechanismBody base = links_[index_[root]];
    const bool moves = options_.floating_base && base.inertial.mass > 0 && root != "world";
    base.free = moves;
    mechanism_.notes.push_back(
        "the root link '" + root +
        (moves ? "' moves freely" : "' is fixed to the world (--base floating lets it move)"));
    std::vector<std::string> waiting = {root};
    places[root] = 0;
    mechanism_.bodies.push_back(std::move(base));
    // Breadth first; the list grows while it is read.
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const std::string link = waiting[i];
      const auto found = below.find(link);
      if (found == below.end()) continue;
      for (const UrdfJoint* joint : found->second) {
        MechanismBody body = links_[index_[joint->child]];
        body.parent = places[link];
        body.zero = joint->origin;
        body.freedoms = joint->freedoms;
        body.free = joint->free;
        places[joint->child] = mechanism_.bodies.size();
        waiting.push_back(joint->child);
        mechanism_.bodies.push_back(std::move(body));
      }
    }
  }

  [[noreturn]] void report_cycle(const std::map<std::string, const UrdfJoint*>& above) {
    std::set<std::string> reached;
    for (const MechanismBody& body : mechanism_.bodies) reached.insert(body.name);
    for (const MechanismBody& link : links_)
      if (!reached.contains(link.name))
        throw Error({.where = above.at(link.name)->where,
                     .message = "the joints form a cycle that contains link '" + link.name + "'",
                     .found = "joint '" + above.at(link.name)->name + "'",
                     .expected = "a tree: every link is reached from the root link",
                     .hint = "close loops in the study, by a [[link]]"});
    throw Error({.message = "the joints form a cycle"});
  }

  void add_ground() {
    if (!options_.ground) {
      std::size_t solids = 0;
      for (const MechanismBody& body : mechanism_.bodies) solids += body.solids.size();
      if (solids > 0)
        omissions_.add(
            "all collision shapes: there is nothing they could touch (--ground adds the plane z = 0)", {});
      for (MechanismBody& body : mechanism_.bodies) body.solids.clear();
      return;
    }
    Plane ground;
    ground.name = "ground";
    ground.friction = options_.friction;
    mechanism_.planes.push_back(ground);
    mechanism_.notes.push_back("the ground has the coefficient of friction " +
                               number_text(options_.friction) + ": the file format has none");
  }

  const XmlFile& file_;
  UrdfOptions options_;
  Mechanism mechanism_;
  Omissions omissions_;
  std::vector<MechanismBody> links_;
  std::map<std::string, std::size_t> index_;
  std::vector<UrdfJoint> joints_;
};

}  // namespace

Mechanism read_urdf(const XmlFile& file, const UrdfOptions& options) {
  return UrdfReader(file, options).read();
}

}  // namespace zwang
