// Elimination order, and L D L^T with expressions as entries.
#include "src/emit/elimination.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace zwang {

std::pair<bool, Expr> without_sign(const Expressions& pool, Expr e) {
  const Node& node = pool.node(e);
  return node.op == Op::negate ? std::pair{true, node.arguments[0]} : std::pair{false, e};
}

Expr signed_product(Expressions& pool, Expr a, Expr b) {
  if (pool.is_zero(a) || pool.is_zero(b)) return pool.zero();
  const auto [a_negative, x] = without_sign(pool, a);
  const auto [b_negative, y] = without_sign(pool, b);
  const Expr size = x == y ? pool.square(x) : x.id < y.id ? pool.multiply(x, y) : pool.multiply(y, x);
  return a_negative != b_negative ? pool.negate(size) : size;
}

Expr entry(const Expressions& pool, const SparseVector& vector, std::size_t i) {
  const auto it = vector.find(i);
  return it == vector.end() ? pool.zero() : it->second;
}

Pattern pattern_of(const SparseMatrix& matrix, std::size_t size) {
  Pattern pattern(size);
  for (const auto& [where, e] : matrix) {
    const auto [i, j] = where;
    if (i == j) continue;
    pattern[i].insert(j);
    pattern[j].insert(i);
  }
  return pattern;
}

namespace {

// target -= a b
void subtract_product(Expressions& pool, Expr& target, Expr a, Expr b) {
  target = pool.subtract(target, signed_product(pool, a, b));
}

std::pair<std::size_t, std::size_t> place(std::size_t i, std::size_t j) {
  return {std::max(i, j), std::min(i, j)};
}

}  // namespace

// Least fill by minimum degree: the unknown with the fewest neighbours is eliminated first, among equals the
// one with the shortest chain of dependencies. A chain is then eliminated from both ends, and no pivot
// depends on more than half of the others.
EliminationPlan plan_elimination(Pattern pattern, PivotOrder order, long long limit) {
  const std::size_t size = pattern.size();
  EliminationPlan plan;
  plan.reached.resize(size);
  std::vector<std::size_t> depth(size, 0), left(size);
  for (std::size_t i = 0; i < size; ++i) left[i] = i;
  const auto sooner = [&](std::size_t i, std::size_t j) {
    if (order == PivotOrder::natural) return i < j;
    return std::tuple(pattern[i].size(), depth[i], i) < std::tuple(pattern[j].size(), depth[j], j);
  };
  while (!left.empty() && plan.multiplications <= limit) {
    const auto next = std::min_element(left.begin(), left.end(), sooner);
    const std::size_t pivot = *next;
    left.erase(next);
    plan.order.push_back(pivot);
    const std::set<std::size_t> neighbours = std::move(pattern[pivot]);
    plan.reached[pivot].assign(neighbours.begin(), neighbours.end());
    // A pivot connects its neighbours to each other: this is the fill.
    for (const std::size_t i : neighbours) {
      pattern[i].insert(neighbours.begin(), neighbours.end());
      pattern[i].erase(i);
      pattern[i].erase(pivot);
      depth[i] = std::max(depth[i], depth[pivot] + 1);
    }
    const auto count = static_cast<long long>(neighbours.size());
    plan.multiplications += 1 + 3 * count + count * (count + 1) / 2;
  }
  return plan;
}

SymbolicFactor::SymbolicFactor(Expressions& pool, EliminationPlan plan, const SparseMatrix& matrix,
                               Pivots pivots)
    : pool_(pool), plan_(std::move(plan)), inverse_(plan_.order.size(), pool.zero()) {
  SparseMatrix rest = matrix;  // what is left to eliminate
  const auto left_at = [&](std::size_t i, std::size_t j) -> Expr& { return rest[place(i, j)]; };
  for (const std::size_t p : plan_.order) {
    const auto given = matrix.find({p, p});
    const Expr diagonal = given == matrix.end() ? pool.zero() : given->second;
    inverse_[p] = inverse(left_at(p, p), diagonal, pivots);
    if (left_at(p, p) != diagonal) reduced_.push_back({left_at(p, p), diagonal});
    for (const std::size_t i : plan_.reached[p])
      lower_[{i, p}] = signed_product(pool, left_at(i, p), inverse_[p]);
    for (const std::size_t i : plan_.reached[p])
      for (const std::size_t j : plan_.reached[p])
        if (j <= i) subtract_product(pool, left_at(i, j), lower_.at({i, p}), left_at(j, p));
  }
}

