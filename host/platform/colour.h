// Colour on terminals. None for files and pipes, if NO_COLOR is set (no-color.org), or if TERM is "dumb".
#pragma once

#include <cstdio>
#include <string>

namespace zwang {

bool colours_wanted(std::FILE* stream);

// The message with the word "error:" in colour.
std::string coloured_error(const std::string& text, bool colours);

}  // namespace zwang
