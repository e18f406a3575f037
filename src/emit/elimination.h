// Sparse symmetric elimination on expressions: order and fill from the sparsity pattern alone, then L D L^T
// written out, with no operation on zeros.
#pragma once

#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "src/emit/text.h"
#include "src/expression/expression.h"

namespace zwang {

// -x as (true, x).
std::pair<bool, Expr> without_sign(const Expressions& pool, Expr e);
// a b with the signs in front, so that (-x)(-y) and x y are one product and (-x)^2 is x^2.
Expr signed_product(Expressions& pool, Expr a, Expr b);

// Off-diagonal neighbours of each unknown.
using Pattern = std::vector<std::set<std::size_t>>;

// Order and fill of an elimination, from the pattern.
struct EliminationPlan {
  std::vector<std::size_t> order;                 // pivots, first to last
  std::vector<std::vector<std::size_t>> reached;  // by unknown: those eliminated later that its row reaches
  long long multiplications = 0;                  // factorisation and one right-hand side
};

enum class PivotOrder { natural, least_fill };

// The plan is abandoned, incomplete, beyond `limit` multiplications.
EliminationPlan plan_elimination(Pattern pattern, PivotOrder order,
                                 long long limit = std::numeric_limits<long long>::max());

// A symmetric matrix by its entries (row >= column).
using SparseMatrix = std::map<std::pair<std::size_t, std::size_t>, Expr>;
// A vector by its entries.
using SparseVector = std::map<std::size_t, Expr>;

Expr entry(const Expressions& pool, const SparseVector& vector, std::size_t i);
Pattern pattern_of(const SparseMatrix& matrix, std::size_t size);

// The meaning of a pivot that is not positive. `positive`: the matrix is not a mass matrix, and the result
// becomes undefined. `may_vanish`: its row depends on others, and its unknown becomes 0.
enum class Pivots { positive, may_vanish };

// L D L^T as expressions.
class SymbolicFactor {
 public:
  SymbolicFactor(Expressions& pool, EliminationPlan plan, const SparseMatrix& matrix, Pivots pivots);

  const std::vector<std::size_t>& order() const { return plan_.order; }
  const std::vector<Expr>& inverse_pivots() const { return inverse_; }  // by unknown
  // The smallest ratio of a pivot to its diagonal entry, without pivots that are rounding: 1 for orthogonal rows, 0
  // where they become dependent.
  Expr smallest_pivot_share() const;

  std::vector<Expr> values() const;  // L and D^-1

  SparseVector forward(SparseVector b) const;       // L^-1 b
  SparseVector solve(const SparseVector& b) const;  // (L D L^T)^-1 b

 private:
  Expr inverse(Expr pivot, Expr diagonal, Pivots pivots);

  Expressions& pool_;
  EliminationPlan plan_;
  std::vector<Expr> inverse_;
  std::vector<std::pair<Expr, Expr>>
      reduced_;         // pivots that differ from their diagonal entry, and that entry
  SparseMatrix lower_;  // l by (later unknown, pivot)
};

// A matrix by all its entries.
using GeneralMatrix = std::map<std::pair<std::size_t, std::size_t>, Expr>;

// L U as expressions, for a matrix that is not symmetric although its pattern is. `scale` are the sizes with
// which the pivots are compared: a pivot that is rounding belongs to a row that depends on others, and its unknown
// becomes 0.
class SymbolicGeneralFactor {
 public:
  SymbolicGeneralFactor(Expressions& pool, EliminationPlan plan, const GeneralMatrix& matrix,
                        const std::vector<Expr>& scale);

  const std::vector<std::size_t>& order() const { return plan_.order; }
  std::vector<Expr> values() const;
  SparseVector solve(SparseVector b) const;  // (L U)^-1 b

 private:
  Expressions& pool_;
  EliminationPlan plan_;
  std::vector<Expr> inverse_;    // of the pivots
  GeneralMatrix lower_, upper_;  // by (later unknown, pivot) and (pivot, later unknown)
};

}  // namespace zwang
