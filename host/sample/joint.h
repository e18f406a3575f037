// The square root of a covariance, by which independent normals become correlated ones.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

namespace zwang {

// C = L L^T, L lower triangular, n x n. A covariance may be singular (one component a function of others): then a
// pivot is zero up to rounding, and so is what is left of its column, which contributes nothing.
// Returns why C is no covariance, with the components' names; nothing when it is one.
std::string factor_covariance(const Eigen::MatrixXd& C, const std::vector<std::string>& names,
                              Eigen::MatrixXd& L);

}  // namespace zwang
