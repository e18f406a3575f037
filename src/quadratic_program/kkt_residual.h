// Verification of solutions of a quadratic program, independent of the solvers.
#pragma once

#include <Eigen/Dense>

#include "src/quadratic_program/quadratic_program.h"

namespace zwang {

// How far (x, multipliers) is from satisfying the conditions of the minimum, whoever found them. It has no
// unit; 0 is as good as double precision can tell, and a wrong active set gives something of order 1.
double kkt_residual(const QuadraticProgram& program, const Eigen::VectorXd& x,
                    const Eigen::VectorXd& multipliers);

}  // namespace zwang
