// Rows are removed one by one: a row with a non-zero part in coordinates that no other row has is independent of the
// others, whatever those are.
#include "src/system/row_structure.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "src/expression/expression.h"
#include "src/expression/operation.h"

namespace zwang {

namespace {

Expr size_of(const Expressions& pool, Expr e) {
  const Node& node = pool.node(e);
  return node.op == Op::negate ? node.arguments[0] : e;
}

// Whether the entries in the row's own columns vanish only where the whole row does: one of them is a constant, or
// they include, up to signs, every entry of the row. (A rod has the same entries at both of its ends.)
bool is_determined_by(const Expressions& pool, const Constraint& row, const std::vector<char>& own) {
  for (std::size_t k = 0; k < row.row.size(); ++k)
    if (own[k] && pool.is_constant(row.row[k])) return true;
  return std::all_of(row.row.begin(), row.row.end(), [&](Expr e) {
    for (std::size_t k = 0; k < row.row.size(); ++k)
      if (own[k] && size_of(pool, row.row[k]) == size_of(pool, e)) return true;
    return false;
  });
}

}  // namespace

bool rows_may_become_dependent(const System& system) {
  std::vector<std::size_t> users(system.size(), 0);  // rows with this coordinate
  std::vector<const Constraint*> left;
  for (const Constraint& constraint : system.constraints) {
    // Contacts that rebound are closed for moments only, unless they come to rest.
    if (!constraint.equation && !system.pool->is_zero(constraint.restitution)) continue;
    if (constraint.slip_of)
      continue;  // rows of friction are chosen at events, where dependence is decided anew
    left.push_back(&constraint);
    for (const std::size_t c : constraint.columns) ++users[c];
  }
  const auto has_own_part = [&](const Constraint* row) {
    std::vector<char> own;
    for (const std::size_t c : row->columns) own.push_back(users[c] == 1);
    return is_determined_by(*system.pool, *row, own);
  };
  while (left.size() > 1) {
    const auto found = std::find_if(left.begin(), left.end(), has_own_part);
    if (found == left.end()) return true;
    for (const std::size_t c : (*found)->columns) --users[c];
    left.erase(found);
  }
  return false;
}

}  // namespace zwang
