// Checks whether a drawn start already satisfies the constraints.
#pragma once

#include <span>
#include <vector>

#include "src/expression/evaluate.h"
#include "src/expression/scaled.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// Gives the same verdict as prepare_start (src/reference/reference.h) on the same numbers, without the code
// that would move the state: nearly every start is drawn consistent, and those should cost little. Immutable;
// the scratch space belongs to the caller.
class StartCheck {
 public:
  StartCheck(const System& system, double tolerance);

  struct Scratch {
    std::vector<double> slots, times;
    std::vector<Scaled> parameters, q, v, z, scaled_slots, residuals;
  };

  bool consistent(std::span<const double> parameters, const State& start, Scratch& scratch) const;

  // The inequalities on positions, without `from`, that the start lies on and moves into: f = 0 and f' > 0.
  void find_closing(std::span<const double> parameters, const State& start, Scratch& scratch,
                    std::vector<std::size_t>& closing) const;

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Condition {
    bool equation, on_positions, on_velocities;
    std::size_t from, until;  // outputs of times_, or none
  };

  void evaluate_residuals(std::span<const double> parameters, const State& start, Scratch& scratch) const;

  double tolerance_;
  std::vector<Condition> conditions_;
  std::vector<Scaled> modes_;  // of friction and bounds: 0
  Program times_;              // at which conditions are imposed or lifted
  Program residuals_;          // value and rate of each condition
};

}  // namespace zwang
