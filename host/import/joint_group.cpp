// Which joints of one body can be combined.
#include "host/import/joint_group.h"

#include <Eigen/Dense>
#include <cmath>

#include "host/import/mechanism.h"
#include "host/import/plane_of_motion.h"
#include "src/base/error.h"

namespace zwang {

namespace {

[[noreturn]] void refuse_group(const MechanismBody& body, const std::string& message) {
  std::vector<std::string> found;
  for (const Freedom& freedom : body.freedoms)
    found.push_back(freedom.kind == FreedomKind::slide   ? "slide"
                    : freedom.kind == FreedomKind::hinge ? "hinge"
                                                         : "ball");
  throw Error({.where = body.where,
               .message = "the joints of body '" + body.name + "' cannot be combined: " + message,
               .found = joined(found),
               .expected =
                   "slides at right angles, before or after one hinge, hinges at right angles through one "
                   "point, or a ball joint",
               .hint = "put a body with a mass between the joints"});
}

bool across(const Freedom& a, const Freedom& b) { return std::abs(a.axis.dot(b.axis)) < direction_tolerance; }

// How far a point is from the axis of a hinge.
double distance_to_axis(const Eigen::Vector3d& point, const Freedom& hinge) {
  return hinge.axis.cross(point - hinge.place).norm();
}

}  // namespace

JointGroup joint_group(const MechanismBody& body, bool planar) {
  JointGroup made;
  int changes = 0;
  for (std::size_t i = 0; i < body.freedoms.size(); ++i) {
    const Freedom& freedom = body.freedoms[i];
    const bool slide = freedom.kind == FreedomKind::slide;
    if (i > 0 && slide != (body.freedoms[i - 1].kind == FreedomKind::slide)) ++changes;
    if (slide)
      made.slides.push_back(&freedom);
    else if (freedom.kind == FreedomKind::hinge)
      made.hinges.push_back(&freedom);
    else if (made.ball)
      refuse_group(body, "two ball joints");
    else
      made.ball = &freedom;
  }
  if (changes > 1) refuse_group(body, "rotations between slides");
  made.slides_first = body.freedoms.front().kind == FreedomKind::slide || made.slides.empty();
  for (std::size_t i = 0; i < made.slides.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!across(*made.slides[i], *made.slides[j]))
        refuse_group(body, "slides that are not at right angles");
  if (made.slides.size() > (planar ? 2u : 3u)) refuse_group(body, "too many slides");
  if (made.ball && !made.hinges.empty()) refuse_group(body, "a ball joint with hinges");
  if (made.hinges.size() > (planar ? 1u : 3u)) refuse_group(body, "too many hinges");
  for (std::size_t i = 1; i < made.hinges.size(); ++i) {
    if (!across(*made.hinges[i], *made.hinges[i - 1]))
      refuse_group(body, "hinges that are not at right angles");
    if (distance_to_axis(made.hinges[0]->place, *made.hinges[i]) > 1e-9)
      refuse_group(body, "hinges whose axes do not meet");
  }
  made.centre = made.ball              ? made.ball->place
                : !made.hinges.empty() ? made.hinges[0]->place
                                       : body.inertial.centre;
  return made;
}

}  // namespace zwang
