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
// z, b and mu have one unit, the square root of the constraint's, and U has none: whether rows are dependent
// or numbers are zero does not depend on metres, grams or on how a condition was scaled.
struct UnitRows {
  Eigen::MatrixXd root;           // n x n: L
  Eigen::MatrixXd unit;           // r x n: u_i = A_i L^-T / length_i
  Eigen::VectorXd length;         // r: |A_i L^-T|; 0 for a row that vanishes
  Eigen::VectorXd gap;            // r: b_i = (A_i x0 + c_i) / length_i
  Eigen::VectorXd floor;          // r: what rounding of its terms can do to b_i
  double rounding = 0;            // what rounding does to numbers of order 1
  double tie = 0;                 // the part of the problem's size that may still be called zero
  std::vector<int> equations;     // numbers of the equations that do not vanish
  std::vector<int> inequalities;  // and of such inequalities
  int contradiction = -1;         // a row with A_i = 0 that c_i breaks
  bool usable = false;            // M positive definite, all numbers finite
};

UnitRows unit_rows(const QuadraticProgram& program);

// A row this near to the span of others depends on them. The coefficients enter because, when they are large,
// rounding of the others would pass for independence.
double dependence_tolerance(double sum_of_coefficients);

// The minimum when `rows`, and no others, are taken as equations.
struct EqualityPoint {
  std::vector<int> rows;    // k of them
  Eigen::VectorXd z;        // n
  Eigen::VectorXd mu;       // k: unit multipliers
  Eigen::MatrixXd inverse;  // n x k: pseudo-inverse of the k unit rows
};

// What may pass for zero. Solvers start with the strictest meaning and resort to the next only when it leaves
// no solution: where rows are nearly dependent, sets that are wrong by less than a tie have solutions far
// apart.
enum class Zero {
  rounding,  // of the number's own terms
  carried,   // and what the rounding of the other rows does to it through the solve
  tie        // and a fixed small part of the problem's size: conditions that agree only so far
};
inline constexpr Zero all_zeros[] = {Zero::rounding, Zero::carried, Zero::tie};

struct Tolerances {
  Eigen::VectorXd residual;    // r: for u_i z + b_i
  Eigen::VectorXd multiplier;  // k: for mu
};

Tolerances tolerances(const UnitRows& rows, const EqualityPoint& point, Zero zero);

// What a solver finds: the rest follows from it.
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
