// Parsing of the study's formula language to expressions; errors give the position of the character.
#pragma once

#include <string>
#include <string_view>

#include "src/expression/expression.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/scope.h"

namespace zwang {

Expr parse_expression(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                      const Source& source);
// Strict comparisons are allowed in `stop` only.
Condition parse_condition(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                          const Source& source, bool strict_allowed);
// A formula of [measure].
MeasureFormula parse_measure(Expressions& pool, const std::string& text, const Scope& scope,
                             const MeasureScope& measures, const Source& source);
// An event as in count(..): shock(c), release(c), contact(c), accumulation(c) or event(name).
ReducedFormula parse_event_pattern(Expressions& pool, const std::string& text, const Scope& scope,
                                   const Source& source);
// A condition on measures, as inside probability(..).
MeasureFormula parse_measure_condition(Expressions& pool, const std::string& text, const Scope& scope,
                                       const MeasureScope& measures, const Source& source);

bool is_reserved(std::string_view name);  // function names, t, pi
bool is_name(std::string_view text);      // [A-Za-z_][A-Za-z0-9_]*

}  // namespace zwang
