// Division of a formula into tokens.
#include "src/formula/token.h"
#include "src/base/error.h"

#include <cctype>
#include <charconv>

namespace zwang {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

Token read_number(const std::string& text, std::size_t at, const Source& source) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  const auto stop = static_cast<std::size_t>(end - text.data());
  if (code != std::errc{} || (stop < text.size() && continues_name(text[stop]))) {
    std::size_t last = stop;
    while (last < text.size() && (continues_name(text[last]) || text[last] == '.')) ++last;
    throw Error({.where = source.locate(at),
                 .message = source.place + ": not a number",
                 .found = text.substr(at, last - at),
                 .expected = "a number such as 2, 0.5 or 1e-3 that fits a double",
                 .hint = "a product needs its sign: 2*x, not 2x"});
  }
  return {TokenKind::number, text.substr(at, stop - at), value, at, stop};
}

Token read_name(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && continues_name(text[end])) ++end;
  return {TokenKind::name, text.substr(at, end - at), 0, at, end};
}

Token read_symbol(const std::string& text, std::size_t at, const Source& source) {
  const std::string two = text.substr(at, 2);
  if (two == "<=" || two == ">=" || two == "==" || two == "**" || two == "!=")
    return {TokenKind::symbol, two, 0, at, at + 2};
  const char c = text[at];
  if (std::string_view("+-*/^(),.'<>=").find(c) != std::string_view::npos)
    return {TokenKind::symbol, std::string(1, c), 0, at, at + 1};
  // Show a whole UTF-8 character, not its first byte.
  std::size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  const bool printable = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  throw Error({.where = source.locate(at),
               .message = source.place + ": a character that has no meaning in a formula",
               .found = printable ? text.substr(at, end - at) : "character code " + std::to_string(int{c}),
               .expected = "numbers, names, + - * / ^ ( ) , . ' and <= >= == in conditions"});
}

}  // namespace

std::vector<Token> tokenize(const std::string& text, const Source& source) {
  if (text.size() > text_limit)
    throw Error({.where = source.locate(0),
                 .message = source.place + ": the formula is too long",
                 .found = std::to_string(text.size()) + " characters",
                 .expected = "at most " + std::to_string(text_limit) + " characters"});
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
      continue;
    }
    const bool number =
        is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]) &&
                        (tokens.empty() || tokens.back().kind != TokenKind::name || tokens.back().end != at));
    if (number)
      tokens.push_back(read_number(text, at, source));
    else if (starts_name(c))
      tokens.push_back(read_name(text, at));
    else
      tokens.push_back(read_symbol(text, at, source));
    at = tokens.back().end;
  }
  tokens.push_back({TokenKind::end, "", 0, text.size(), text.size()});
  return tokens;
}

}  // namespace zwang
