// Random mechanisms, written as studies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zwang::soak {

struct RandomStudy {
  std::uint64_t seed = 0;
  std::vector<std::string> made_of{};  // assemblies
  std::string text{};                  // TOML
  double length = 1;                   // sizes that are of order one in it
  double speed = 1;
};

// The same seed gives the same text.
RandomStudy random_study(std::uint64_t seed, long long members);

}  // namespace zwang::soak
