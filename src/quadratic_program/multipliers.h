// From an active set to the solution of the quadratic program: x, and the multipliers of least norm.
#pragma once

#include <functional>

#include "src/quadratic_program/quadratic_program.h"
#include "src/quadratic_program/unit_rows.h"

namespace zwang {

namespace active_set {

using ActiveSetSolver = std::function<ActiveSet(const UnitRows&)>;

// The solution in the caller's units. `solver` is called once more when the multipliers are not unique.
QpSolution solution_at(const QuadraticProgram& program, const UnitRows& rows, const ActiveSet& active,
                       const ActiveSetSolver& solver);

}  // namespace active_set

}  // namespace zwang
