// The reference's two accounts of one stretch of a member's motion. One is more exact than was asked; the other starts a
// tolerance beside and integrates as asked. How far they are apart says how well-posed the stretch is: where they part,
// chaos or a graze is at work, and nobody else can be blamed for parting from them.
#pragma once

#include "host/check/findings.h"
#include "src/base/settings.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// How large a member's numbers have been: what relative tolerances refer to. Over the whole motion, because errors come
// from where things were large.
struct MemberSizes {
  Eigen::VectorXd q, v, z, multipliers, observables;
};

struct Accounts {
  Trajectory tight, nudged;
};

// Which way a start is nudged: by the signs' number, and how often before.
struct Nudge {
  std::size_t turn = 0, hearing = 0;
};

class Witness {
 public:
  Witness(const System& system, const IntegratorSettings& settings, std::vector<double> parameters,
          MemberSizes sizes, unsigned long long member);

  const Equations& equations() const { return equations_; }
  const MemberSizes& sizes() const { return sizes_; }

  // From the member's start, or from the middle with what is closed there. `before` are the
  // accounts of the stretch before: their extremes and the sides of watched functions are taken over.
  Accounts from_start(const State& start, const Plan& plan, Nudge nudge) const;
  Accounts from_middle(const State& state, const std::vector<double>& closed, const Plan& plan, Nudge nudge,
                       const Accounts& before) const;

  // As the study asks, uninterrupted.
  Trajectory whole(const State& start, const Plan& plan) const;

  // Multipliers and observables that belong to a state.
  Sample at(const State& state, const std::vector<double>& closed) const;

  // A tolerance beside the state, with f and f' unchanged of every condition that is near zero: the nudge is to shake
  // the motion, not to open what is closed or to push through what has just opened. Heard again, f and f' of what is open change
  // by up to a half: a graze may hang on that.
  State beside(const State& state, Nudge nudge) const;

 private:
  template <class Run>
  Accounts both(const Run& run, const State& state, Nudge nudge, const Accounts& before) const;

  Equations equations_;
  IntegratorSettings settings_, in_doubles_, tight_;
  Tolerance tolerance_;
  MemberSizes sizes_;
  unsigned long long member_;
};

}  // namespace zwang
