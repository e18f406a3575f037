// The words of the formula language.
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

// A formula longer than this is refused before it is looked at.
constexpr std::size_t text_limit = 200'000;

// Throws Error at the first character that belongs to no word.
std::vector<Token> tokenize(const std::string& text, const Source& source);

}  // namespace zwang
