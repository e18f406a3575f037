// A share of a whole, as a fraction or in per cent.
#pragma once

#include <string>

namespace zwang {

// "0.05" or "5%" to 0.05. Throws Error, naming `option`, where it is neither or not from 0 to 1.
double read_share(const std::string& text, const std::string& option);

}  // namespace zwang
