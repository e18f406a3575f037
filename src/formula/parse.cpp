// Entry points of the parser for expressions and conditions.
#include "src/formula/parse.h"

#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/formula/parser.h"
#include "src/formula/token.h"
#include "src/formula/vocabulary.h"

namespace zwang {

Expr parse_expression(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                      const Source& source) {
  return Parser(pool, text, scope, allowed, source).whole_expression();
}

Condition parse_condition(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                          const Source& source, bool strict_allowed) {
  return Parser(pool, text, scope, allowed, source).whole_condition(strict_allowed);
}

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool is_reserved(std::string_view name) {
  return name == "t" || name == "pi" || find_function(name) || contains(vector_functions, name) ||
         contains(state_functions, name) || contains(reserved_condition_functions, name);
}

}  // namespace zwang