// A row that is not held has a zero diagonal; the pivot of a row that depends on earlier rows is only
// rounding. Both get the multiplier 0, which does not change the accelerations (mechanics section 6). With a
// mass that is not positive the result is NaN, so that it cannot be taken for a motion.
Expr SymbolicFactor::inverse(Expr pivot, Expr diagonal, Pivots pivots) {
  const Expr inverted = pool_.divide(pool_.one(), pivot), zero = pool_.zero();
  if (pivots == Pivots::positive) return pool_.if_less(zero, pivot, inverted, pool_.constant(std::nan("")));
  const Expr noise = pivot == diagonal ? zero : pool_.multiply(pool_.symbol(dependent_share), diagonal);
  return pool_.if_less(noise, pivot, inverted, zero);
}

Expr SymbolicFactor::smallest_pivot_share() const {
  const Expr one = pool_.one();
  Expr smallest = one;
  for (const auto& [pivot, diagonal] : reduced_) {
    const Expr noise = pool_.multiply(pool_.symbol(dependent_share), diagonal);
    const Expr share = pool_.if_less(noise, pivot, pool_.divide(pivot, diagonal), one);
    smallest = pool_.apply(Op::minimum, smallest, share);
  }
  return smallest;
}

SparseVector SymbolicFactor::forward(SparseVector b) const {
  for (const std::size_t p : plan_.order) {
    if (!b.contains(p)) continue;
    for (const std::size_t i : plan_.reached[p]) {
      Expr left = entry(pool_, b, i);
      subtract_product(pool_, left, lower_.at({i, p}), b.at(p));
      b[i] = left;
    }
  }
  return b;
}

SparseVector SymbolicFactor::solve(const SparseVector& b) const {
  SparseVector x = forward(b);
  for (auto p = plan_.order.rbegin(); p != plan_.order.rend(); ++p) {
    Expr value = signed_product(pool_, entry(pool_, x, *p), inverse_[*p]);
    for (const std::size_t i : plan_.reached[*p])
      subtract_product(pool_, value, lower_.at({i, *p}), entry(pool_, x, i));
    x[*p] = value;
  }
  return x;
}

SymbolicGeneralFactor::SymbolicGeneralFactor(Expressions& pool, EliminationPlan plan,
                                             const GeneralMatrix& matrix, const std::vector<Expr>& scale)
    : pool_(pool), plan_(std::move(plan)), inverse_(plan_.order.size(), pool.zero()) {
  GeneralMatrix rest = matrix;  // what is left to eliminate
  for (const std::size_t p : plan_.order) {
    const Expr pivot = rest[{p, p}], zero = pool.zero();
    // Pivots may be negative: with several slipping contacts that alone is no contradiction [friction-5].
    const Expr size = pool.apply(Op::abs, pivot),
               noise = pool.multiply(pool.symbol(dependent_share), scale[p]);
    inverse_[p] = pool.if_less(noise, size, pool.divide(pool.one(), pivot), zero);
    for (const std::size_t i : plan_.reached[p]) {
      lower_[{i, p}] = signed_product(pool, rest[{i, p}], inverse_[p]);
      upper_[{p, i}] = rest[{p, i}];
    }
    for (const std::size_t i : plan_.reached[p])
      for (const std::size_t j : plan_.reached[p])
        subtract_product(pool, rest[{i, j}], lower_.at({i, p}), upper_.at({p, j}));
  }
}

SparseVector SymbolicGeneralFactor::solve(SparseVector b) const {
  for (const std::size_t p : plan_.order)
    for (const std::size_t i : plan_.reached[p]) {
      Expr left = entry(pool_, b, i);
      subtract_product(pool_, left, lower_.at({i, p}), entry(pool_, b, p));
      b[i] = left;
    }
  for (auto p = plan_.order.rbegin(); p != plan_.order.rend(); ++p) {
    Expr value = entry(pool_, b, *p);
    for (const std::size_t i : plan_.reached[*p])
      subtract_product(pool_, value, upper_.at({*p, i}), entry(pool_, b, i));
    b[*p] = signed_product(pool_, value, inverse_[*p]);
  }
  return b;
}

std::vector<Expr> SymbolicGeneralFactor::values() const {
  std::vector<Expr> list = inverse_;
  for (const GeneralMatrix* part : {&lower_, &upper_})
    for (const auto& [where, e] : *part) list.push_back(e);
  return list;
}

std::vector<Expr> SymbolicFactor::values() const {
  std::vector<Expr> list = inverse_;
  for (const auto& [where, e] : lower_) list.push_back(e);
  return list;
}

}  // namespace zwang
