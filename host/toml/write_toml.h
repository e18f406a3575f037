// Writes a document's tree as TOML in its own order. (toml++ would sort the entries, but parameters are read
// in the order of the file.)
#pragma once

#include <string>

#include "host/toml/document.h"

namespace zwang {

// The text parses to the same tree, and numbers read back as the same bits.
std::string toml_text(const Value& root);
// A single value, on one line.
std::string toml_value_text(const Value& value);

}  // namespace zwang
