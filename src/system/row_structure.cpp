// Rows are removed one by one: a row with a non-zero part in coordinates that no other row has is independent of the
// others, whatever those are. So are all rows of a link one end of which has no other rows: a tree of links is removed
// from its leaves.
#include "src/system/row_structure.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/system/body.h"

namespace zwang {

namespace {

using Rows = std::vector<const Constraint*>;

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

// The rows in which dependence is looked for.
Rows rows_in_question(const System& system) {
  Rows made;
  for (const Constraint& constraint : system.constraints) {
    // Contacts that rebound are closed for moments only, unless they come to rest.
    if (!constraint.equation && !system.pool->is_zero(constraint.restitution)) continue;
    // Rows of friction are chosen at events, where dependence is decided anew.
    if (constraint.slip_of) continue;
    made.push_back(&constraint);
  }
  return made;
}

// Rows left, and how many of them have an entry at each coordinate.
class RowSet {
 public:
  explicit RowSet(const System& system)
      : pool_(*system.pool), left_(rows_in_question(system)), users_(system.size(), 0) {
    for (const Constraint* row : left_)
      for (const std::size_t c : row->columns) ++users_[c];
    for (const Point& point : system.points) ends_.push_back({point.first, point.first + point.dimension});
    for (const Body& body : system.bodies) ends_.push_back({body.first, body.first + body.coordinates()});
  }

  std::size_t size() const { return left_.size(); }

  // Removes a row, or the rows of a link, that cannot depend on the others. False: there is none.
  bool remove_independent() {
    const auto single =
        std::find_if(left_.begin(), left_.end(), [&](const Constraint* row) { return has_own_part(*row); });
    if (single != left_.end()) {
      remove({*single});
      return true;
    }
    const auto leaf = std::find_if(left_.begin(), left_.end(), [&](const Constraint* row) {
      return row->link && is_leaf(rows_of_link(*row->link));
    });
    if (leaf == left_.end()) return false;
    remove(rows_of_link(*(*leaf)->link));
    return true;
  }

 private:
  // The coordinates of a point or a body.
  struct End {
    std::size_t first = 0, last = 0;  // one past the last
    bool has(std::size_t c) const { return c >= first && c < last; }
  };

  bool has_own_part(const Constraint& row) const {
    std::vector<char> own;
    for (const std::size_t c : row.columns) own.push_back(users_[c] == 1);
    return is_determined_by(pool_, row, own);
  }

  Rows rows_of_link(std::size_t link) const {
    Rows made;
    for (const Constraint* row : left_)
      if (row->link == link) made.push_back(row);
    return made;
  }

  // Whether each of these rows has entries at one end of the link, and no other row has any there.
  bool is_leaf(const Rows& rows) const {
    return std::any_of(ends_.begin(), ends_.end(), [&](const End& end) {
      std::vector<std::size_t> entries(end.last - end.first, 0);
      for (const Constraint* row : rows) {
        bool reaches = false;
        for (const std::size_t c : row->columns)
          if (end.has(c)) reaches = true, ++entries[c - end.first];
        if (!reaches) return false;
      }
      return std::equal(entries.begin(), entries.end(),
                        users_.begin() + static_cast<std::ptrdiff_t>(end.first));
    });
  }

  void remove(const Rows& rows) {
    for (const Constraint* row : rows) {
      for (const std::size_t c : row->columns) --users_[c];
      left_.erase(std::find(left_.begin(), left_.end(), row));
    }
  }

  const Expressions& pool_;
  Rows left_;
  std::vector<std::size_t> users_;
  std::vector<End> ends_;
};

}  // namespace

bool rows_may_become_dependent(const System& system) {
  RowSet rows(system);
  while (rows.size() > 1)
    if (!rows.remove_independent()) return true;
  return false;
}

}  // namespace zwang
