// Counts and failures of a soak run, and the report on them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "tests/soak/laws.h"

namespace zwang::soak {

// One kind of failure, its count, and its first case.
struct Trouble {
  long long times = 0;
  std::uint64_t seed = 0;  // of the first: its study,
  unsigned long long member = 0;
  std::string detail;  // and a description
};

struct SoakReport {
  long long studies = 0;
  long long members_cpu = 0, members_reference = 0;  // motions integrated
  long long samples = 0;                             // states checked
  long long events = 0;
  std::map<std::string, long long> events_by_kind;
  std::map<std::string, long long> status_by_name;  // of members on the cpu backend
  long long comparisons = 0, stretches = 0, undecided = 0;
  double worst_agreement = 0;                 // difference over what is allowed
  Worst worst;                                // by law
  std::map<std::string, Trouble> failures;    // laws broken, disagreements, members lost
  std::map<std::string, Trouble> legitimate;  // members that ended for mechanical reasons in both backends
  std::map<std::string, Trouble> machine;     // studies that could not be run: no compiler, time or memory
  std::map<std::string, long long> made_of;   // assemblies
  std::set<std::uint64_t> suspects;           // studies with failures
  double seconds = 0;

  bool good() const { return failures.empty(); }
  void fail(const std::string& what, std::uint64_t seed, unsigned long long member,
            const std::string& detail);
  void excuse(const std::string& what, std::uint64_t seed, unsigned long long member,
              const std::string& detail);
  void blame_machine(std::uint64_t seed, const std::string& detail);
  std::string text() const;
};

}  // namespace zwang::soak
