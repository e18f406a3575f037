// Accelerations by Gauss's principle of least constraint [mayer-14] [staeckel-10].
#pragma once

#include <optional>

#include "kernels/base/status.h"
#include "src/expression/scaled.h"
#include "src/quadratic_program/enumerate.h"
#include "src/quadratic_program/quadratic_program.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

struct Accelerations {
  Status status = Status::ok;   // or infeasible, singular, not_finite
  Eigen::VectorXd a;            // n
  Eigen::VectorXd multipliers;  // one per condition of the system; 0 where not in the set
  Dynamics dynamics;
};

// Smooth phase: the rows of `set` hold as equations; a linear solve, no QP [mayer-17]. Contacts of `set` that slip
// (State::modes) add their friction: the system is then not symmetric [friction-4].
// Where multipliers are not unique, condition `pulling` may pull as well as press.
Accelerations constrained_acceleration(const Equations& equations, const State& state,
                                       const std::vector<std::size_t>& set,
                                       std::optional<std::size_t> pulling = std::nullopt);

// How far the sticking contacts that share loads with sticking contact `friction` are beyond their cones, for the best of
// all multipliers [friction-10]; forces in the units of the slip rows. Negative: all can stick. Nothing where its force is
// unique. Zero where the forces of all contacts that stick are at most `zero`: for forces that are rounding there is no
// best choice to be found.
std::optional<double> excess_over_cones(const Equations& equations, const State& state,
                                        const std::vector<std::size_t>& set, const Friction& friction,
                                        double zero);

// The frictions of sticking contacts that share loads with sticking contact `friction`, directly or through others, with
// it; it alone where its force is unique.
std::vector<std::size_t> frictions_sharing_loads(const Equations& equations, const State& state,
                                                 const std::vector<std::size_t>& set, std::size_t friction);

// The multipliers with their rounding: that of the terms A a and c of f'' in the mass metric, as for the zero
// of a multiplier in the active set. One per condition of the system; exactly 0 where not in the set.
std::vector<Scaled> scaled_multipliers(const Equations& equations, const State& state, const Sizes& sizes,
                                       const std::vector<std::size_t>& set);

struct LeastConstraint : Accelerations {
  bool redundant = false;
  std::vector<std::size_t> rows;    // the conditions that took part, in file order
  Eigen::VectorXd second;           // f'' of each row
  Eigen::VectorXd slack;            // what counts as zero for f'' of each row
  Eigen::VectorXd multiplier_zero;  // what counts as zero for the multiplier of each row
  std::vector<char> pressing;       // by row: multiplier above zero beyond rounding (always 1 for equations)
  std::vector<char> yielding;       // by row: f'' below zero beyond rounding
  double kkt = 0;                   // kkt_residual() of the solution
  QuadraticProgram program;
  std::vector<TriedSet> tried;
};

// Which of the closed conditions press, and their multipliers [mayer-19] [mayer-20]. `in_force` are equations
// and closed inequalities.
LeastConstraint least_constraint(const Equations& equations, const State& state, const Sizes& sizes,
                                 const std::vector<std::size_t>& in_force, double tolerance,
                                 bool trace = false);

// True if every entry of the row is rounding noise: the linear condition then restricts nothing
// [staeckel-6''].
bool vanishes(const std::vector<Scaled>& scaled_row);

}  // namespace zwang
