// The Cholesky factor of a covariance matrix, which turns independent normals into correlated ones.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

namespace zwang {

// C = L L^T, L lower triangular, n x n. A covariance may be singular (one component is a function of others):
// then a pivot and the rest of its column are zero up to rounding, and the column of L is zero.
// Returns the reason why C is not a covariance, with the names of the components; empty if it is one.
std::string factor_covariance(const Eigen::MatrixXd& C, const std::vector<std::string>& names,
                              Eigen::MatrixXd& L);

}  // namespace zwang
