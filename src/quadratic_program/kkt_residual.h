// Verification of solutions of a quadratic program, independent of the solvers.
#pragma once

#include <Eigen/Dense>

#include "src/quadratic_program/quadratic_program.h"

namespace zwang {

// The distance of (x, multipliers) from satisfying the KKT conditions of the minimum, for the result of any
// solver. It has no unit; 0 means exact to double precision, and a wrong active set gives a value of order 1.
double kkt_residual(const QuadraticProgram& program, const Eigen::VectorXd& x,
                    const Eigen::VectorXd& multipliers);

}  // namespace zwang
