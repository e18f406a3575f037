// Formulas rearranged for speed before they are emitted: the same values up to rounding, fewer operations per
// step.
#pragma once

#include <unordered_map>
#include <vector>

#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

// True for nodes that depend on numbers and parameters alone: constant throughout one member's motion.
class ParameterOnly {
 public:
  explicit ParameterOnly(const Expressions& pool) : pool_(pool) {}
  bool operator()(Expr e);

 private:
  const Expressions& pool_;
  std::vector<char> known_;  // by node; grows with the pool
};

// True for nodes that depend on time, numbers and parameters alone.
class TimeOnly {
 public:
  explicit TimeOnly(const Expressions& pool);
  bool operator()(Expr e) const { return known_[e.id] != Kind::other; }
  // More than sums and products of the time: worth computing before the step.
  bool is_work(Expr e) const { return known_[e.id] == Kind::work; }

 private:
  enum class Kind : char { other, constant, sum, work };
  std::vector<Kind> known_;
};

// A copy with a pool of its own, in which factors of parameters are collected (so that they can be computed
// once per member), divisions by parameters or by a shared denominator are products, and half-integer powers
// are roots.
System rearranged(const System& system);

}  // namespace zwang
