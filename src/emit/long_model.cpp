// Functions of the motion of long systems, and the tables of their eliminations.
#include "src/emit/long_model.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "src/emit/elimination.h"
#include "src/emit/solve.h"
#include "src/expression/expression.h"
#include "src/system/body.h"
#include "src/system/row_structure.h"

namespace zwang {

namespace {

// Multiplications per coordinate and condition. A chain of points in a plane needs 5, in space 6; where every
// condition meets every other one there are as many as conditions.
constexpr long long sparse_multiplications = 24;

using Formulas = std::vector<Expr>;

// Where the entries of Phi are stored: the diagonal by condition, then the entries below it, in the order of
// rows. Fill-in is at the end.
class Storage {
 public:
  Storage(const HeldEquations& equations) : size_(equations.right.size()) {
    for (const auto& [where, e] : equations.phi)
      if (where.first != where.second) add(where.first, where.second);
    for (const std::size_t p : equations.plan.order) {
      const auto& reached = equations.plan.reached[p];
      for (const std::size_t i : reached) {
        add(i, p);
        for (const std::size_t j : reached)
          if (j < i) add(i, j);
      }
    }
  }
  std::size_t entries() const { return size_ + places_.size(); }
  std::size_t at(std::size_t i, std::size_t j) const {
    return i == j ? i : places_.at({std::max(i, j), std::min(i, j)});
  }
  // Phi as a list of entries; zero where elimination will fill in.
  Formulas list(const Expressions& pool, const SparseMatrix& phi) const {
    Formulas made(entries(), pool.zero());
    for (const auto& [where, e] : phi) made[at(where.first, where.second)] = e;
    return made;
  }

 private:
  void add(std::size_t i, std::size_t j) { places_.try_emplace({std::max(i, j), std::min(i, j)}, entries()); }
  std::size_t size_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> places_;
};

std::string index_function(const std::string& name, const std::string& argument,
                           const std::vector<long>& values, Tables& tables,
                           const std::string& margin = "    ") {
  const std::string head = margin + "ZWANG_INLINE static int " + name + "(int";
  if (values.empty()) return head + ") { return 0; }\n";
  return head + " " + argument + ") { return " + tables.add(values) + "[" + argument + "]; }\n";
}

// The order of an elimination and the places it works on (kernels/dynamics/sparse_elimination.h).
std::string elimination_text(const std::string& name, const EliminationPlan& plan, const Storage& storage,
                             Tables& tables) {
  std::vector<long> order, first = {0}, row, place, target;
  for (const std::size_t p : plan.order) {
    order.push_back(static_cast<long>(p));
    const auto& reached = plan.reached[p];
    for (std::size_t s = 0; s < reached.size(); ++s) {
      row.push_back(static_cast<long>(reached[s]));
      place.push_back(static_cast<long>(storage.at(reached[s], p)));
      for (std::size_t u = 0; u < s; ++u)
        target.push_back(static_cast<long>(storage.at(reached[s], reached[u])));
    }
    first.push_back(static_cast<long>(row.size()));
  }
  return "  struct " + name + " {\n    static constexpr int size = " + std::to_string(order.size()) +
         ", entries = " + std::to_string(storage.entries()) + ";\n" +
         index_function("order", "p", order, tables) + index_function("first", "p", first, tables) +
         index_function("row", "e", row, tables) + index_function("place", "e", place, tables) +
         index_function("target", "pair", target, tables) + "  };\n";
}

// Lists of different lengths, one after the other, and where each begins.
struct ListOfLists {
  std::vector<long> first = {0}, entries;
  void add(const std::set<std::size_t>& list) {
    for (const std::size_t k : list) entries.push_back(static_cast<long>(k));
    first.push_back(static_cast<long>(entries.size()));
  }
};

// By condition: the columns of its row, and the coordinates that enter its formulas, by themselves or by
// their rates.
std::string coordinates_text(const System& system, Tables& tables) {
  ListOfLists columns, reads;
  for (const Constraint& constraint : system.constraints) {
    std::set<std::size_t> row(constraint.columns.begin(), constraint.columns.end());
    columns.add(row);
    Formulas formulas = constraint.row;
    formulas.insert(formulas.end(), {constraint.value, constraint.rate, constraint.rest});
    for (const Symbol& symbol : system.pool->symbols(formulas))
      if (symbol.kind == SymbolKind::coordinate || symbol.kind == SymbolKind::velocity)
        row.insert(symbol.index);
    reads.add(row);
  }
  const auto table = [&](const char* name, const char* argument, const std::vector<long>& values) {
    return index_function(name, argument, values, tables, "  ");
  };
  return "  // of condition i: columns first_column(i) to first_column(i + 1) - 1 of its row, and in the "
         "same way the\n"
         "  // coordinates that enter it\n  static constexpr bool is_long = true;\n  static constexpr int "
         "row_entries = " +
         std::to_string(columns.entries.size()) + ";\n" + table("first_column", "i", columns.first) +
         table("column", "e", columns.entries) + table("first_read", "i", reads.first) +
         table("read", "e", reads.entries);
}

class LongMotionWriter {
 public:
  LongMotionWriter(const System& system, Tables& tables)
      : system_(system), pool_(*system.pool), tables_(tables), r_(system.constraints.size()) {}

