// From XML to a mechanism, and from the mechanism to a study.
#include "host/import/import_study.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "host/import/choose_start.h"
#include "host/import/mechanism.h"
#include "host/import/plane_of_motion.h"
#include "host/import/read_mjcf.h"
#include "host/import/read_urdf.h"
#include "host/import/study_draft.h"
#include "host/import/write_contacts.h"
#include "host/import/write_joints.h"
#include "host/import/xml_file.h"
#include "host/study_file/load_study.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

Mechanism read_mechanism(const XmlFile& file, const ImportOptions& options, std::string& format) {
  const std::string root = file.root().name();
  if (root == "robot") {
    format = "URDF";
    return read_urdf(file, {.floating_base = options.floating_base,
                            .ground = options.ground,
                            .friction = options.friction.value_or(UrdfOptions{}.friction)});
  }
  if (root != "mujoco")
    throw Error({.where = file.where(file.root()),
                 .message = "neither URDF nor MJCF",
                 .found = root.empty() ? "no element" : "<" + printable(root) + ">",
                 .expected = "<robot> (URDF) or <mujoco> (MJCF)"});
  format = "MJCF";
  for (const auto& [given, name] :
       {std::pair(options.ground, "--ground"), std::pair(options.floating_base, "--base floating")})
    if (given)
      throw Error({.where = {file.path(), 0, 0},
                   .message = std::string(name) + " is for URDF files",
                   .found = "an MJCF file",
                   .expected = "planes and free joints in the file itself"});
  Mechanism made = read_mjcf(file);
  if (options.friction) {
    for (Plane& plane : made.planes) plane.friction = *options.friction;
    for (MechanismBody& body : made.bodies)
      for (Solid& solid : body.solids) solid.friction = *options.friction;
  }
  return made;
}

std::string axis_name(const Eigen::Vector3d& v) {
  for (Eigen::Index k = 0; k < 3; ++k)
    if (std::abs(std::abs(v(k)) - 1) < 1e-12) return std::string(v(k) < 0 ? "-" : "") + "xyz"[k];
  return "(" + number_text(v.x()) + ", " + number_text(v.y()) + ", " + number_text(v.z()) + ")";
}

// The import is complete only if the study can be read.
void require_readable(const ImportedStudy& made, const std::string& path) {
  try {
    read_study(made.text, path);
  } catch (const Error& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      problem.where = {path, 0, 0};
      problem.message = "the imported study is refused: " + problem.message;
    }
    throw Error(problems);
  }
}

}  // namespace

ImportedStudy import_study(const std::string& text, const std::string& path, const ImportOptions& options) {
  const XmlFile file(text, path);
  ImportedStudy made;
  Mechanism mechanism = read_mechanism(file, options, made.format);
  merge_fixed_bodies(mechanism);
  if (mechanism.bodies.empty())
    throw Error({.where = file.where(file.root()),
                 .message = "nothing moves",
                 .found = "no joint other than fixed ones",
                 .expected = "a body with a joint that moves",
                 .hint = made.format == "URDF" ? "--base floating lets the root link move" : ""});
  choose_start(mechanism, options, path);
  place_bodies(mechanism);
  if (options.stand) {
    stand_on_plane(mechanism);
    place_bodies(mechanism);
  }
  const std::optional<MotionPlane> plane = options.in_space ? std::nullopt : plane_of_motion(mechanism);
  require_masses(mechanism, plane ? std::optional(plane->normal) : std::nullopt);

  StudyDraft draft(mechanism, StudyAxes(plane));
  if (plane)
    draft.notes.push_back("all motion is in one plane: x and y of the study are " + axis_name(plane->right) +
                          " and " + axis_name(plane->up) + " of the file (--space writes bodies in space)");
  write_joints(mechanism, draft);
  write_contacts(mechanism, draft);
  draft.add_observable("energy", "kinetic() + potential()");
  made.text = draft_text(mechanism, draft, std::filesystem::path(path).filename().string());
  made.bodies = mechanism.bodies.size();
  made.observables = draft.observe.size();
  made.planar = plane.has_value();
  made.notes = draft.notes;
  made.left_out = draft.left_out;
  require_readable(made, path);
  return made;
}

}  // namespace zwang
