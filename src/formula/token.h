// Tokens of the formula language.
#pragma once

#include <string>
#include <vector>

#include "src/formula/scope.h"

namespace zwang {

enum class TokenKind { number, name, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;        // as written
  double value = 0;        // of a number
  std::size_t offset = 0;  // first character in the text
  std::size_t end = 0;     // one past the last
};

// Longer formulas are rejected before they are parsed.
constexpr std::size_t text_limit = 200'000;

// Throws Error at the first character that belongs to no token.
std::vector<Token> tokenize(const std::string& text, const Source& source);

}  // namespace zwang
