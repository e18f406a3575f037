// The least constraint as a quadratic program, and its solution.
//
//     minimise 1/2 (x - x0)^T M (x - x0)   subject to   A_i x + c_i = 0 (equations), A_i x + c_i <= 0
//     (inequalities)
//
// Accelerations (x0 = M^-1 Q), shocks (x0 = the velocities before) and projections onto the conditions are
// all this problem: the point of a convex region nearest to a given point [staeckel-29..33].
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace zwang {

struct QuadraticProgram {
  Eigen::MatrixXd mass;        // n x n: M, symmetric positive definite
  Eigen::VectorXd free;        // n: x0
  Eigen::MatrixXd rows;        // r x n: A
  Eigen::VectorXd offsets;     // r: c
  std::vector<char> equation;  // r: 1 = equation, 0 = inequality

  bool all_finite() const {
    return mass.allFinite() && free.allFinite() && rows.allFinite() && offsets.allFinite();
  }
};

// x is unique. The multipliers are unique only when the tight rows (the equations, and the inequalities met
// with equality) are independent; otherwise they are those of least norm |lambda|, in the units of the rows.
// `pressing` means: an equation, or lambda > 0. An inequality that is met with equality and does not push
// (lambda = 0, residual = 0) is not pressing. A row with A_i = 0 restricts nothing: it never presses and does
// not count as redundant. If the program is not feasible, M is not positive definite or a number is not
// finite, then x, multipliers and residuals are NaN.
struct QpSolution {
  bool feasible = false;
  bool redundant = false;  // the tight rows are dependent
  Eigen::VectorXd x;       // n
  // r: M (x - x0) + A^T lambda = 0; >= 0 for inequalities, exactly 0 if not pressing
  Eigen::VectorXd multipliers;
  Eigen::VectorXd residuals;   // r: A x + c, f'' of each row
  std::vector<char> pressing;  // r
};

}  // namespace zwang
