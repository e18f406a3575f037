// Runs one random study and checks its members.
#pragma once

#include <filesystem>

#include "tests/soak/soak_report.h"

namespace zwang::soak {

struct SoakSettings {
  std::size_t members = 256;     // by the kernels, checked at the study's output times
  std::size_t finely = 16;       // of these, checked again at `fine_outputs` times
  std::size_t by_reference = 4;  // members by the reference, also at `fine_outputs` times
  std::size_t compared = 6;      // members on which the backends are compared
  std::size_t fine_outputs = 1000;
  unsigned threads = 1;
  std::filesystem::path cache;  // of compiled programs
};

// Adds the results to the report. Failures of a study or of the machine are recorded and do not end the soak.
void soak_study(const RandomStudy& random, const SoakSettings& settings, SoakReport& report);

}  // namespace zwang::soak
