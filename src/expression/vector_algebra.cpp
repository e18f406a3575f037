// ExprVector algebra of expressions.
#include "src/expression/vector_algebra.h"

#include "src/expression/operation.h"

namespace zwang {

Expr dot(Expressions& pool, const ExprVector& a, const ExprVector& b) {
  Expr total = pool.zero();
  for (std::size_t k = 0; k < a.size(); ++k) total = pool.add(total, pool.multiply(a[k], b[k]));
  return total;
}

Expr length_of(Expressions& pool, const ExprVector& components) {
  if (components.size() == 1) return pool.apply(Op::abs, components[0]);
  Expr squares = pool.zero();
  for (const Expr e : components) squares = pool.add(squares, pool.square(e));
  return pool.apply(Op::sqrt, squares);
}

ExprVector cross(Expressions& pool, const ExprVector& a, const ExprVector& b) {
  ExprVector made;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    made.push_back(pool.subtract(pool.multiply(a[i], b[j]), pool.multiply(a[j], b[i])));
  }
  return made;
}

ExprVector plus(Expressions& pool, const ExprVector& a, const ExprVector& b) {
  ExprVector made;
  for (std::size_t k = 0; k < a.size(); ++k) made.push_back(pool.add(a[k], b[k]));
  return made;
}

ExprVector minus(Expressions& pool, const ExprVector& a, const ExprVector& b) {
  ExprVector made;
  for (std::size_t k = 0; k < a.size(); ++k) made.push_back(pool.subtract(a[k], b[k]));
  return made;
}

ExprVector times(Expressions& pool, Expr factor, const ExprVector& a) {
  ExprVector made;
  for (const Expr e : a) made.push_back(pool.multiply(factor, e));
  return made;
}

// The formula in space is that of Frisvad (2012) as mended by Duff et al. (2017), "Building an orthonormal basis,
// revisited": without a pole.
std::vector<ExprVector> tangents(Expressions& pool, const ExprVector& n) {
  if (n.size() == 2) return {{pool.negate(n[1]), n[0]}};
  const Expr one = pool.one(), never_zero = pool.constant(1e-30);
  const Expr side = pool.apply(Op::sign, pool.add(n[2], never_zero));
  const Expr a = pool.negate(pool.divide(one, pool.add(side, n[2])));
  const Expr b = pool.multiply(pool.multiply(n[0], n[1]), a);
  const auto product = [&](Expr x, Expr y) { return pool.multiply(x, y); };
  return {{pool.add(one, product(side, product(pool.square(n[0]), a))), product(side, b),
           pool.negate(product(side, n[0]))},
          {b, pool.add(side, product(pool.square(n[1]), a)), pool.negate(n[1])}};
}

// Two unit vectors e across a fixed one u, turned as the shortest rotation turns u into n: e - (n e) (u + n)/(1 + n u).
// Their pole n = -u is a single direction, which is none that the axes of a study or simple slopes have.
std::vector<ExprVector> tangents_without_jump(Expressions& pool, const ExprVector& n) {
  if (n.size() == 2) return tangents(pool, n);
  constexpr double u[3] = {0.31830988618379067, 0.57721566490153286, 0.7519979338734539};
  constexpr double a = -1 / (1 + u[2]), b = u[0] * u[1] * a;
  constexpr double across[2][3] = {{1 + u[0] * u[0] * a, b, -u[0]}, {b, 1 + u[1] * u[1] * a, -u[1]}};
  const auto constants = [&](const double* of) {
    return ExprVector{pool.constant(of[0]), pool.constant(of[1]), pool.constant(of[2])};
  };
  const ExprVector pole = constants(u), sum = plus(pool, pole, n);
  const Expr scale = pool.divide(pool.one(), pool.add(pool.one(), dot(pool, n, pole)));
  std::vector<ExprVector> made;
  for (const double* e : across) {
    const ExprVector fixed = constants(e);
    made.push_back(minus(pool, fixed, times(pool, pool.multiply(dot(pool, n, fixed), scale), sum)));
  }
  return made;
}

}  // namespace zwang
