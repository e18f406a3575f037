// The raw text of a TOML file: locations in it, and a scan for text that would crash the parser.
#pragma once

#include <string>
#include <string_view>

#include "src/base/error.h"

namespace zwang {

// The offset of the text after a byte order mark, if there is one.
std::size_t first_byte(const std::string& text);
// Whether a byte continues a UTF-8 character.
bool continues_character(char c);

// Line and column of a byte; columns count characters.
Location location_of_byte(const std::string& text, const std::string& file, std::size_t byte);

// The offset in the file of byte `offset` of the value of the string that begins at `at`. The string is well
// formed.
std::size_t written_byte(const std::string& text, std::size_t at, std::size_t offset);

// Throws Error for text that would crash toml++ 3.3: too deeply nested tables, and characters beyond ASCII
// outside of strings and comments. All other mistakes are left to the parser.
void reject_unsafe_text(const std::string& text, const std::string& file);

// Text for messages: control characters are escaped, and long text is cut.
std::string printable(std::string_view text);

}  // namespace zwang
