// Rows and smallest changes in the mass metric.
#include "src/system/mass_metric.h"

namespace zwang {

namespace {
// Unit rows closer than this to the span of the others count as dependent.
constexpr double independence = 1e-7;
// Closer than this, the factors of Phi have lost six digits and more to cancellation: the squared distance is
// a difference of numbers of size 1.
constexpr double cancellation = 1e-3;
}  // namespace

Eigen::MatrixXd MassMetric::rows(const Eigen::MatrixXd& a) const {
  if (a.rows() == 0) return a;  // Eigen's triangular solve reads the first entry of its argument
  return factor_.matrixL().solve(a.transpose()).transpose();
}

MassMetric::Change MassMetric::smallest_change(const Eigen::MatrixXd& a,
                                               const Eigen::VectorXd& target) const {
  Change change;
  change.x = Eigen::VectorXd::Zero(a.cols());
  change.multipliers = Eigen::VectorXd::Zero(a.rows());
  if (a.rows() == 0) return change;
  // With unit rows the decision about independence does not depend on units.
  Eigen::MatrixXd b = rows(a);
  Eigen::VectorXd length = b.rowwise().norm();
  for (Eigen::Index i = 0; i < length.size(); ++i)
    if (!(length(i) > 0)) length(i) = 1;
  b = length.cwiseInverse().asDiagonal() * b;
  const Eigen::VectorXd wanted = target.cwiseQuotient(length);
  const Eigen::LLT<Eigen::MatrixXd> phi(b * b.transpose());
  const Eigen::MatrixXd corner = phi.matrixL();
  Eigen::VectorXd y;
  // The pivots of Phi are squares of distances and have their rounding: six rows of rank five left 2e-7. Below
  // `cancellation` the distances themselves decide, from B^T = Q R.
  double distance = phi.info() == Eigen::Success ? corner.diagonal().minCoeff() : 0;
  if (!(distance > cancellation)) {
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(b.transpose());
    distance = b.rows() > b.cols() ? 0 : qr.matrixQR().diagonal().cwiseAbs().minCoeff();
  }
  if (phi.info() == Eigen::Success && distance > independence) {
    Eigen::VectorXd mu;
    if (distance > cancellation) {
      mu = phi.solve(wanted);
      y = b.transpose() * mu;
    } else {
      // B^T = Q R, hence Phi = R^T R, without forming Phi: a bead of 1e-6 between a rod and a load of 1e6 had
      // multipliers wrong by 2e-5, and with Q and R by 1e-10.
      const Eigen::HouseholderQR<Eigen::MatrixXd> qr(b.transpose());
      const auto r = qr.matrixQR().topRows(b.rows()).triangularView<Eigen::Upper>();
      const Eigen::VectorXd along = r.transpose().solve(wanted);
      mu = r.solve(along);
      y = Eigen::VectorXd::Zero(b.cols());
      y.head(b.rows()) = along;
      y = qr.householderQ() * y;
    }
    change.multipliers = -mu.cwiseQuotient(length);
  } else {
    change.independent = false;
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(1e-10);
    decomposition.compute(b);
    y = decomposition.solve(wanted);
    const double size = wanted.norm();
    change.mismatch = size > 0 ? (b * y - wanted).norm() / size : 0;
  }
  change.x = factor_.matrixU().solve(y);
  return change;
}

}  // namespace zwang
