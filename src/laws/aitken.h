// Aitken's relaxation of a fixed-point iteration: damps moves that overshoot, lengthens none.
#pragma once

#include <Eigen/Dense>
#include <algorithm>

namespace zwang {

class Relaxation {
 public:
  // The share of the proposed move to make, from how the last two moves relate: along the direction in which they
  // overshoot most, the next move would land on the fixed point were the iteration linear.
  Eigen::VectorXd relax(const Eigen::VectorXd& move) {
    if (last_.size() == move.size()) {
      const Eigen::VectorXd change = move - last_;
      const double squared = change.squaredNorm();
      if (squared > 0) factor_ = std::clamp(-factor_ * last_.dot(change) / squared, 0.01, 1.0);
    }
    last_ = move;
    return factor_ * move;
  }

 private:
  Eigen::VectorXd last_;
  double factor_ = 1;
};

}  // namespace zwang
