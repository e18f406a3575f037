// Aitken's relaxation of a fixed-point iteration: damps moves that overshoot and never lengthens a move.
#pragma once

#include <Eigen/Dense>
#include <algorithm>

namespace zwang {

class Relaxation {
 public:
  // The share of the proposed move to make, from the last two moves: in the direction of largest overshoot,
  // the next move would reach the fixed point if the iteration were linear.
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
