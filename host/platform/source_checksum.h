// A checksum of the sources this program was built from: two builds of one version may compute different
// bits.
#pragma once

#include <string_view>

namespace zwang {

// Over kernels/, src/ and host/: sixteen hexadecimal digits.
std::string_view source_checksum();

}  // namespace zwang
