// Two reference runs over one segment of a member's motion: one with a tighter tolerance than the study's,
// one with the study's tolerance from a start perturbed by that tolerance. Their distance measures how
// well-conditioned the segment is: where they diverge (chaos or grazing contact), a backend that differs is
// not counted as wrong.
#pragma once

#include "host/check/findings.h"
#include "host/check/work_budget.h"
#include "src/base/settings.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// Largest absolute values of a member's quantities, to which relative tolerances refer. They are taken over
// the whole motion because errors originate where the values were large.
struct MemberSizes {
  Eigen::VectorXd q, v, z, multipliers, observables;
};

struct ReferencePair {
  Trajectory tight, perturbed;

  // A run used up its budget: the pair does not reach the end of its plan.
  bool given_up() const { return tight.given_up || perturbed.given_up; }
};

// Why a pair decides nothing, in words.
std::string undecided_reason(UndecidedCause cause, const ReferencePair& pair);
// The same for one run that was given up.
std::string used_up_text(const Trajectory& run);

// Selects the signs of a perturbation: by segment and by attempt.
struct Perturbation {
  std::size_t segment = 0, attempt = 0;
};

class ReferenceRunner {
 public:
  ReferenceRunner(const System& system, const IntegratorSettings& settings, std::vector<double> parameters,
                  MemberSizes sizes, unsigned long long member);

  const Equations& equations() const { return equations_; }
  const MemberSizes& sizes() const { return sizes_; }

  // Run both from the member's start, or from a state in the middle with the given closed conditions.
  // `before` is the pair of the previous segment: its extremes and the signs of watched functions are
  // continued. Each run takes at most the trial steps that the budget allows; what it took is spent.
  ReferencePair from_start(const State& start, const Plan& plan, Perturbation perturbation,
                           WorkBudget& budget) const;
  ReferencePair from_middle(const State& state, const std::vector<double>& closed, const Plan& plan,
                            Perturbation perturbation, const ReferencePair& before, WorkBudget& budget) const;

  // One run with the study's settings, without restarts.
  Trajectory whole_run(const State& start, Plan plan, WorkBudget& budget) const;

  // Multipliers and observables at a state.
  Sample at(const State& state, const std::vector<double>& closed) const;

  // The state shifted by one tolerance, with f and f' unchanged for every condition near zero: the
  // perturbation is to disturb the motion, not to open closed contacts or to penetrate contacts that have
  // just opened. From the second attempt on, f and f' of open conditions change by up to one half, since a
  // grazing contact may depend on them.
  State perturb(const State& state, Perturbation perturbation) const;

 private:
  template <class Run>
  ReferencePair run_pair(const Run& run, const State& state, Perturbation perturbation,
                         const ReferencePair& before) const;

  Equations equations_;
  IntegratorSettings settings_, in_doubles_, tight_;
  Tolerance tolerance_;
  bool single_;
  MemberSizes sizes_;
  unsigned long long member_;
};

}  // namespace zwang
