// Friction and bounded multipliers: cones, forces in slip, and the functions whose roots are changes of mode,
// derived from the conditions of a system.
#pragma once

#include <vector>

#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

// Fills System::frictions, bounds and transitions. Yielding conditions become forces [limit-2], and the rates of
// dissipated energies are added.
void derive_friction(System& system);

// mu times the force at the contact per unit of its multiplier.
Expr friction_cone(Expressions& pool, const Constraint& contact, Expr coefficient);
// The multipliers of the slip rows in slip, per unit of the contact's multiplier: cone times the direction of the
// slip. 0 while the contact does not slip.
std::vector<Expr> friction_drag(Expressions& pool, const Constraint& contact, const std::vector<Expr>& slip);
// The force of a yielding condition: the bound with its sign; 0 while it holds.
Expr yield_force(Expressions& pool, const LimitFormula& limit);

// Whether a start is projected onto the condition, and onto its rate. Slip speeds come into force with their contact,
// and a bounded row with a rate other than zero yields.
bool projected_at_start(const ConditionFormula& condition, bool rate);

}  // namespace zwang
