// Parses a fraction written as a number or as a percentage.
#pragma once

#include <string>

namespace zwang {

// "0.05" or "5%" gives 0.05. Throws Error that names `option` if the text is neither, or not from 0 to 1.
double parse_fraction(const std::string& text, const std::string& option);

}  // namespace zwang
