// Colour on terminals; none in files and pipes, none where NO_COLOR is set (no-color.org) or the terminal is dumb.
#pragma once

#include <cstdio>
#include <string>

namespace zwang {

bool colours_wanted(std::FILE* stream);

// The word "error:" of a message stands out.
std::string coloured_error(const std::string& text, bool colours);

}  // namespace zwang
