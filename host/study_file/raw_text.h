// The raw text of a TOML file: places in it, and what must be kept from the parser.
#pragma once

#include <string>
#include <string_view>

#include "src/base/error.h"

namespace zwang {

// Where the text begins: behind the byte order mark, if there is one.
std::size_t first_byte(const std::string& text);
// A byte that continues a UTF-8 character.
bool continues_character(char c);

// Line and column of a byte; columns count characters.
Location location_of_byte(const std::string& text, const std::string& file, std::size_t byte);

// The byte of the file behind byte `offset` of the string that is written from `at` on. The string is well formed.
std::size_t written_byte(const std::string& text, std::size_t at, std::size_t offset);

// Throws Error for texts that would crash toml++ 3.3: too many tables inside one another, and characters beyond ASCII
// outside of strings and comments. Other mistakes are left to the parser.
void reject_unsafe_text(const std::string& text, const std::string& file);

// For messages: on one line, and cut when long.
std::string printable(std::string_view text);

}  // namespace zwang
