// One member whose record is judged, and what its numbers are measured by.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "host/check/backend_motion.h"
#include "host/study/study.h"
#include "src/expression/evaluate.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang::soak {

// So many tolerances a number at an output time may be off, as in `zwang check`.
constexpr double slack = 30;
// Multipliers are quotients of the state: a few digits less.
constexpr double multiplier_slack = 1e4;

// One member, and what its numbers are measured by.
struct JudgedMember {
  const BackendMotion& motion;
  unsigned long long number;
  bool redundant;
  Equations equations;
  Sizes sizes;             // over the whole motion
  double multipliers = 0;  // largest of an inequality
  double energy = 0;
  std::vector<double> from, until;  // of the conditions; until they break

  JudgedMember(const Study& study, const BackendMotion& record, unsigned long long member, bool dependent,
               double energy_size)
      : motion(record),
        number(member),
        redundant(dependent),
        equations(*study.system, record.parameters),
        energy(energy_size) {
    const MemberSizes seen = sizes_of_motion(*study.system, record);
    sizes = {seen.q, seen.v};
    for (const Event& event : record.events)
      if (event.velocities_jump)
        sizes.v =
            sizes.v.cwiseMax(event.velocity_before.cwiseAbs()).cwiseMax(event.velocity_after.cwiseAbs());
    if (seen.multipliers.size() > 0) multipliers = seen.multipliers.maxCoeff();
    constexpr double never = std::numeric_limits<double>::infinity();
    for (const Constraint& constraint : study.system->constraints) {
      from.push_back(constraint.from ? value_of(*constraint.from) : -never);
      until.push_back(constraint.until ? value_of(*constraint.until) : never);
    }
    for (const Event& event : record.events)
      if (event.kind == EventKind::breaks)
        for (const std::size_t i : event.constraints) until[i] = std::min(until[i], event.t);
  }
  double value_of(Expr e) const {
    return equations.evaluate(Program(*equations.system().pool, {e}), motion.start);
  }
  // At the instant at which a condition begins or ends, both are correct.
  bool in_force(std::size_t i, double t) const {
    const double near = 1e-9 * std::abs(motion.end.t);
    return t > from[i] + near && t < until[i] - near;
  }
};

}  // namespace zwang::soak
