// Exact derivatives of expressions.
#pragma once

#include "src/expression/expression.h"

namespace zwang {

// Partial derivative. Functions with kinks are differentiated on the side of the current state: abs' = sign,
// floor' = sign' = 0, and the derivatives of min and max are chosen by if_less.
Expr derivative(Expressions& pool, Expr e, Symbol variable);

// d/dt along the motion without the terms in the accelerations: e_t + sum e_q v. Applied to f(q,t) it is f';
// applied to f' (or to g(q,v,t)) it is c of [mayer-16], the value of f'' at a = 0.
Expr total_derivative(Expressions& pool, Expr e);

}  // namespace zwang
