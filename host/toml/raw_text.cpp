// Scans raw TOML text: locations, limits on nesting, and characters that toml++ cannot handle.
#include "host/toml/raw_text.h"

#include <algorithm>
#include <cstdlib>

namespace zwang {

namespace {

// A study needs three levels of tables. toml++ builds and destroys tables recursively and limits brackets but
// not the dots of a key, so a.a.a.a... would overflow the stack.
constexpr int bracket_limit = 32;
constexpr int dot_limit = 16;

constexpr std::string_view blanks = " \t\r\n";

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

std::string character_at(const std::string& text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && continues_character(text[end])) ++end;
  if (continues_character(text[at]) || end == at + 1)  // not UTF-8
    return "byte " + std::to_string(int{static_cast<unsigned char>(text[at])});
  return text.substr(at, end - at);
}

// The number of UTF-8 bytes of a character written as \uXXXX.
std::size_t utf8_length(unsigned long code) {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

// toml++ classifies blanks by a table that does not cover many characters beyond ASCII. It uses that table
// outside of strings, after a backslash, and at the start of a folded line.
[[noreturn]] void refuse_character(const std::string& text, const std::string& file, std::size_t at,
                                   const std::string& expected) {
  throw Error({.where = location_of_byte(text, file, at),
               .message = "not valid TOML: a character that is not allowed here",
               .found = character_at(text, at),
               .expected = expected});
}

void check_escape(const std::string& text, const std::string& file, std::size_t backslash) {
  std::size_t at = backslash + 1;
  if (at < text.size() && blanks.find(text[at]) != std::string_view::npos)
    at = std::min(text.find_first_not_of(blanks, at), text.size());
  if (at < text.size() && !is_ascii(text[at]))
    refuse_character(text, file, at, "one of A to Z, a digit or a sign after a backslash or a folded line");
}

// The offset just after the string that begins at `at`, or npos if the string is not closed.
std::size_t end_of_string(const std::string& text, const std::string& file, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool triple = text.compare(at, 3, three) == 0;
  for (at += triple ? 3 : 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      check_escape(text, file, at);
      ++at;
    } else if (!triple && text[at] == '\n') {
      return std::string::npos;
    } else if (!triple && text[at] == quote) {
      return at + 1;
    } else if (triple && text.compare(at, 3, three) == 0) {
      // Up to two quotes may precede the closing three.
      for (at += 3; at < text.size() && text[at] == quote;) ++at;
      return at;
    }
  }
  return std::string::npos;
}

}  // namespace

std::size_t first_byte(const std::string& text) { return text.starts_with("\xEF\xBB\xBF") ? 3 : 0; }

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

Location location_of_byte(const std::string& text, const std::string& file, std::size_t byte) {
  Location where{file, 1, 1};
  for (std::size_t i = first_byte(text); i < byte; ++i) {
    if (text[i] == '\n') {
      ++where.line;
      where.column = 1;
    } else if (!continues_character(text[i])) {
      ++where.column;
    }
  }
  return where;
}

void reject_unsafe_text(const std::string& text, const std::string& file) {
  int brackets = 0, dots = 0;
  for (std::size_t at = first_byte(text); at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(text, file, at);
      if (end == std::string::npos) return;  // not TOML; toml++ reports it
      at = end - 1;
    } else if (c == '#') {
      while (at + 1 < text.size() && text[at + 1] != '\n') ++at;
    } else if (c == '.') {
      ++dots;
    } else if (std::string_view("[]{}=,\n").find(c) != std::string_view::npos) {
      dots = 0;
      if (c == '[' || c == '{') ++brackets;
      if ((c == ']' || c == '}') && brackets > 0) --brackets;
    } else if (!is_ascii(c)) {
      refuse_character(text, file, at, "such characters only in quotes and comments");
    }
    if (brackets > bracket_limit || dots > dot_limit)
      throw Error({.where = location_of_byte(text, file, at),
                   .message = "tables or arrays are nested too deeply",
                   .expected = "at most " + std::to_string(bracket_limit) +
                               " brackets inside one another and " + std::to_string(dot_limit) +
                               " dots in a key"});
  }
}

std::size_t written_byte(const std::string& text, std::size_t at, std::size_t offset) {
  const char quote = text[at];
  const bool basic = quote == '"';
  const bool triple = text.compare(at, 3, std::string(3, quote)) == 0;
  at += triple ? 3 : 1;
  // A line break right after the opening quotes is not part of the string.
  if (triple && text.compare(at, 2, "\r\n") == 0)
    at += 2;
  else if (triple && text[at] == '\n')
    at += 1;
  for (std::size_t decoded = 0; at < text.size();) {
    std::size_t raw = 1, made = 1;
    if (basic && text[at] == '\\' && at + 1 < text.size()) {
      const char kind = text[at + 1];
      raw = kind == 'u' ? 6 : kind == 'U' ? 10 : 2;
      if (raw > 2) made = utf8_length(std::strtoul(text.substr(at + 2, raw - 2).c_str(), nullptr, 16));
      // A backslash at the end of a line removes all white space up to the next character.
      if (blanks.find(kind) != std::string_view::npos) {
        raw = std::min(text.find_first_not_of(blanks, at + 1), text.size()) - at;
        made = 0;
      }
    } else if (text.compare(at, 2, "\r\n") == 0) {
      raw = 2;  // read as one line feed
    }
    if (decoded + made > offset) return at;  // the end of the value is located at the closing quote
    decoded += made;
    at += raw;
  }
  return at;
}

std::string printable(std::string_view text) {
  constexpr std::size_t limit = 60;
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i >= limit && !continues_character(text[i])) return made + "...";
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n')
      made += "\\n";
    else if (c < 0x20 || c == 0x7f)
      made += "\\" + std::to_string(int{c});
    else
      made += text[i];
  }
  return made;
}

}  // namespace zwang
