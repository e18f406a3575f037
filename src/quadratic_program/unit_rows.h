// The quadratic program in the mass metric with rows of unit length, and the tolerances of its solvers.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "src/quadratic_program/quadratic_program.h"

namespace zwang {

namespace active_set {

// With M = L L^T and z = L^T (x - x0):
//
//     minimise 1/2 |z|^2 subject to u_i z + b_i = 0 or <= 0;   z + U^T mu = 0
//
// z, b and mu have one unit, the square root of that of the constraint, and U has none: decisions about
// dependent rows and zeros do not depend on metres, grams or the scaling of a condition.
struct UnitRows {
  Eigen::MatrixXd root;           // n x n: L
  Eigen::MatrixXd unit;           // r x n: u_i = A_i L^-T / length_i
  Eigen::VectorXd length;         // r: |A_i L^-T|; 0 for a row that vanishes
  Eigen::VectorXd gap;            // r: b_i = (A_i x0 + c_i) / length_i
  Eigen::VectorXd floor;          // r: rounding of b_i, from its terms
  double rounding = 0;            // rounding of numbers of order 1
  double tie = 0;                 // the share of the problem's size that may still count as zero
  std::vector<int> equations;     // numbers of the equations that do not vanish
  std::vector<int> inequalities;  // and of such inequalities
  int contradiction = -1;         // a row with A_i = 0 that c_i breaks
  bool usable = false;            // M positive definite, all numbers finite
};

UnitRows unit_rows(const QuadraticProgram& program);

// A row this near to the span of others depends on them. The coefficients enter because rounding of the other
// rows, multiplied by large coefficients, would look like independence.
double dependence_tolerance(double sum_of_coefficients);

// The minimum when `rows`, and no others, are taken as equations.
struct EqualityPoint {
  std::vector<int> rows;    // k of them
  Eigen::VectorXd z;        // n
  Eigen::VectorXd mu;       // k: unit multipliers
  Eigen::MatrixXd inverse;  // n x k: pseudo-inverse of the k unit rows
};

// Meanings of zero. Solvers start with the strictest and use the next only when the strictest leaves no
// solution: where rows are nearly dependent, sets that are wrong by less than a tie have solutions far apart.
enum class Zero {
  rounding,  // rounding of the number's own terms
  carried,   // and rounding of the other rows, propagated through the solve
  tie        // and a fixed small share of the problem's size, for conditions that agree only so far
};
inline constexpr Zero all_zeros[] = {Zero::rounding, Zero::carried, Zero::tie};

struct Tolerances {
  Eigen::VectorXd residual;    // r: for u_i z + b_i
  Eigen::VectorXd multiplier;  // k: for mu
};

Tolerances tolerances(const UnitRows& rows, const EqualityPoint& point, Zero zero);

// The result of a solver, from which the solution follows.
struct ActiveSet {
  bool feasible = false;
  Eigen::VectorXd z;       // n
  Eigen::VectorXd mu;      // r: unit multipliers, some that fit
  std::vector<int> tight;  // the equations, and the inequalities met with equality
};

// The active set at an accepted point.
ActiveSet active_set_at(const UnitRows& rows, const EqualityPoint& point);

}  // namespace active_set

}  // namespace zwang
