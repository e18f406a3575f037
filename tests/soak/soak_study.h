// One random study, from its text to the verdicts on its members.
#pragma once

#include <filesystem>

#include "tests/soak/soak_report.h"

namespace zwang::soak {

struct SoakSettings {
  std::size_t members = 256;     // by the kernels, judged at the study's output times
  std::size_t finely = 16;       // of these, judged again at `fine_outputs` times
  std::size_t by_reference = 4;  // members by the reference, finely too
  std::size_t compared = 6;      // members on which the backends are compared
  std::size_t fine_outputs = 1000;
  unsigned threads = 1;
  std::filesystem::path cache;  // of compiled programs
};

// Adds what was seen to the report. Neither the study nor a machine in trouble ends a soak: both are noted.
void soak_study(const RandomStudy& random, const SoakSettings& settings, SoakReport& report);

}  // namespace zwang::soak
