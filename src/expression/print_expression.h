// Expressions as text a person reads: the study's own notation.
#pragma once

#include <functional>
#include <string>

#include "src/expression/expression.h"

namespace zwang {

using SymbolNamer = std::function<std::string(const Symbol&)>;

// Shared subexpressions are written out wherever they are used, so the text can be far longer than the expression:
// beyond `limit` characters it is cut and says so.
std::string expression_text(const Expressions& pool, Expr e, const SymbolNamer& name,
                            std::size_t limit = 600);

}  // namespace zwang
