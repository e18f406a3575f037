// The divergence of the flow in (q, v, z) [voss-11]: the rate at which phase volume grows and the log-density
// along the flow falls.
#pragma once

#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/system/equations.h"

namespace zwang {

// All derivatives are made once, for one member.
class FlowDivergence {
 public:
  explicit FlowDivergence(const Equations& equations);

  // At a state with the accelerations and multipliers there; `set` are the conditions that hold as equations.
  double at(const State& state, const std::vector<std::size_t>& set, const Eigen::VectorXd& accelerations,
            const Eigen::VectorXd& multipliers) const;

 private:
  // One derivative by one of the variables v_0 .. v_n-1, z_0 .. z_nz-1.
  enum class Part { mass, applied, rest, row, rate, drag };
  struct Slope {
    Part part;
    std::size_t variable;
    // By part: entry of the mass; coordinate; condition; condition and coordinate; auxiliary; contact and slip row.
    std::size_t i = 0, j = 0;
  };
  void add(Expressions& pool, Expr e, Slope slope, std::vector<Expr>& formulas);

  const Equations& equations_;
  std::vector<Slope> slopes_;  // those that are not zero
  Program values_;             // in the same order
  mutable std::vector<double> out_;
};

}  // namespace zwang
