// Measures: one number per member, from reductions over the continuous trajectory and over its events.
#pragma once

#include "src/expression/evaluate.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

// A point of the trajectory.
struct Moment {
  const State& state;
  const Eigen::VectorXd& multipliers;
  const std::vector<double>& closed;
};

class Measures {
 public:
  explicit Measures(const Equations& equations);

  // The values of the reduced expressions at a point.
  std::vector<double> values(const Moment& moment) const;

  void start(const Moment& moment);
  void update_extremes(const Moment& moment);  // both sides of every event, and every step's end
  void update_extremes(const std::vector<double>& values);
  // A smooth part of the motion: `at` gives the values of every reduction at a fraction theta of it.
  void refine_extremes(const std::function<std::vector<double>(double)>& at);
  void note(const Event& event, const Moment& after);
  const std::vector<double>& results() const { return results_; }
  // Extremes of formulas with multipliers that are not zero in `forces` become what they were.
  void restore_extremes_of(const Eigen::VectorXd& forces, const std::vector<double>& before);
  // The reductions at the end. `integrals`: the accumulated integrands.
  std::vector<double> finish(const Moment& moment, const Eigen::VectorXd& integrals, double duration) const;
  // The member's measures and flags from its reductions.
  std::vector<double> combined(const std::vector<double>& reductions) const;

 private:
  bool wants_extremes() const;

  const Equations* equations_;
  Program program_;  // what every reduction reduces, zero where it has no expression
  Program combine_;  // measures and flags
  std::vector<double> results_;
  std::vector<double> initial_;
};

}  // namespace zwang
