// Formulas of rigid bodies.
#include "src/system/body.h"

#include "src/expression/derivative.h"
#include "src/expression/operation.h"

namespace zwang {

namespace {

ExprVector product_with(Expressions& pool, const std::vector<std::vector<Expr>>& matrix,
                        const ExprVector& v) {
  ExprVector made;
  for (const std::vector<Expr>& row : matrix) {
    Expr sum = pool.zero();
    for (std::size_t k = 0; k < v.size(); ++k) sum = pool.add(sum, pool.multiply(row[k], v[k]));
    made.push_back(sum);
  }
  return made;
}

}  // namespace

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
  pool.declare_total(twice);
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
  frame_ = rotation_;
  define_slopes(frame_);
  if (body.nonspinning) add_spin();
}

// The body axes are those of the frame, turned about its z axis by the angle of the spin.
void BodyFormulas::add_spin() {
  const Expr angle = pool_.symbol(SymbolKind::auxiliary, body_.state + 4);
  pool_.define_slope(angle, body_.first_turn() + 2, pool_.one());
  cosine_ = pool_.apply(Op::cos, angle);
  sine_ = pool_.apply(Op::sin, angle);
  const auto combined = [&](Expr a, Expr c, Expr b, Expr s) {
    return pool_.add(pool_.multiply(c, a), pool_.multiply(s, b));
  };
  for (std::size_t row = 0; row < 3; ++row) {
    rotation_[row][0] = combined(frame_[row][0], cosine_, frame_[row][1], sine_);
    rotation_[row][1] = combined(frame_[row][1], cosine_, frame_[row][0], pool_.negate(sine_));
  }
}

// By a turn about the body axis i: q changes by q o (0, e_i)/2, and the column R e_k by R (e_i x e_k) [body-2].
// A nonspinning frame does not turn about its own z axis.
void BodyFormulas::define_slopes(const std::vector<std::vector<Expr>>& frame) {
  const Expr half = pool_.constant(0.5);
  const auto half_of = [&](Expr e, bool negative) {
    return pool_.multiply(half, negative ? pool_.negate(e) : e);
  };
  for (std::size_t i = 0; i < (body_.nonspinning ? 2U : 3U); ++i) {
    const std::size_t coordinate = body_.first_turn() + i, j = (i + 1) % 3, l = (i + 2) % 3;
    pool_.define_slope(q_[0], coordinate, half_of(q_[1 + i], true));
    pool_.define_slope(q_[1 + i], coordinate, half_of(q_[0], false));
    pool_.define_slope(q_[1 + j], coordinate, half_of(q_[1 + l], false));
    pool_.define_slope(q_[1 + l], coordinate, half_of(q_[1 + j], true));
    for (std::size_t row = 0; row < 3; ++row) {
      pool_.define_slope(frame[row][i], coordinate, pool_.zero());
      pool_.define_slope(frame[row][j], coordinate, frame[row][l]);
      pool_.define_slope(frame[row][l], coordinate, pool_.negate(frame[row][j]));
    }
  }
}

ExprVector BodyFormulas::velocities() const {
  ExprVector made;
  for (std::size_t i = body_.first_turn(); i < body_.first + body_.coordinates(); ++i)
    made.push_back(pool_.symbol(SymbolKind::velocity, i));
  return made;
}

ExprVector BodyFormulas::rates() const {
  const ExprVector w = velocities();
  if (!body_.nonspinning) return w;
  return {pool_.add(pool_.multiply(cosine_, w[0]), pool_.multiply(sine_, w[1])),
          pool_.subtract(pool_.multiply(cosine_, w[1]), pool_.multiply(sine_, w[0])), w[2]};
}

ExprVector BodyFormulas::in_frame(const ExprVector& in_body) const {
  if (!body_.nonspinning) return in_body;
  return {pool_.subtract(pool_.multiply(cosine_, in_body[0]), pool_.multiply(sine_, in_body[1])),
          pool_.add(pool_.multiply(sine_, in_body[0]), pool_.multiply(cosine_, in_body[1])), in_body[2]};
}

ExprVector BodyFormulas::axis(std::size_t k) const {
  ExprVector made;
  for (const std::vector<Expr>& row : rotation_) made.push_back(row[k]);
  return made;
}

ExprVector BodyFormulas::turned(const ExprVector& in_body) const {
  return product_with(pool_, rotation_, in_body);
}

ExprVector BodyFormulas::at(const ExprVector& offset) const { return plus(pool_, centre_, turned(offset)); }

ExprVector BodyFormulas::spin() const {
  if (body_.spatial()) return product_with(pool_, frame_, velocities());
  return {pool_.zero(), pool_.zero(), rates()[0]};
}

// A symmetric inertia is the same in the axes of the body and of its nonspinning frame.
ExprVector BodyFormulas::inertia_times_velocities() const {
  const ExprVector w = velocities();
  const std::vector<Expr>& I = body_.inertia;
  if (!body_.spatial()) return {pool_.multiply(I[0], w[0])};
  const std::array<std::array<std::size_t, 3>, 3> entry = {{{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}};
  ExprVector made;
  for (std::size_t i = 0; i < 3; ++i)
    made.push_back(dot(pool_, {I[entry[i][0]], I[entry[i][1]], I[entry[i][2]]}, w));
  return made;
}

ExprVector BodyFormulas::momentum() const {
  if (body_.spatial()) return product_with(pool_, frame_, inertia_times_velocities());
  return {pool_.zero(), pool_.zero(), inertia_times_velocities()[0]};
}

Expr BodyFormulas::kinetic_energy() const {
  const Expr half = pool_.constant(0.5);
  Expr total = pool_.zero();
  for (std::size_t k = 0; k < body_.dimension; ++k) {
    const Expr v = pool_.symbol(SymbolKind::velocity, body_.first + k);
    total = pool_.add(total, pool_.multiply(pool_.multiply(half, body_.mass), pool_.square(v)));
  }
  // Squares and products apart: a diagonal inertia gives a diagonal mass matrix.
  const ExprVector w = velocities();
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
  ExprVector turning = velocities();
  if (body_.nonspinning) turning[2] = pool_.zero();
  return cross(pool_, inertia_times_velocities(), turning);
}

std::vector<Expr> BodyFormulas::orientation() const {
  Expr squares = pool_.zero();
  for (const Expr e : q_) squares = pool_.add(squares, pool_.square(e));
  const Expr length = pool_.apply(Op::sqrt, squares);
  std::vector<Expr> made;
  for (const Expr e : q_) made.push_back(pool_.divide(e, length));
  if (!body_.nonspinning) return made;
  // q o (cos(a/2), 0, 0, sin(a/2)) for the angle a of the spin.
  const Expr half = pool_.multiply(pool_.constant(0.5), pool_.symbol(SymbolKind::auxiliary, body_.state + 4));
  const Expr c = pool_.apply(Op::cos, half), s = pool_.apply(Op::sin, half);
  const auto sum = [&](Expr a, Expr b) { return pool_.add(pool_.multiply(c, a), pool_.multiply(s, b)); };
  return {sum(made[0], pool_.negate(made[3])), sum(made[1], made[2]), sum(made[2], pool_.negate(made[1])),
          sum(made[3], made[0])};
}

std::vector<Expr> BodyFormulas::orientation_rates() const {
  std::vector<Expr> made;
  for (const Expr e : q_) made.push_back(total_derivative(pool_, e));
  if (body_.nonspinning) made.push_back(velocities()[2]);
  return made;
}

}  // namespace zwang
