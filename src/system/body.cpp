// Formulas of rigid bodies.
#include "src/system/body.h"

#include "src/expression/derivative.h"
#include "src/expression/operation.h"

namespace zwang {

ExprVector velocity_of(Expressions& pool, const ExprVector& place) {
  ExprVector made;
  for (const Expr e : place) made.push_back(total_derivative(pool, e));
  return made;
}

void add_force_at(Expressions& pool, const ExprVector& place, const ExprVector& force,
                  std::vector<Expr>& generalized) {
  const ExprVector velocity = velocity_of(pool, place);
  for (std::size_t i = 0; i < generalized.size(); ++i) {
    const Symbol v{SymbolKind::velocity, static_cast<std::uint32_t>(i)};
    for (std::size_t k = 0; k < place.size(); ++k)
      generalized[i] = pool.add(generalized[i], pool.multiply(force[k], derivative(pool, velocity[k], v)));
  }
}

BodyFormulas::BodyFormulas(Expressions& pool, const Body& body) : pool_(pool), body_(body) {
  for (std::size_t k = 0; k < body.dimension; ++k)
    centre_.push_back(pool.symbol(SymbolKind::coordinate, body.first + k));
  if (!body.spatial()) {
    const Expr angle = pool.symbol(SymbolKind::coordinate, body.first_turn());
    const Expr c = pool.apply(Op::cos, angle), s = pool.apply(Op::sin, angle);
    rotation_ = {{c, pool.negate(s)}, {s, c}};
    return;
  }
  for (std::size_t k = 0; k < 4; ++k) q_[k] = pool.symbol(SymbolKind::auxiliary, body.state + k);
  Expr squares = pool.zero();
  for (const Expr e : q_) squares = pool.add(squares, pool.square(e));
  const Expr twice = pool.divide(pool.constant(2), squares);
  const auto product = [&](std::size_t i, std::size_t j) { return pool.multiply(q_[i], q_[j]); };
  const auto scaled = [&](Expr e) { return pool.multiply(twice, e); };
  const auto on_diagonal = [&](std::size_t i, std::size_t j) {
    return pool.subtract(pool.one(), scaled(pool.add(pool.square(q_[i]), pool.square(q_[j]))));
  };
  rotation_ = {{on_diagonal(2, 3), scaled(pool.subtract(product(1, 2), product(0, 3))),
                scaled(pool.add(product(1, 3), product(0, 2)))},
               {scaled(pool.add(product(1, 2), product(0, 3))), on_diagonal(1, 3),
                scaled(pool.subtract(product(2, 3), product(0, 1)))},
               {scaled(pool.subtract(product(1, 3), product(0, 2))),
                scaled(pool.add(product(2, 3), product(0, 1))), on_diagonal(1, 2)}};
  define_slopes();
}

// By a turn about the body axis i: q changes by q o (0, e_i)/2, and the column R e_k by R (e_i x e_k) [body-2].
void BodyFormulas::define_slopes() {
  const Expr half = pool_.constant(0.5);
  const auto half_of = [&](Expr e, bool negative) {
    return pool_.multiply(half, negative ? pool_.negate(e) : e);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t coordinate = body_.first_turn() + i, j = (i + 1) % 3, l = (i + 2) % 3;
    pool_.define_slope(q_[0], coordinate, half_of(q_[1 + i], true));
    pool_.define_slope(q_[1 + i], coordinate, half_of(q_[0], false));
    pool_.define_slope(q_[1 + j], coordinate, half_of(q_[1 + l], false));
    pool_.define_slope(q_[1 + l], coordinate, half_of(q_[1 + j], true));
    for (std::size_t row = 0; row < 3; ++row) {
      pool_.define_slope(rotation_[row][i], coordinate, pool_.zero());
      pool_.define_slope(rotation_[row][j], coordinate, rotation_[row][l]);
      pool_.define_slope(rotation_[row][l], coordinate, pool_.negate(rotation_[row][j]));
    }
  }
}

ExprVector BodyFormulas::rates() const {
  ExprVector made;
  for (std::size_t i = body_.first_turn(); i < body_.first + body_.coordinates(); ++i)
    made.push_back(pool_.symbol(SymbolKind::velocity, i));
  return made;
}

ExprVector BodyFormulas::axis(std::size_t k) const {
  ExprVector made;
  for (const std::vector<Expr>& row : rotation_) made.push_back(row[k]);
  return made;
}

ExprVector BodyFormulas::turned(const ExprVector& in_body) const {
  ExprVector made;
  for (const std::vector<Expr>& row : rotation_) made.push_back(dot(pool_, row, in_body));
  return made;
}

ExprVector BodyFormulas::at(const ExprVector& offset) const { return plus(pool_, centre_, turned(offset)); }

ExprVector BodyFormulas::spin() const {
  if (body_.spatial()) return turned(rates());
  return {pool_.zero(), pool_.zero(), rates()[0]};
}

ExprVector BodyFormulas::inertia_times_rates() const {
  const ExprVector w = rates();
  const std::vector<Expr>& I = body_.inertia;
  if (!body_.spatial()) return {pool_.multiply(I[0], w[0])};
  const std::array<std::array<std::size_t, 3>, 3> entry = {{{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}};
  ExprVector made;
  for (std::size_t i = 0; i < 3; ++i)
    made.push_back(dot(pool_, {I[entry[i][0]], I[entry[i][1]], I[entry[i][2]]}, w));
  return made;
}

ExprVector BodyFormulas::momentum() const {
  if (body_.spatial()) return turned(inertia_times_rates());
  return {pool_.zero(), pool_.zero(), inertia_times_rates()[0]};
}

Expr BodyFormulas::kinetic_energy() const {
  const Expr half = pool_.constant(0.5);
  Expr total = pool_.zero();
  for (std::size_t k = 0; k < body_.dimension; ++k) {
    const Expr v = pool_.symbol(SymbolKind::velocity, body_.first + k);
    total = pool_.add(total, pool_.multiply(pool_.multiply(half, body_.mass), pool_.square(v)));
  }
  // Squares and products apart: a diagonal inertia gives a diagonal mass matrix.
  const ExprVector w = rates();
  for (std::size_t i = 0; i < w.size(); ++i)
    total = pool_.add(total, pool_.multiply(pool_.multiply(half, body_.inertia[i]), pool_.square(w[i])));
  if (!body_.spatial()) return total;
  const std::array<std::array<std::size_t, 2>, 3> pairs = {{{0, 1}, {0, 2}, {1, 2}}};
  for (std::size_t k = 0; k < 3; ++k)
    total = pool_.add(total,
                      pool_.multiply(body_.inertia[3 + k], pool_.multiply(w[pairs[k][0]], w[pairs[k][1]])));
  return total;
}

std::vector<Expr> BodyFormulas::gyroscopic_torque() const {
  return cross(pool_, inertia_times_rates(), rates());
}

std::vector<Expr> BodyFormulas::orientation() const {
  Expr squares = pool_.zero();
  for (const Expr e : q_) squares = pool_.add(squares, pool_.square(e));
  const Expr length = pool_.apply(Op::sqrt, squares);
  std::vector<Expr> made;
  for (const Expr e : q_) made.push_back(pool_.divide(e, length));
  return made;
}

std::vector<Expr> BodyFormulas::orientation_rates() const {
  std::vector<Expr> made;
  for (const Expr e : q_) made.push_back(total_derivative(pool_, e));
  return made;
}

}  // namespace zwang
