// The least constraint by pivoting: for many inequalities, where trying every set takes too long.
#pragma once

#include "src/quadratic_program/quadratic_program.h"

namespace zwang {

// The dual active-set method of Goldfarb and Idnani (1983). Its points are all minima for some set of rows
// with multipliers of the right sign; each step takes in one broken row and lets go of those that would have
// to pull, and so goes from smaller to larger constraint until no row is broken. In the language of f'' =
// Phi^0 - Phi lambda each step is a principal pivot of Phi.
QpSolution pivot_qp(const QuadraticProgram& program);

}  // namespace zwang
