// Whether forces obey Coulomb's law and their bounds: a judge that shares nothing with the solvers.
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace zwang {

// One contact with friction: its normal row and its slip rows after it.
struct JudgedContact {
  Eigen::Index row = 0, tangents = 1;
  double cone = 0, cone_static = 0;
  Eigen::VectorXd slip = {};  // s, where it is not zero (accelerations)
};
struct JudgedBound {
  Eigen::Index row = 0;
  double limit = 0;
  bool one_sided = false;
};

// x = x0 - M^-1 A^T Lambda. Rows that are no equation, contact or bound are inequalities.
struct JudgedForces {
  const Eigen::MatrixXd& mass;
  const Eigen::VectorXd& free;
  const Eigen::MatrixXd& rows;
  const Eigen::VectorXd& offsets;
  std::vector<Eigen::Index> equations, inequalities;
  std::vector<JudgedContact> contacts;
  std::vector<JudgedBound> bounds;
  // What counts as zero for the residual of each row, where that is more than rounding; empty: nothing.
  Eigen::VectorXd slack = {};
};

// The largest violation of
//   0 <= Lambda_N, f'' <= 0, one of them zero;   |Lambda_T| <= mu_s Lambda_N where s' = 0;
//   Lambda_T = mu Lambda_N s'/|s'| where s' != 0, and mu Lambda_N s/|s| where s != 0;
//   |Lambda| <= L, s' = 0 where |Lambda| < L, s' Lambda >= 0
// in the unit of |x - x0|_M, divided by the size of the problem.
double friction_residual(const JudgedForces& problem, const Eigen::VectorXd& x,
                         const Eigen::VectorXd& multipliers);

}  // namespace zwang
