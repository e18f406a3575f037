// Levenberg-Marquardt iteration for the equations of an equilibrium.
#include "src/analysis/equilibrium_equations.h"
#include "src/system/equations.h"
#include "src/system/move_positions.h"

#include <cmath>

namespace zwang {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int most_iterations = 300;
// The damping keeps positions and auxiliaries near the last iterate; multipliers are hardly damped.
constexpr double multiplier_weight = 1e-6;

// Units: positions and forces are measured in the mass metric, conditions by the length of their gradient in
// it, and lengths are converted to accelerations by `pace`, the square of a frequency of the system.
class Balancing {
 public:
  Balancing(const RestEquations& rest, const State& start, const std::vector<std::size_t>& set)
      : rest_(rest),
        set_(set),
        n_(start.q.size()),
        nz_(static_cast<Index>(rest.states().size())),
        r_(static_cast<Index>(set.size())) {
    const Linearisation first = rest.at(start.q, start.z, set, VectorXd::Zero(r_));
    factor_.compute(first.mass);
    usable_ = first.finite() && factor_.info() == Eigen::Success;
    if (!usable_) return;
    const MatrixXd rows = MassMetric(first.mass).rows(first.rows);
    length_ = rows.rowwise().norm();
    for (double& length : length_)
      if (!(length > 0)) length = 1;
    const VectorXd force = in_metric(first.force);
    const double size = (factor_.matrixU() * start.q).norm();
    pace_ = in_metric(in_metric(first.stiffness).transpose()).norm();
    if (!(pace_ > 0)) pace_ = size > 0 && force.norm() > 0 ? force.norm() / size : 1;
    at_.q = start.q;
    at_.z = start.z;
    // The multipliers that balance the forces best at the start.
    at_.multipliers = VectorXd::Zero(r_);
    if (r_ > 0)
      at_.multipliers = Eigen::CompleteOrthogonalDecomposition<MatrixXd>(rows.transpose()).solve(force);
    evaluate(at_);
  }

  bool usable() const { return usable_; }
  const Balance& now() const { return at_; }

  // Reduces the merit until the steps gain nothing.
  void descend() {
    const double first = at_.merit;
    double damping = 1e-3;
    int idle = 0;
    for (; at_.iterations < most_iterations && at_.merit > 0 && idle < 8; ++at_.iterations) {
      const double before = at_.merit;
      if (!step(damping, first)) return;
      idle = at_.merit > 0.9999 * before ? idle + 1 : 0;
    }
  }

 private:
  template <class Matrix>
  MatrixXd in_metric(const Matrix& x) const {
    return factor_.matrixL().solve(MatrixXd(x));
  }

  // Residuals and merit at a point; the slopes are kept for the next step.
  void evaluate(Balance& at) {
    slopes_ = rest_.at(at.q, at.z, set_, at.multipliers);
    at.imbalance = slopes_.force - slopes_.rows.transpose() * at.multipliers;
    residual_.resize(n_ + r_ + nz_);
    residual_.head(n_) = in_metric(at.imbalance);
    for (Index s = 0; s < r_; ++s) residual_(n_ + s) = weight(s) * slopes_.values(s);
    residual_.tail(nz_) = slopes_.rates;
    at.merit = slopes_.finite() ? residual_.stableNorm() : std::nan("");
  }

  double weight(Index s) const {
    const bool holonomic =
        rest_.equations().system().constraints[set_[static_cast<std::size_t>(s)]].holonomic;
    return (holonomic ? pace_ : std::sqrt(pace_)) / length_(s);
  }

  // Jacobian by (L^T q, z, lambda * length).
  MatrixXd jacobian() const {
    MatrixXd made = MatrixXd::Zero(n_ + r_ + nz_, n_ + nz_ + r_);
    const auto by_position = [&](const MatrixXd& m) {
      return MatrixXd(in_metric(m.transpose()).transpose());
    };
    made.topLeftCorner(n_, n_) = by_position(in_metric(slopes_.stiffness));
    made.block(0, n_, n_, nz_) = in_metric(slopes_.coupling);
    made.block(0, n_ + nz_, n_, r_) =
        -in_metric(slopes_.rows.transpose()) * length_.cwiseInverse().asDiagonal();
    for (Index s = 0; s < r_; ++s)
      made.block(n_ + s, 0, 1, n_) = weight(s) * by_position(slopes_.values_q.row(s));
    made.block(n_ + r_, 0, nz_, n_) = by_position(slopes_.rates_q);
    made.block(n_ + r_, n_, nz_, nz_) = slopes_.rates_z;
    return made;
  }

  // One step that reduces the merit; false if there is none.
  bool step(double& damping, double first) {
    const MatrixXd slope = jacobian();
    const VectorXd residual = residual_;
    const Linearisation kept = slopes_;
    const Index columns = slope.cols();
    const double steepest = slope.leftCols(n_ + nz_).colwise().norm().maxCoeff();
    for (int attempt = 0; attempt < 60; ++attempt) {
      // The damping decreases with the square of the residual: quadratic convergence, also where equilibria
      // are not isolated.
      const double share = at_.merit / first;
      const double d = std::sqrt(damping) * share * (steepest > 0 ? steepest : 1);
      MatrixXd stacked = MatrixXd::Zero(slope.rows() + columns, columns);
      stacked.topRows(slope.rows()) = slope;
      for (Index k = 0; k < columns; ++k)
        stacked(slope.rows() + k, k) = d * (k < n_ + nz_ ? 1 : multiplier_weight);
      VectorXd right = VectorXd::Zero(stacked.rows());
      right.head(slope.rows()) = -residual;
      const VectorXd change = Eigen::CompleteOrthogonalDecomposition<MatrixXd>(stacked).solve(right);
      Balance next = at_;
      State moved{0, at_.q, VectorXd::Zero(n_), at_.z};
      move_positions(rest_.equations().system(), factor_.matrixU().solve(VectorXd(change.head(n_))), moved);
      next.q = moved.q;
      next.z = moved.z;
      next.z(rest_.states()) += change.segment(n_, nz_);
      next.multipliers += change.tail(r_).cwiseQuotient(length_);
      evaluate(next);
      if (next.merit < at_.merit) {
        const double hoped = residual.norm() - (residual + slope * change).norm();
        const bool good = at_.merit - next.merit > 0.5 * hoped;
        at_ = next;
        if (good) damping = std::max(damping / 10, 1e-12);
        return true;
      }
      damping *= 4;
    }
    slopes_ = kept;
    residual_ = residual;
    return false;
  }

  const RestEquations& rest_;
  const std::vector<std::size_t>& set_;
  Index n_, nz_, r_;
  Eigen::LLT<MatrixXd> factor_;  // M = L L^T at the start; the metric is not updated
  VectorXd length_;
  double pace_ = 1;
  bool usable_ = false;
  Balance at_;
  Linearisation slopes_;
  VectorXd residual_;
};

}  // namespace

Balance solve_balance(const RestEquations& rest, const State& start, const std::vector<std::size_t>& set) {
  Balancing balancing(rest, start, set);
  if (!balancing.usable()) {
    Balance none{start.q, start.z, VectorXd::Zero(static_cast<Index>(set.size())), {}, std::nan(""), 0};
    none.imbalance = rest.equations().dynamics({0, start.q, VectorXd::Zero(start.q.size()), start.z}).applied;
    return none;
  }
  balancing.descend();
  return balancing.now();
}

}  // namespace zwang
