// Laws of mechanics for one member, checked from its record alone: states at output times, events, audit.
// They are independent of the code of the integrators.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/check/member.h"
#include "tests/soak/random_study.h"

namespace zwang::soak {

// A broken law: the member, the time, and the excess over the tolerance.
struct Breach {
  std::string law;  // in words
  unsigned long long member = 0;
  double t = 0;
  double found = 0, allowed = 0;
};

// The largest ratio of found to allowed of each law.
using Worst = std::map<std::string, double>;

class Laws {
 public:
  Laws(const Study& study, const RandomStudy& sizes) : study_(study), sizes_(sizes) {}

  void judge(const BackendMotion& motion, const Audit& audit, long long steps, bool redundant,
             unsigned long long member);

  const std::vector<Breach>& breaches() const { return breaches_; }
  const Worst& worst() const { return worst_; }

 private:
  struct Member;
  void judge_sample(const Member& member, const Sample& sample);
  void judge_multipliers(const Member& member, const Sample& sample);
  void judge_audit(const Member& member, const Audit& audit, long long steps);
  void judge_events(const Member& member);
  void judge_watches(const Member& member);
  void hold(const Member& member, const std::string& law, double t, double found, double allowed);

  const Study& study_;
  RandomStudy sizes_;
  std::vector<Breach> breaches_;
  Worst worst_;
};

}  // namespace zwang::soak
