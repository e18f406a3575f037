// Lengths and smallest changes in the mass metric |x|^2 = x^T M x.
#pragma once

#include <Eigen/Dense>

namespace zwang {

class MassMetric {
 public:
  explicit MassMetric(const Eigen::MatrixXd& mass) : factor_(mass) {}

  // False when M is not positive definite (or not finite).
  bool valid() const { return factor_.info() == Eigen::Success; }
  Eigen::VectorXd solve(const Eigen::VectorXd& force) const { return factor_.solve(force); }  // M^-1 Q

  // Rows A in the metric: B = A L^-T, so that Phi = B B^T [mayer-15].
  Eigen::MatrixXd rows(const Eigen::MatrixXd& a) const;

  struct Change {
    Eigen::VectorXd x;            // the smallest x with A x = target
    Eigen::VectorXd multipliers;  // M x = -A^T multipliers
    bool independent = true;  // false: rows dependent; x is then the least-squares answer, multipliers unset
    double mismatch = 0;      // |A x - target| over |target|, rows of unit length; large: contradictory rows
  };
  // The smallest change that moves the rows' values by `target`.
  Change smallest_change(const Eigen::MatrixXd& a, const Eigen::VectorXd& target) const;

 private:
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

}  // namespace zwang
