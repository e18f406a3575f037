// One round of an impact with friction [friction-11]: the problem in velocities, and its solution with the energy capped.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

#include "kernels/base/status.h"
#include "src/laws/mode_problem.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// One condition in a round, with the rebounds of its rows at theta = 1.
struct ImpactPart {
  std::size_t condition = 0;
  ModeElement element;
  std::vector<std::size_t> rows;  // conditions
  Eigen::VectorXd rebound;        // by row
};

class Impact {
 public:
  Impact(const Equations& equations, const State& state, const Sizes& sizes, const Eigen::VectorXd& alpha,
         double rest_speed)
      : equations_(equations), state_(state), mass_(equations.mass(state)), zero_(equations.count(), 0) {
    Sizes larger = sizes;
    larger.v = sizes.v.cwiseMax(alpha.cwiseAbs()).cwiseMax(state.v.cwiseAbs());
    state_.v = alpha;
    for (std::size_t i = 0; i < equations.count(); ++i)
      zero_[i] = rest_speed * equations.scaled_row(i, state_, larger)[1].scale;
  }

  double rate(std::size_t i, const Eigen::VectorXd& v) {
    state_.v = v;
    return equations_.rate(i, state_);
  }
  double zero(std::size_t i) const { return zero_[i]; }
  bool is_equation(std::size_t i) const { return equations_.system().constraints[i].equation; }
  bool breaks(std::size_t i) const {
    const auto& limit = equations_.system().constraints[i].limit;
    return limit && limit->breaks;
  }
  const Eigen::MatrixXd& mass() const { return mass_; }
  const State& state() const { return state_; }
  double kinetic(const Eigen::VectorXd& v) {
    state_.v = v;
    return equations_.kinetic(state_);
  }

  ImpactPart part(std::size_t i, ModeElement::Kind kind, const Eigen::VectorXd& alpha, double rebound);
  ModeProblem problem(const std::vector<ImpactPart>& parts, const Eigen::VectorXd& alpha,
                      const Eigen::VectorXd& v0, double theta);

 private:
  const Equations& equations_;
  State state_;
  Eigen::MatrixXd mass_;
  std::vector<double> zero_;
};

struct ImpactRound {
  Status status = Status::infeasible;
  ModeProblem problem;
  ModeSolution solution;
  double theta = 1;
};

// The solution with the largest share theta of the restitution that creates no energy. `linear`: all conditions are
// linear in the velocities.
ImpactRound solve_capped(Impact& impact, const std::vector<ImpactPart>& parts, const Eigen::VectorXd& alpha,
                         bool linear);

}  // namespace zwang
