// Vectors of two or three expressions.
#pragma once

#include <vector>

#include "src/expression/expression.h"

namespace zwang {

using ExprVector = std::vector<Expr>;

Expr dot(Expressions& pool, const ExprVector& a, const ExprVector& b);
Expr length_of(Expressions& pool, const ExprVector& components);
ExprVector cross(Expressions& pool, const ExprVector& a, const ExprVector& b);  // of three components
ExprVector plus(Expressions& pool, const ExprVector& a, const ExprVector& b);
ExprVector minus(Expressions& pool, const ExprVector& a, const ExprVector& b);
ExprVector times(Expressions& pool, Expr factor, const ExprVector& a);

// One or two unit vectors across the unit vector n, perpendicular to each other. In space they may jump where n.z = 0.
std::vector<ExprVector> tangents(Expressions& pool, const ExprVector& n);
// The same, continuous but for a single direction of n.
std::vector<ExprVector> tangents_without_jump(Expressions& pool, const ExprVector& n);

}  // namespace zwang
