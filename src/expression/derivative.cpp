// Derivatives by forward accumulation over the nodes.
#include "src/expression/derivative.h"
#include "src/expression/operation.h"

#include <unordered_map>

namespace zwang {

namespace {

// d op(a) / da; the caller multiplies by da (chain rule).
Expr unary_slope(Expressions& pool, Op op, Expr a, Expr self) {
  const Expr one = pool.one();
  switch (op) {
    case Op::sin:
      return pool.apply(Op::cos, a);
    case Op::cos:
      return pool.negate(pool.apply(Op::sin, a));
    case Op::tan:
      return pool.add(one, pool.square(self));
    case Op::asin:
      return pool.divide(one, pool.apply(Op::sqrt, pool.subtract(one, pool.square(a))));
    case Op::acos:
      return pool.divide(pool.constant(-1), pool.apply(Op::sqrt, pool.subtract(one, pool.square(a))));
    case Op::atan:
      return pool.divide(one, pool.add(one, pool.square(a)));
    case Op::sinh:
      return pool.apply(Op::cosh, a);
    case Op::cosh:
      return pool.apply(Op::sinh, a);
    case Op::tanh:
      return pool.subtract(one, pool.square(self));
    case Op::exp:
      return self;
    case Op::log:
      return pool.divide(one, a);
    case Op::sqrt:
      return pool.divide(pool.constant(0.5), self);
    case Op::abs:
      return pool.apply(Op::sign, a);
    case Op::negate:
      return pool.constant(-1);
    default:  // sign and floor are flat on either side of their jumps
      return pool.zero();
  }
}

// d(a^b). The term with log(a) is added only where the exponent varies, so x^2 stays defined for x < 0.
Expr power_derivative(Expressions& pool, Expr a, Expr b, Expr da, Expr db, Expr self) {
  Expr result = pool.zero();
  if (!pool.is_zero(da)) {
    const Expr lowered = pool.apply(Op::power, a, pool.subtract(b, pool.one()));
    result = pool.multiply(pool.multiply(b, lowered), da);
  }
  if (!pool.is_zero(db))
    result = pool.add(result, pool.multiply(pool.multiply(self, pool.apply(Op::log, a)), db));
  return result;
}

// u*x + v*y with absent terms left out.
Expr combine(Expressions& pool, Expr u, Expr x, Expr v, Expr y) {
  const Expr first = pool.is_zero(x) ? pool.zero() : pool.multiply(u, x);
  const Expr second = pool.is_zero(y) ? pool.zero() : pool.multiply(v, y);
  return pool.add(first, second);
}

Expr binary_derivative(Expressions& pool, Op op, Expr a, Expr b, Expr da, Expr db, Expr self) {
  switch (op) {
    case Op::add:
      return pool.add(da, db);
    case Op::subtract:
      return pool.subtract(da, db);
    case Op::multiply:
      return combine(pool, b, da, a, db);
    case Op::divide: {  // (da - (a/b) db) / b
      const Expr top = pool.is_zero(db) ? da : pool.subtract(da, pool.multiply(self, db));
      return pool.divide(top, b);
    }
    case Op::power:
      return power_derivative(pool, a, b, da, db, self);
    case Op::atan2: {  // a = y, b = x: (x dy - y dx) / (x^2 + y^2)
      const Expr top = combine(pool, b, da, pool.negate(a), db);
      return pool.divide(top, pool.add(pool.square(a), pool.square(b)));
    }
    case Op::minimum:
      return pool.if_less(b, a, db, da);
    case Op::maximum:
      return pool.if_less(a, b, db, da);
    case Op::hypot:
      return pool.divide(combine(pool, a, da, b, db), self);
    case Op::wrap: {  // wrap = x - a k with k whole: dx - k da, and k = (x - wrap)/a
      if (pool.is_zero(db)) return da;
      const Expr periods = pool.divide(pool.subtract(a, self), b);
      return pool.subtract(da, pool.multiply(periods, db));
    }
    default:
      return pool.zero();
  }
}

}  // namespace

Expr derivative(Expressions& pool, Expr e, Symbol variable) {
  // Ascending order visits arguments first; the map holds only nodes that depend on the variable.
  std::unordered_map<std::uint32_t, Expr> slopes;
  const auto slope_of = [&](Expr x) {
    const auto it = slopes.find(x.id);
    return it == slopes.end() ? pool.zero() : it->second;
  };
  for (const Expr x : pool.reachable({e})) {
    const Node node = pool.node(x);  // a copy: building new nodes moves the pool's storage
    Expr slope = pool.zero();
    const Expr* defined =
        variable.kind == SymbolKind::coordinate ? pool.defined_slope(x, variable.index) : nullptr;
    if (defined) {
      slope = *defined;
    } else if (node.op == Op::symbol) {
      slope = node.symbol == variable ? pool.one() : pool.zero();
    } else if (node.op == Op::if_less) {
      const Expr dx = slope_of(node.arguments[2]), dy = slope_of(node.arguments[3]);
      if (!pool.is_zero(dx) || !pool.is_zero(dy))
        slope = pool.if_less(node.arguments[0], node.arguments[1], dx, dy);
    } else if (arity(node.op) == 1) {
      const Expr da = slope_of(node.arguments[0]);
      if (!pool.is_zero(da)) slope = pool.multiply(unary_slope(pool, node.op, node.arguments[0], x), da);
    } else if (arity(node.op) == 2) {
      const Expr da = slope_of(node.arguments[0]), db = slope_of(node.arguments[1]);
      if (!pool.is_zero(da) || !pool.is_zero(db))
        slope = binary_derivative(pool, node.op, node.arguments[0], node.arguments[1], da, db, x);
    }
    if (!pool.is_zero(slope)) slopes[x.id] = slope;
  }
  return slope_of(e);
}

Expr total_derivative(Expressions& pool, Expr e) {
  Expr sum = pool.zero();
  const auto add_along = [&](std::uint32_t coordinate) {
    const Expr v = pool.symbol(SymbolKind::velocity, coordinate);
    sum = pool.add(sum, pool.multiply(derivative(pool, e, {SymbolKind::coordinate, coordinate}), v));
  };
  for (const Symbol& symbol : pool.symbols({e})) {
    if (symbol.kind == SymbolKind::time) sum = pool.add(sum, derivative(pool, e, symbol));
    if (symbol.kind == SymbolKind::coordinate) add_along(symbol.index);
  }
  for (const std::uint32_t coordinate : pool.turning({e})) add_along(coordinate);
  return sum;
}

}  // namespace zwang
