// Counts members that begin with a shock: their start lies on a constraint and moves into it.
#pragma once

#include <cstddef>
#include <vector>

#include "host/study/study.h"

namespace zwang {

struct StartShocks {
  long long checked = 0;  // members
  long long members = 0;  // of these, that begin with a shock
  struct OfConstraint {
    std::size_t constraint = 0;
    long long members = 0;
  };
  std::vector<OfConstraint> by_constraint;  // in the order of the study; those without members are left out

  // All or nearly all: as a rule the start was meant otherwise.
  bool nearly_all() const { return members > 0 && 10 * members >= 9 * checked; }
};

// Of the first members; with sweeps, of the first members of all points, or of points spread evenly.
// Constraints with `from` do not count: they are imposed by a shock on purpose.
StartShocks start_shocks(const Study& study);

}  // namespace zwang
