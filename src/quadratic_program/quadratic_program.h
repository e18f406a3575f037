// The least constraint as a quadratic program, its solution, and the judge of solutions.
//
//     minimise 1/2 (x - x0)^T M (x - x0)   subject to   A_i x + c_i = 0 (equations), A_i x + c_i <= 0
//     (inequalities)
//
// Accelerations (x0 = M^-1 Q), shocks (x0 = the velocities before) and projections onto the conditions are
// all this one problem: the point of a convex region nearest to a given point [staeckel-29..33].
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <vector>

namespace zwang {

struct QuadraticProgram {
  Eigen::MatrixXd mass;        // n x n: M, symmetric positive definite
  Eigen::VectorXd free;        // n: x0
  Eigen::MatrixXd rows;        // r x n: A
  Eigen::VectorXd offsets;     // r: c
  std::vector<char> equation;  // r: 1 = equation, 0 = inequality
};

// x is unique. The multipliers are so only when the tight rows (the equations, and the inequalities met with
// equality) are independent; otherwise they are those of least norm |lambda| among all that fit, in the units
// the rows came in. `pressing` means: an equation, or lambda > 0. An inequality that is met with equality and
// does not push (lambda = 0, residual = 0) is not pressing. A row with A_i = 0 binds nothing: it never
// presses and is not counted as redundant. Not feasible, and also when M is not positive definite or a number
// is not finite: x, multipliers, residuals are NaN.
struct QpSolution {
  bool feasible = false;
  bool redundant = false;  // the tight rows are dependent
  Eigen::VectorXd x;       // n
  Eigen::VectorXd
      multipliers;  // r: M (x - x0) + A^T lambda = 0; >= 0 for inequalities, exactly 0 if not pressing
  Eigen::VectorXd residuals;   // r: A x + c, f'' of each row
  std::vector<char> pressing;  // r
};

// How far (x, multipliers) is from satisfying the conditions of the minimum, whoever found them. It has no
// unit; 0 is as good as double precision can tell, and a wrong active set gives something of order 1.
double kkt_residual(const QuadraticProgram& program, const Eigen::VectorXd& x,
                    const Eigen::VectorXd& multipliers);

// The solver to use: enumeration while the sets of inequalities are few, pivoting above.
QpSolution solve_qp(const QuadraticProgram& program);

// For the solvers: the same problem in the mass metric with unit rows.
namespace active_set {

// With M = L L^T and z = L^T (x - x0):
//
//     minimise 1/2 |z|^2 subject to u_i z + b_i = 0 or <= 0;   z + U^T mu = 0
//
// z, b and mu have one unit, the square root of the constraint's, and U has none: whether rows are dependent
// or numbers are zero does not depend on metres, grams or on how a condition was scaled.
struct UnitRows {
  Eigen::MatrixXd root;           // n x n: L
  Eigen::MatrixXd unit;           // r x n: u_i = A_i L^-T / length_i
  Eigen::VectorXd length;         // r: |A_i L^-T|; 0 for a row that vanishes
  Eigen::VectorXd gap;            // r: b_i = (A_i x0 + c_i) / length_i
  Eigen::VectorXd floor;          // r: what rounding of its terms can do to b_i
  double rounding = 0;            // what rounding does to numbers of order 1
  double tie = 0;                 // the part of the problem's size that may still be called zero
  std::vector<int> equations;     // numbers of the equations that do not vanish
  std::vector<int> inequalities;  // and of such inequalities
  int contradiction = -1;         // a row with A_i = 0 that c_i breaks
  bool usable = false;            // M positive definite, all numbers finite
};

UnitRows unit_rows(const QuadraticProgram& program);

// A row this near to the span of others depends on them. The coefficients enter because, when they are large,
// rounding of the others would pass for independence.
double dependence_tolerance(double sum_of_coefficients);

// The minimum when `rows`, and no others, are taken as equations.
struct EqualityPoint {
  std::vector<int> rows;    // k of them
  Eigen::VectorXd z;        // n
  Eigen::VectorXd mu;       // k: unit multipliers
  Eigen::MatrixXd inverse;  // n x k: pseudo-inverse of the k unit rows
};

// What may pass for zero. Solvers start with the strictest meaning and resort to the next only when it leaves
// no solution: where rows are nearly dependent, sets that are wrong by less than a tie have solutions far
// apart.
enum class Zero {
  rounding,  // of the number's own terms
  carried,   // and what the rounding of the other rows does to it through the solve
  tie        // and a fixed small part of the problem's size: conditions that agree only so far
};
inline constexpr Zero all_zeros[] = {Zero::rounding, Zero::carried, Zero::tie};

struct Tolerances {
  Eigen::VectorXd residual;    // r: for u_i z + b_i
  Eigen::VectorXd multiplier;  // k: for mu
};

Tolerances tolerances(const UnitRows& rows, const EqualityPoint& point, Zero zero);

// What a solver finds: the rest follows from it.
struct ActiveSet {
  bool feasible = false;
  Eigen::VectorXd z;       // n
  Eigen::VectorXd mu;      // r: unit multipliers, some that fit
  std::vector<int> tight;  // the equations, and the inequalities met with equality
};
using ActiveSetSolver = std::function<ActiveSet(const UnitRows&)>;

// The active set at an accepted point.
ActiveSet settle(const UnitRows& rows, const EqualityPoint& point);

// The solution in the caller's units. `solver` is asked once more when the multipliers are not unique.
QpSolution finish(const QuadraticProgram& program, const UnitRows& rows, const ActiveSet& active,
                  const ActiveSetSolver& solver);

}  // namespace active_set

}  // namespace zwang
