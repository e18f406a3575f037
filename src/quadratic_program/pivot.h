// The least constraint by pivoting, for many inequalities, where enumeration takes too long.
#pragma once

#include "src/quadratic_program/quadratic_program.h"

namespace zwang {

// The dual active-set method of Goldfarb and Idnani (1983). Every iterate is the minimum for some set of rows
// with multipliers of the right sign. Each step adds one violated row and drops rows whose multiplier would
// become negative, so that the constraint grows until no row is violated. In terms of f'' = Phi^0 - Phi
// lambda each step is a principal pivot of Phi.
QpSolution pivot_qp(const QuadraticProgram& program);

}  // namespace zwang
