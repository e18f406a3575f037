// One study with bounded multipliers or friction whose answers are known in closed form.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zwang {

struct FrictionCase {
  std::string name;
  std::string study;
  std::vector<std::pair<std::string, double>> answers;  // measures
  std::string status = "ok";
  double digits = 1e-11;  // some hundreds of steps of rtol 1e-13
};

}  // namespace zwang
