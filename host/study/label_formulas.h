// Formulas that use label(record, tolerance), whose value is known once all members have ended.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/base/layout.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

inline bool is_label(const std::vector<ReductionFormula>& reductions, const Symbol& symbol) {
  return symbol.kind == SymbolKind::reduction &&
         reductions[symbol.index].reduction == Reduction::record_label;
}

inline bool uses_label(const Expressions& pool, const std::vector<ReductionFormula>& reductions, Expr e) {
  const std::vector<Symbol> symbols = pool.symbols({e});
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](const Symbol& symbol) { return is_label(reductions, symbol); });
}

}  // namespace zwang
