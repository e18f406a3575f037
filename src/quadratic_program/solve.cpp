// Choice of the solver by the number of inequalities.
#include "src/quadratic_program/solve.h"

#include <algorithm>

#include "src/quadratic_program/enumerate.h"
#include "src/quadratic_program/pivot.h"

namespace zwang {

QpSolution solve_qp(const QuadraticProgram& program) {
  // Enumeration takes up to 2^12 small solves, some milliseconds, and doubles with every row.
  const auto inequalities = std::count(program.equation.begin(), program.equation.end(), 0);
  return inequalities <= 12 ? enumerate_qp(program) : pivot_qp(program);
}

}  // namespace zwang
