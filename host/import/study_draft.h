// The parts of a study file while they are collected, and their text.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/import/mechanism.h"
#include "host/import/plane_of_motion.h"

namespace zwang {

// Control characters become question marks.
std::string one_line(const std::string& text);

// Gives every name once, in the letters that studies allow.
class NameTable {
 public:
  NameTable() = default;
  // `avoided`: names that are not given. `in_formulas`: nor are those of functions.
  NameTable(std::set<std::string> avoided, bool in_formulas)
      : taken_(std::move(avoided)), in_formulas_(in_formulas) {}
  std::string give(const std::string& wanted);

 private:
  std::set<std::string> taken_;
  bool in_formulas_ = false;
};

// Directions and places of the mechanism in the axes of the study: those of the plane of motion, or of space. A planar
// body has the axes of the plane where all joints are at 0; a body in space those of its frame in the file.
class StudyAxes {
 public:
  explicit StudyAxes(std::optional<MotionPlane> plane) : plane_(std::move(plane)) {}

  bool planar() const { return plane_.has_value(); }
  Eigen::Index dimension() const { return planar() ? 2 : 3; }
  const std::optional<MotionPlane>& plane() const { return plane_; }
  Eigen::VectorXd in_world(const Eigen::Vector3d& v) const;
  // A direction of the file's frame of a body, in the axes of the study's body.
  Eigen::VectorXd direction(const MechanismBody& body, const Eigen::Vector3d& v) const;
  // A place in the file's frame of a body, from the centre of mass of the study's body.
  Eigen::VectorXd point(const MechanismBody& body, const Eigen::Vector3d& v) const;
  // 1 or -1: the turning sense of a hinge of the plane.
  double sense(const MechanismBody& body, const Freedom& hinge) const;

 private:
  std::optional<MotionPlane> plane_;
};

struct BodyDraft {
  std::string name;
  double angle = 0;  // planar
  std::vector<std::pair<std::string, Eigen::VectorXd>> points;
  NameTable point_names;
  std::string shape;

  // "arm.elbow", or the body itself for its centre of mass. Equal places have one name.
  std::string place(const std::string& wanted, const Eigen::VectorXd& offset);
};

struct StudyDraft {
  explicit StudyDraft(const Mechanism& mechanism, StudyAxes chosen);

  StudyAxes axes;
  std::vector<BodyDraft> bodies;  // as in the mechanism
  NameTable names, conditions, surfaces, observables;
  std::string anchors, links, constraints, surface_entries, contacts, forces, potential;
  std::vector<std::pair<std::string, std::string>> loads;    // force by coordinate
  std::vector<std::pair<std::string, std::string>> observe;  // formula by name
  std::vector<std::string> notes, left_out;

  void add_load(const std::string& coordinate, const std::string& term);
  void add_constraint(const std::string& wanted, const std::string& require, const std::string& more = "");
  void add_observable(const std::string& wanted, const std::string& formula);
};

// `source` is the name of the file for the first comment.
std::string draft_text(const Mechanism& mechanism, const StudyDraft& draft, const std::string& source);

}  // namespace zwang
