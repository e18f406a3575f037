// Expressions as readable text, in the notation of the study.
#pragma once

#include <functional>
#include <string>

#include "src/expression/expression.h"

namespace zwang {

using SymbolNamer = std::function<std::string(const Symbol&)>;

// Shared subexpressions are written out wherever they are used, so the text can be far longer than the
// expression; beyond `limit` characters it is cut and ends in "...".
std::string expression_text(const Expressions& pool, Expr e, const SymbolNamer& name,
                            std::size_t limit = 600);

}  // namespace zwang
