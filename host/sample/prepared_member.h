// One member's data: its inputs as drawn, and its start after it was checked against the constraints.
#pragma once

#include <vector>

#include "src/laws/project.h"
#include "src/system/equations.h"

namespace zwang {

struct MemberInputs {
  std::vector<double> parameters;  // every parameter of the system, hidden ones included
  State start;                     // as drawn, before any projection
};

struct PreparedMember {
  unsigned long long number = 0;
  MemberInputs inputs;  // as drawn; inputs.start is the drawn state
  State start;          // projected onto the constraints if the study says consistency = "project"
  Start preparation;    // distance moved, and whether the projection succeeded
  // The drawn position or velocity that the projection changed most, relative to its size: its number,
  // positions before velocities; -1 if none changed.
  double drawn_change = 0;
  int drawn_change_of = -1;
  unsigned attempts = 1;  // draws made (more than one only with consistency = "reject")
};

}  // namespace zwang
