// Immutable, hash-consed expressions: equal subexpressions are one node by construction.
//
// An Expr is an index into an Expressions pool. The arguments of a node are created before the node, so
// ascending indices are a topological order: differentiation, evaluation and printing visit nodes in a loop
// and never recurse, at any depth of the user's formula.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "src/expression/operation.h"

namespace zwang {

enum class SymbolKind : std::uint8_t {
  time,
  parameter,
  coordinate,
  velocity,
  auxiliary,
  multiplier,  // lambda of a condition; only in observables and measures
  closed,      // 1 when the condition is closed or an equation in force, else 0; likewise
  branch,      // constant between jumps and kinks (System::branches); only in integrands
  mode,        // set at events: which way a contact slips or a bounded constraint yields (System::modes)
  reduction,   // a reduction over the whole motion (System::reductions); only in the values of measures
};

struct Symbol {
  SymbolKind kind = SymbolKind::time;
  std::uint32_t index = 0;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

struct Expr {
  std::uint32_t id = 0;
  friend bool operator==(const Expr&, const Expr&) = default;
};

struct Node {
  Op op = Op::constant;
  // Defined for every finite value of its symbols, or wherever it occurs (declare_total). Only total operands may
  // vanish in a simplification (0*x -> 0), so that simplification never gives a value to an undefined expression.
  bool total = true;
  std::array<Expr, 4> arguments{};
  double value = 0;  // of a constant
  Symbol symbol{};   // of a symbol
};

class Expressions {
 public:
  // Larger studies are rejected; their derivatives would not fit into a kernel.
  static constexpr std::size_t node_limit = 4'000'000;

  Expressions();

  Expr constant(double value);
  Expr symbol(Symbol symbol);
  Expr symbol(SymbolKind kind, std::size_t index) {
    return symbol({kind, static_cast<std::uint32_t>(index)});
  }
  Expr time() { return symbol({SymbolKind::time, 0}); }
  Expr zero() const { return {0}; }
  Expr one() const { return {1}; }

  // Builds the node, simplified where that is safe.
  Expr apply(Op op, Expr a) { return apply(op, {a, {}, {}, {}}); }
  Expr apply(Op op, Expr a, Expr b) { return apply(op, {a, b, {}, {}}); }
  Expr apply(Op op, std::array<Expr, 4> arguments);

  Expr add(Expr a, Expr b) { return apply(Op::add, a, b); }
  Expr subtract(Expr a, Expr b) { return apply(Op::subtract, a, b); }
  Expr multiply(Expr a, Expr b) { return apply(Op::multiply, a, b); }
  Expr divide(Expr a, Expr b) { return apply(Op::divide, a, b); }
  Expr negate(Expr a) { return apply(Op::negate, a); }
  Expr square(Expr a) { return apply(Op::power, a, constant(2)); }
  Expr if_less(Expr a, Expr b, Expr x, Expr y) { return apply(Op::if_less, {a, b, x, y}); }

  // For a quotient whose denominator does not vanish wherever it occurs, such as one by the square of an orientation.
  // Expressions built of it afterwards are simplified accordingly.
  void declare_total(Expr e) { nodes_[e.id].total = true; }

  const Node& node(Expr e) const { return nodes_[e.id]; }
  std::size_t size() const { return nodes_.size(); }
  bool is_constant(Expr e) const { return node(e).op == Op::constant; }
  bool is_zero(Expr e) const { return is_constant(e) && node(e).value == 0; }
  bool is_constant(Expr e, double value) const { return is_constant(e) && node(e).value == value; }

  // Orientations of bodies are states that move with coordinates although they are no functions of them: the angle
  // of an infinitesimal turn about an axis of the body is a coordinate, and q0 .. q3 change with it at a known slope.
  // The slope of an expression by a coordinate, given instead of derived: of the states themselves, and of
  // expressions of them whose slopes are short, such as the entries of a rotation matrix.
  void define_slope(Expr e, std::size_t coordinate, Expr slope);
  // Absent: derivatives are taken by the rules.
  const Expr* defined_slope(Expr e, std::size_t coordinate) const;
  // The coordinates by which states in the formulas turn, ascending.
  std::vector<std::uint32_t> turning(const std::vector<Expr>& roots) const;
  // Whether a formula depends on positions: coordinates or orientations.
  bool mentions_positions(Expr e) const;

  // The nodes the roots depend on, themselves included, ascending (arguments before users).
  std::vector<Expr> reachable(const std::vector<Expr>& roots) const;
  // The symbols in the formulas, in order of their creation.
  std::vector<Symbol> symbols(const std::vector<Expr>& roots) const;
  bool mentions(Expr e, SymbolKind kind) const;

 private:
  Expr intern(const Node& node);
  bool simplify(Op op, const std::array<Expr, 4>& a, Expr& result);
  bool simplify_sum(Op op, Expr a, Expr b, Expr& result);
  bool simplify_product(Op op, Expr a, Expr b, Expr& result);
  bool is_sum_of_squares(Expr e) const;
  bool exact_factor(Op op, double x, double y, double& factor) const;

  std::vector<Node> nodes_;
  std::unordered_multimap<std::size_t, std::uint32_t> index_;                // hash -> node
  std::unordered_map<std::uint32_t, std::map<std::uint32_t, Expr>> slopes_;  // node -> coordinate -> slope
};

// `e` with some of its nodes replaced.
using Replacements = std::unordered_map<std::uint32_t, Expr>;  // node -> replacement
Expr replaced(Expressions& pool, Expr e, const Replacements& replacements);

}  // namespace zwang
