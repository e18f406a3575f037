// Solution of a quadratic program by the method that suits its size.
#pragma once

#include "src/quadratic_program/quadratic_program.h"

namespace zwang {

// Enumeration while the sets of inequalities are few, pivoting above.
QpSolution solve_qp(const QuadraticProgram& program);

}  // namespace zwang
