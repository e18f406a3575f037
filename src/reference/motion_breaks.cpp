// Constraints and links that break, and are gone for good [limit-3].
#include <algorithm>
#include <cmath>

#include "src/base/index.h"
#include "src/laws/friction_modes.h"
#include "src/laws/least_constraint.h"
#include "src/laws/mode_problem.h"
#include "src/reference/member_state.h"
#include "src/reference/motion.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// A force beyond its bound by more than this share of it is so by more than rounding.
constexpr double beyond_bound = 1e-12;

}  // namespace

// [limit-4] A link without part in shocks is gone once its ends move against each other.
void Motion::break_separated_links() {
  const System& system = equations_.system();
  for (std::size_t l = 0; l < system.link_limits.size(); ++l) {
    const LinkLimitFormula& link = system.link_limits[l];
    if (link.bears_impulses || !member_.in_force(link.first)) continue;
    const State now = member_.state();
    bool separated = false;
    for (std::size_t i = link.first; i < link.first + link.rows; ++i)
      separated = separated || std::abs(equations_.rate(i, now)) > member_.zero_of(i, now).rate;
    if (separated) break_link(l);
  }
}

// Contacts that break do not do so before the limit of the hops that are left out.
void Motion::note_hopping(const Event& accumulation) {
  const std::vector<Bound>& bounds = equations_.system().bounds;
  const std::vector<std::size_t>& list = accumulation.constraints;
  for (std::size_t b = 0; b < bounds.size(); ++b)
    if (bounds[b].breaks && std::find(list.begin(), list.end(), bounds[b].condition) != list.end())
      member_.hops_end[b] = accumulation.t;
}

// At that limit: whether one of them is overloaded at rest.
bool Motion::ends_hops_overloaded() {
  bool any = false;
  for (std::size_t b = 0; b < member_.hops_end.size(); ++b) {
    const std::size_t i = equations_.system().bounds[b].condition;
    if (member_.hops_end[b] == 0 || member_.hops(i)) continue;
    member_.hops_end[b] = 0;
    if (member_.conditions[i].standing != Standing::closed) continue;
    const State now = member_.state();
    const double force = constrained_acceleration(equations_, now, member_.active).multipliers(index(i));
    any = any || force > equations_.bound(b).limit * (1 + beyond_bound);
  }
  return any;
}

void Motion::break_condition(std::size_t b) {
  const std::size_t i = equations_.system().bounds[b].condition;
  member_.conditions[i] = {};
  broken_now_.push_back(i);
  if (const std::optional<std::size_t>& broken = equations_.system().constraints[i].broken)
    member_.y(2 * member_.n() + index(*broken)) = 1;
}

// All conditions of the link are gone for good.
void Motion::break_link(std::size_t l) {
  const System& system = equations_.system();
  const LinkLimitFormula& link = system.link_limits[l];
  for (std::size_t i = link.first; i < link.first + link.rows; ++i) {
    member_.conditions[i] = {};
    broken_now_.push_back(i);
  }
  if (const std::optional<std::size_t>& broken = system.constraints[link.first].broken)
    member_.y(2 * member_.n() + index(*broken)) = 1;
}

// The links whose force or torque is beyond its bound, with all of them in force, break together.
bool Motion::break_overloaded_links(const Eigen::VectorXd& multipliers) {
  const System& system = equations_.system();
  std::vector<std::size_t> overloaded;
  for (std::size_t l = 0; l < system.link_limits.size(); ++l) {
    const LinkLimitFormula& link = system.link_limits[l];
    if (member_.conditions[link.first].standing != Standing::equation) continue;
    const double load = multipliers.segment(index(link.first_loaded), index(link.loaded)).norm();
    if (load > equations_.link_limit(l) * (1 + beyond_bound)) overloaded.push_back(l);
  }
  for (const std::size_t l : overloaded)
    if (member_.in_force(system.link_limits[l].first)) break_link(l);
  return !overloaded.empty();
}

void Motion::remove_broken(GaussProblem& problem) const {
  std::erase_if(problem.rows, [&](std::size_t i) { return !member_.in_force(i); });
}

// All rows that break and are at their bound in one solution break together [limit-3].
bool Motion::break_overloaded(const FrictionConstraint& found) {
  bool any = false;
  for (const FoundMode& mode : found.modes) {
    const System& system = equations_.system();
    const std::optional<std::size_t> b = bound_of(system, mode.condition);
    if (!b || !system.bounds[*b].breaks || member_.hops(mode.condition)) continue;
    // A contact with friction slips by itself; its normal force decides.
    const std::optional<std::size_t> f = friction_of(system, mode.condition);
    const bool rubs = f && has_friction(equations_, *f, member_.state());
    const bool beyond = found.multipliers(index(mode.condition)) > equations_.bound(*b).limit;
    if (rubs ? !beyond : mode.mode.kind != ModeKind::slip) continue;
    break_condition(*b);
    any = true;
  }
  return any;
}

}  // namespace zwang
