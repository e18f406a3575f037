// A document's tree as TOML, entries in their order. (toml++ would sort them, and parameters are read in the order they
// are written.)
#pragma once

#include <string>

#include "host/study_file/document.h"

namespace zwang {

// It parses as the same tree; numbers read back as the same bits.
std::string toml_text(const Value& root);

}  // namespace zwang
