// All studies with bounded multipliers or friction whose answers are known in closed form.
#pragma once

#include <vector>

#include "tests/support/friction_body_cases.h"
#include "tests/support/friction_case.h"
#include "tests/support/friction_point_cases.h"
#include "tests/support/limit_cases.h"

namespace zwang {

inline std::vector<FrictionCase> friction_cases() {
  std::vector<FrictionCase> all;
  for (std::vector<FrictionCase> some : {limit_cases(), point_cases(), body_cases()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace zwang
