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
  MemberInputs inputs;    // as drawn; inputs.start is the drawn state
  State start;            // projected onto the constraints if the study says consistency = "project"
  Start preparation;      // distance moved, and whether the projection succeeded
  unsigned attempts = 1;  // draws made (more than one only with consistency = "reject")
};

}  // namespace zwang