  LongMotion write() {
    made_.eliminations =
        coordinates_text(system_, tables_) + "  // order and fill of the elimination of the conditions\n";
    add_motion();
    add_free_motion();
    add_step(true, "f of the position conditions held, and the smallest step onto them", "position_step", "f",
             "dq");
    add_step(false, "f' or g of the conditions held, and the smallest step onto them", "velocity_step",
             "f_rate", "dv");
    return std::move(made_);
  }

 private:
  Function& add(const std::string& comment, const std::string& result, const std::string& name,
                const std::vector<Argument>& more, std::vector<FunctionCase> cases, FunctionRole role) {
    std::vector<Argument> arguments = state_arguments;
    arguments.insert(arguments.end(), more.begin(), more.end());
    Function function{comment, result, name, std::move(arguments), std::move(cases)};
    function.role = role;
    made_.functions.push_back(std::move(function));
    return made_.functions.back();
  }

  // Fills the array phi.
  FunctionCase phi_case(const HeldEquations& equations, const Storage& storage) const {
    FunctionCase made = {};
    append_array(made, "phi", storage.list(pool_, equations.phi));
    made.before = "    R phi[" + std::to_string(storage.entries()) + "];\n";
    return made;
  }

  void add_motion() {
    const HeldEquations equations = motion_equations(system_);
    const Storage storage(equations);
    made_.eliminations += elimination_text("Elimination", equations.plan, storage, tables_);
    made_.multiplications = equations.plan.multiplications;
    FunctionCase phi = phi_case(equations, storage), right, rates;
    append_array(right, "lambda", equations.right);
    rates.before = "    solve_held<Elimination>(dependent<R>(), phi, lambda);\n";
    append_array(rates, "rate",
                 motion_rates(system_, equations.result, system_.rates, system_.integrands, equations.work));
    add("rates of q, v, z, integrals and work with the conditions held that `held` names, and their "
        "multipliers",
        "void", "motion", {{"const R*", "w"}, {"const R*", "held"}, {"R*", "rate"}, {"R*", "lambda"}},
        {phi, right, rates}, FunctionRole::motion);
    if (!rows_may_become_dependent(system_)) return;
    FunctionCase share;
    share.before = "    return smallest_pivot_share<Elimination>(dependent<R>(), phi);\n";
    add("smallest pivot of Phi over its diagonal entry", "R", "pivot_share", {{"const R*", "held"}},
        {phi, share}, FunctionRole::in_steps);
  }

  void add_free_motion() {
    if (std::any_of(system_.constraints.begin(), system_.constraints.end(), is_always_held)) return;
    Replacements nothing_held;
    for (std::size_t i = 0; i < r_; ++i)
      for (const SymbolKind kind : {SymbolKind::multiplier, SymbolKind::closed})
        nothing_held[pool_.symbol(kind, i).id] = pool_.zero();
    const auto free = [&](const Formulas& formulas) {
      Formulas list;
      for (const Expr e : formulas) list.push_back(replaced(pool_, e, nothing_held));
      return list;
    };
    FunctionCase made;
    append_array(made, "rate",
                 motion_rates(system_, solve_free_motion(system_), free(system_.rates),
                              free(system_.integrands), system_.power));
    add("the same with no condition held", "void", "free_motion", {{"const R*", "w"}, {"R*", "rate"}}, {made},
        FunctionRole::free_motion);
  }

  void add_step(bool positions, const std::string& comment, const std::string& name,
                const std::string& residual, const std::string& change) {
    const HeldEquations equations = step_equations(system_, positions);
    const Storage storage(equations);
    const std::string elimination = positions ? "PositionElimination" : "VelocityElimination";
    made_.eliminations += elimination_text(elimination, equations.plan, storage, tables_);
    FunctionCase phi = phi_case(equations, storage), right, step;
    append_array(right, residual, equations.right);
    const std::string count = std::to_string(r_);
    step.before = "    R lambda[" + count + "];\n    for (int n = 0; n < " + count +
                  "; ++n) lambda[n] = " + residual + "[n];\n    solve_held<" + elimination +
                  ">(dependent<R>(), phi, lambda);\n";
    append_array(step, change, equations.result);
    add(comment, "void", name, {{"const R*", "held"}, {"R*", residual}, {"R*", change}}, {phi, right, step},
        FunctionRole::in_steps);
  }

  const System& system_;
  Expressions& pool_;
  Tables& tables_;
  std::size_t r_;
  LongMotion made_;
};

}  // namespace

bool is_long(const System& system, std::size_t from) {
  const std::size_t r = system.constraints.size();
  if (r < from || system.density || system.any_general() || !system.transitions.empty()) return false;
  if (std::any_of(system.bodies.begin(), system.bodies.end(),
                  [](const Body& body) { return body.spatial(); }))
    return false;
  if (!std::all_of(system.mass.begin(), system.mass.end(),
                   [](const MassEntry& e) { return e.row == e.column; }))
    return false;
  const long long most = sparse_multiplications * static_cast<long long>(system.size() + r);
  return estimated_multiplications(system, most) <= most;
}

LongMotion write_long_motion(const System& system, Tables& tables) {
  return LongMotionWriter(system, tables).write();
}

}  // namespace zwang
