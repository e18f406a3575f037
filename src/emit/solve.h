// Symbolic solution of Gauss's principle: mass matrix, rows, Phi, multipliers and accelerations as
// expressions, with every zero known in advance. The Phi of a chain is banded, and the cost of its
// elimination is that of the band.
//
// One text contains all conditions. One number per condition (the symbols SymbolKind::closed) states whether
// it is held: a row that is not held is zero, gets the multiplier 0 and does not affect the others. A pack of
// members, each with other conditions held, therefore runs through the same lines.
#pragma once

#include <vector>

#include "src/emit/elimination.h"
#include "src/emit/text.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

// The results of one solve, and the paragraphs of its text.
struct SymbolicMotion {
  std::vector<Expr> acceleration;  // n
  std::vector<Expr> multipliers;   // one per condition
  Expr work{};                     // power of all but potential forces, the reactions' included
  std::vector<Stage> stages;
};
struct SymbolicStep {
  std::vector<Expr> residuals;             // one per condition; 0 where it takes no part
  std::vector<Expr> change;                // n
  std::vector<Expr> multipliers, weights;  // of the change; the diagonal of Phi, 0 where not held
  std::vector<Stage> stages;
};

bool is_always_held(const ConditionFormula& condition);

// Whether the motion without conditions is emitted: not where some are always held, and where the multipliers are not
// eliminated in the text only for a diagonal mass matrix.
bool has_free_motion(const System& system, bool masked);

// True for few coordinates and conditions, all of them on positions or equations linear in velocities: lanes
// then handle common events in registers (kernels/lanes/fast_event.h), with functions of their own.
bool has_light_events(const System& system, bool masked);

// True if every condition is an inequality on positions or one of few equations linear in velocities, and some
// rebound: lanes then handle rebounds of single contacts (kernels/lanes/free_impact.h).
bool has_free_impacts(const System& system, bool masked);

// |M^-1/2 Q|^2 and v M v, the scales of forces and speeds.
struct SymbolicSizes {
  Expr push, speed;
};
SymbolicSizes solve_sizes(const System& system);

// Rates of y = (q, v, z, integrals, and the work where there is any).
std::vector<Expr> motion_rates(const System& system, const std::vector<Expr>& acceleration,
                               const std::vector<Expr>& auxiliary, const std::vector<Expr>& integrands,
                               Expr work);

// Multiplications of one solve, from the sparsity pattern alone; counting stops beyond the limit.
long long estimated_multiplications(const System& system, long long limit);

// These build on the system's pool.
SymbolicMotion solve_motion(const System& system);
std::vector<Expr> solve_free_motion(const System& system);  // accelerations with no condition held
// One Newton step in the mass metric onto the conditions held: positions onto f = 0, or velocities onto f' =
// 0, g = 0.
// How close the held rows are to linear dependence: the smallest pivot of Phi over its diagonal entry.
struct SymbolicDependence {
  Expr share{};
  std::vector<Stage> stages;
};
SymbolicDependence solve_dependence(const System& system);

// The same without the solution: Phi and the right side, and what follows from the multipliers, which are
// symbols. The elimination is left to the kernels (kernels/dynamics/sparse_elimination.h).
struct HeldEquations {
  SparseMatrix phi;
  EliminationPlan plan;
  std::vector<Expr> right;   // one per condition
  std::vector<Expr> result;  // n: accelerations, or the change of positions or velocities
  Expr work{};               // as in SymbolicMotion
};
HeldEquations motion_equations(const System& system);
HeldEquations step_equations(const System& system, bool positions);

SymbolicStep solve_position_step(const System& system);
SymbolicStep solve_velocity_step(const System& system);

}  // namespace zwang
