// Cholesky factorisation of a covariance matrix that may be singular.
#include "host/sample/joint.h"

#include <cmath>
#include <limits>

#include "src/base/error.h"

namespace zwang {

// Rejected: pivoting. The values of the covariance would then decide which draw affects which component.
std::string factor_covariance(const Eigen::MatrixXd& C, const std::vector<std::string>& names,
                              Eigen::MatrixXd& L) {
  const Eigen::Index n = C.rows();
  // Relative to the variances: the size of the rounding errors in C and in the sums below.
  const double tolerance = 16 * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  const auto name = [&](Eigen::Index i) { return "'" + names[static_cast<std::size_t>(i)] + "'"; };
  L.setZero(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    // The variance of component j that is not explained by the components before it.
    double left = C(j, j);
    for (Eigen::Index k = 0; k < j; ++k) left -= L(j, k) * L(j, k);
    if (!(left >= -tolerance * C(j, j)))
      return "given the components before it, " + name(j) + " would have variance " + number_text(left);
    const bool zero_pivot = left <= tolerance * C(j, j);
    if (!zero_pivot) L(j, j) = std::sqrt(left);

    for (Eigen::Index i = j + 1; i < n; ++i) {
      const double size = std::sqrt(std::abs(C(i, i))) * std::sqrt(std::abs(C(j, j)));
      if (!(std::abs(C(i, j) - C(j, i)) <= tolerance * size))
        return number_text(C(j, i)) + " for " + name(j) + " with " + name(i) + ", but " +
               number_text(C(i, j)) + " for " + name(i) + " with " + name(j);
      double rest = C(i, j);
      for (Eigen::Index k = 0; k < j; ++k) rest -= L(i, k) * L(j, k);
      // A semi-definite matrix has rest^2 <= left * C_ii, and left is within tolerance * C_jj of zero.
      if (!zero_pivot)
        L(i, j) = rest / L(j, j);
      else if (!(std::abs(rest) <= std::sqrt(tolerance) * size))
        return name(i) + " would vary with " + name(j) + ", which has no variance of its own";
    }
  }
  return "";
}

}  // namespace zwang
