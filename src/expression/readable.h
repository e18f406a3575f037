// Expressions as a reader would write them: products collected, numbers multiplied out, like terms joined.
#pragma once

#include <string>

#include "src/expression/expression.h"
#include "src/expression/print_expression.h"

namespace zwang {

enum class Notation { plain, latex };

// For reading only: x^2/x becomes x although it has no value at 0, and numbers are rounded to 15 digits.
// Beyond `limit` characters the text is cut and ends in "...".
std::string readable_text(const Expressions& pool, Expr e, const SymbolNamer& name,
                          Notation notation = Notation::plain, std::size_t limit = 600);

// The name of a symbol in LaTeX: load.x' becomes \dot{x}_{\mathrm{load}}, phi becomes \phi.
std::string latex_name(const std::string& name);
// Text in LaTeX, with its special characters escaped.
std::string latex_text(const std::string& text);

}  // namespace zwang
