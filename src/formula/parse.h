// The study's formula language: text to expressions, with errors that point at the character.
#pragma once

#include <string>
#include <string_view>

#include "src/expression/expression.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/scope.h"

namespace zwang {

Expr parse_expression(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                      const Source& source);
// `stop` also takes the strict comparisons.
Condition parse_condition(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                          const Source& source, bool strict_allowed);
MeasureFormula parse_measure(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                             const Source& source);

bool is_reserved(std::string_view name);  // function names, t, pi
bool is_name(std::string_view text);      // [A-Za-z_][A-Za-z0-9_]*

}  // namespace zwang
