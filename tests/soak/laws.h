// Laws of mechanics for one member, checked from its record alone: states at output times, events, audit.
// They are independent of the code of the integrators.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/check/member.h"
#include "src/system/system.h"
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

struct JudgedMember;

// Whether a condition holds at some times only: the slip of a contact, and an equation whose multiplier is bounded.
bool has_modes(const Constraint& constraint);

class Laws {
 public:
  Laws(const Study& study, const RandomStudy& sizes) : study_(study), sizes_(sizes) {}

  void judge(const BackendMotion& motion, const Audit& audit, long long steps, bool redundant,
             unsigned long long member);

  const std::vector<Breach>& breaches() const { return breaches_; }
  const Worst& worst() const { return worst_; }

 private:
  void judge_sample(const JudgedMember& member, const Sample& sample);
  void judge_multipliers(const JudgedMember& member, const Sample& sample);
  // Friction and bounds (friction_laws.cpp). Nothing: it is not clear which way something slips or yields.
  std::optional<State> state_with_modes(const JudgedMember& member, const Sample& sample) const;
  void judge_bounds(const JudgedMember& member, const Sample& sample, const State& state,
                    const Eigen::VectorXd& multipliers, double allowed);
  void judge_dissipation(const JudgedMember& member);
  void judge_audit(const JudgedMember& member, const Audit& audit, long long steps);
  void judge_events(const JudgedMember& member);
  void judge_watches(const JudgedMember& member);
  void hold(const JudgedMember& member, const std::string& law, double t, double found, double allowed);

  const Study& study_;
  RandomStudy sizes_;
  std::vector<Breach> breaches_;
  Worst worst_;
};

}  // namespace zwang::soak
