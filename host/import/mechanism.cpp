// Rigid joining of bodies, forward kinematics, and the masses a study needs.
#include "host/import/mechanism.h"

#include <Eigen/Dense>
#include <cmath>

#include "src/base/error.h"

namespace zwang {

namespace {

// Moments of a mass point at r: m (r.r E - r r').
Eigen::Matrix3d point_inertia(double mass, const Eigen::Vector3d& r) {
  return mass * (r.squaredNorm() * Eigen::Matrix3d::Identity() - r * r.transpose());
}

[[noreturn]] void refuse_inertia(const MechanismBody& body, const std::string& message,
                                 const std::string& found, const std::string& expected) {
  throw Error({.where = body.where,
               .message = "body '" + body.name + "': " + message,
               .found = found,
               .expected = expected,
               .hint = "a body that moves needs its mass and inertia in the file"});
}

}  // namespace

Pose operator*(const Pose& outer, const Pose& inner) {
  return {outer.turn * inner.turn, outer.at(inner.place)};
}

Inertial joined_inertials(const Inertial& a, const Inertial& b) {
  Inertial made;
  made.mass = a.mass + b.mass;
  if (made.mass > 0) made.centre = (a.mass * a.centre + b.mass * b.centre) / made.mass;
  made.inertia = a.inertia + point_inertia(a.mass, a.centre - made.centre) + b.inertia +
                 point_inertia(b.mass, b.centre - made.centre);
  return made;
}

Inertial moved_inertial(const Inertial& inertial, const Pose& pose) {
  const Eigen::Matrix3d turned = pose.turn * inertial.inertia * pose.turn.transpose();
  return {inertial.mass, pose.at(inertial.centre), 0.5 * (turned + turned.transpose())};
}

void merge_fixed_bodies(Mechanism& mechanism) {
  struct Holder {
    std::size_t body = world_body;  // among the merged ones
    Pose pose;                      // of the original body in it
  };
  std::vector<Holder> holders;
  std::vector<MechanismBody> merged;
  std::vector<std::string> fixed_to_world;
  for (MechanismBody& body : mechanism.bodies) {
    Holder holder;
    if (body.parent != world_body) holder = holders[body.parent];
    holder.pose = holder.pose * body.zero;
    if (body.free || !body.freedoms.empty()) {
      body.parent = holder.body;
      body.zero = holder.pose;
      holders.push_back({merged.size(), Pose{}});
      merged.push_back(std::move(body));
      continue;
    }
    holders.push_back(holder);
    if (holder.body == world_body) {
      fixed_to_world.push_back("'" + body.name + "'");
      if (!body.solids.empty())
        mechanism.left_out.push_back("shapes of '" + body.name +
                                     "', which does not move: only planes are touched");
      continue;
    }
    MechanismBody& target = merged[holder.body];
    target.inertial = joined_inertials(target.inertial, moved_inertial(body.inertial, holder.pose));
    for (Solid& solid : body.solids) {
      solid.pose = holder.pose * solid.pose;
      target.solids.push_back(std::move(solid));
    }
    mechanism.notes.push_back("'" + body.name + "' is fixed to '" + target.name + "' and merged into it");
  }
  if (!fixed_to_world.empty())
    mechanism.notes.push_back("fixed to the world, so not in the study: " + joined(fixed_to_world));
  mechanism.bodies = std::move(merged);
}

Pose freedom_pose(const Freedom& freedom, double position) {
  if (freedom.kind == FreedomKind::slide) return {Eigen::Matrix3d::Identity(), position * freedom.axis};
  const Eigen::Matrix3d turn = freedom.kind == FreedomKind::ball
                                   ? freedom.turn
                                   : Eigen::AngleAxisd(position, freedom.axis).toRotationMatrix();
  return {turn, freedom.place - turn * freedom.place};
}

void place_bodies(Mechanism& mechanism) {
  for (MechanismBody& body : mechanism.bodies) {
    const bool on_world = body.parent == world_body;
    body.rest = on_world ? body.zero : mechanism.bodies[body.parent].rest * body.zero;
    body.start = on_world ? body.zero : mechanism.bodies[body.parent].start * body.zero;
    for (const Freedom& freedom : body.freedoms)
      if (freedom.start != 0 || freedom.kind == FreedomKind::ball)
        body.start = body.start * freedom_pose(freedom, freedom.start);
  }
}

void require_masses(const Mechanism& mechanism, const std::optional<Eigen::Vector3d>& normal) {
  for (const MechanismBody& body : mechanism.bodies) {
    const Inertial& inertial = body.inertial;
    if (!(inertial.mass > 0))
      refuse_inertia(body, "it moves and has no mass", "mass " + number_text(inertial.mass), "a mass > 0");
    if (normal) {
      const Eigen::Vector3d axis = body.rest.turn.transpose() * *normal;
      const double moment = axis.dot(inertial.inertia * axis);
      if (!(moment > 0))
        refuse_inertia(body, "it turns and has no moment of inertia about the axis of its joint",
                       "moment " + number_text(moment), "a moment of inertia > 0");
      continue;
    }
    const Eigen::Vector3d moments =
        Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(inertial.inertia).eigenvalues();
    if (!(moments(0) > 0) || moments(2) > (moments(0) + moments(1)) * (1 + 1e-12))
      refuse_inertia(body, "no rigid body has this inertia",
                     "principal moments " + number_text(moments(0)) + ", " + number_text(moments(1)) +
                         " and " + number_text(moments(2)),
                     "positive principal moments, none larger than the sum of the other two");
  }
}

}  // namespace zwang
