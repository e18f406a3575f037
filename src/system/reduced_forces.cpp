#include "src/system/reduced_forces.h"

#include "src/expression/expression.h"

namespace zwang {

std::vector<std::size_t> reduced_forces(const System& system, const ReductionFormula& formula) {
  std::vector<std::size_t> made;
  for (const Symbol& symbol : system.pool->symbols({formula.value}))
    if (symbol.kind == SymbolKind::multiplier) made.push_back(symbol.index);
  return made;
}

}  // namespace zwang
