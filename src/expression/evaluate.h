// Numeric evaluation of expressions over any number type: double, Scaled (value with rounding scale),
// Interval.
#pragma once

#include <span>
#include <vector>

#include "src/expression/expression.h"
#include "src/expression/operation.h"

namespace zwang {

template <class Number>
struct Inputs {
  Number time{};
  std::span<const Number> parameters{};
  std::span<const Number> coordinates{};
  std::span<const Number> velocities{};
  std::span<const Number> auxiliaries{};
  std::span<const Number> multipliers{};
  std::span<const Number> closed{};
  std::span<const Number> branches{};
  std::span<const Number> modes{};
  std::span<const Number> reductions{};

  const Number& operator[](const Symbol& symbol) const {
    switch (symbol.kind) {
      case SymbolKind::parameter:
        return parameters[symbol.index];
      case SymbolKind::coordinate:
        return coordinates[symbol.index];
      case SymbolKind::velocity:
        return velocities[symbol.index];
      case SymbolKind::auxiliary:
        return auxiliaries[symbol.index];
      case SymbolKind::multiplier:
        return multipliers[symbol.index];
      case SymbolKind::closed:
        return closed[symbol.index];
      case SymbolKind::branch:
        return branches[symbol.index];
      case SymbolKind::mode:
        return modes[symbol.index];
      case SymbolKind::reduction:
        return reductions[symbol.index];
      default:
        return time;
    }
  }
};

// A list of expressions as straight-line instructions; a shared subexpression is evaluated once.
class Program {
 public:
  Program() = default;
  Program(const Expressions& pool, const std::vector<Expr>& roots);

  std::size_t outputs() const { return roots_.size(); }

  template <class Number>
  void run(const Inputs<Number>& inputs, std::vector<Number>& scratch, std::span<Number> out) const {
    scratch.resize(instructions_.size());
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const Instruction& step = instructions_[i];
      if (step.op == Op::constant)
        scratch[i] = Number(step.value);
      else if (step.op == Op::symbol)
        scratch[i] = inputs[step.symbol];
      else
        scratch[i] = apply_operation<Number>(step.op, scratch[step.slots[0]], scratch[step.slots[1]],
                                             scratch[step.slots[2]], scratch[step.slots[3]]);
    }
    for (std::size_t i = 0; i < roots_.size(); ++i) out[i] = scratch[roots_[i]];
  }

  template <class Number>
  std::vector<Number> run(const Inputs<Number>& inputs) const {
    std::vector<Number> scratch;
    std::vector<Number> out(roots_.size());
    run<Number>(inputs, scratch, out);
    return out;
  }

 private:
  struct Instruction {
    Op op;
    std::array<std::uint32_t, 4> slots;  // instruction numbers of the arguments
    double value;
    Symbol symbol;
  };

  std::vector<Instruction> instructions_;
  std::vector<std::uint32_t> roots_;  // instruction number of each output
};

}  // namespace zwang
