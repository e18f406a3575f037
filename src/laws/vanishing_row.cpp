// Higher time derivatives of a condition as polynomials in the accelerations.
#include "src/laws/vanishing_row.h"

#include <cmath>

#include "src/expression/derivative.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/scaled.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Eigen::Index;

// Below this share of its own rounding scale a number is noise, as for the rows themselves.
constexpr double vanishing_share = 1e-10;

// A time derivative of a condition, as a polynomial in the accelerations:
//     e = rest + sum slope_k a_k + sum curvature_kl a_k a_l
// Along the motion e' = e_t + e_q v + e_v a + e_a a'. The jerk a' does not appear as long as e_a vanishes,
// and only then is the next order needed. Collecting powers of a, with D = d/dt + v d/dq:
//     rest' = D rest,  slope_k' = D slope_k + d rest/dv_k,
//     curvature_kl' = D curvature_kl + sym d slope_k/dv_l
struct Order {
  Expr rest;
  std::vector<Expr> slope;
  std::vector<std::vector<Expr>> curvature;  // symmetric
};

Order first_order(Expressions& pool, const Constraint& constraint, std::size_t n) {
  Order made{constraint.rest, std::vector<Expr>(n, pool.zero()), {}};
  for (std::size_t c = 0; c < constraint.columns.size(); ++c)
    made.slope[constraint.columns[c]] = constraint.row[c];
  made.curvature.assign(n, std::vector<Expr>(n, pool.zero()));
  return made;
}

Order next_order(Expressions& pool, const Order& e) {
  const std::size_t n = e.slope.size();
  const auto by_velocity = [&](Expr x, std::size_t k) {
    return derivative(pool, x, {SymbolKind::velocity, static_cast<std::uint32_t>(k)});
  };
  Order made{total_derivative(pool, e.rest), {}, e.curvature};
  for (std::size_t k = 0; k < n; ++k)
    made.slope.push_back(pool.add(total_derivative(pool, e.slope[k]), by_velocity(e.rest, k)));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t l = 0; l <= k; ++l) {
      const Expr both = pool.add(by_velocity(e.slope[k], l), by_velocity(e.slope[l], k));
      made.curvature[k][l] = made.curvature[l][k] =
          pool.add(total_derivative(pool, e.curvature[k][l]), pool.multiply(pool.constant(0.5), both));
    }
  return made;
}

}  // namespace

VanishingRow vanishing_row(const Equations& equations, std::size_t condition, const State& state,
                           const Sizes& sizes) {
  const Constraint& constraint = equations.system().constraints[condition];
  Expressions pool = *equations.system().pool;  // a copy for the derivatives made here
  const std::size_t n = equations.size();
  const auto number = [&](Expr e) {
    if (pool.is_zero(e)) return 0.0;
    const Scaled scaled = equations.evaluate_scaled(Program(pool, {e}), state, sizes);
    return std::abs(scaled.value) <= vanishing_share * scaled.scale ? 0.0 : scaled.value;
  };
  VanishingRow made;
  made.condition = condition;
  made.name = constraint.name;
  const int second = constraint.holonomic ? 2 : 1;  // the derivative that A a + c is
  Order e = first_order(pool, constraint, n);
  for (int order = second + 1; order <= 4; ++order) {
    e = next_order(pool, e);
    made.rest = number(e.rest);
    made.slope.resize(static_cast<Index>(n));
    made.curvature.resize(static_cast<Index>(n), static_cast<Index>(n));
    for (std::size_t k = 0; k < n; ++k) {
      made.slope(static_cast<Index>(k)) = number(e.slope[k]);
      for (std::size_t l = 0; l < n; ++l)
        made.curvature(static_cast<Index>(k), static_cast<Index>(l)) = number(e.curvature[k][l]);
    }
    if (made.slope.isZero(0) && made.curvature.isZero(0) && made.rest == 0) continue;
    made.order = order;
    return made;
  }
  return made;
}

}  // namespace zwang
