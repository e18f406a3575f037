// The version of every JSON text that the program prints or writes. Keys are added without changing it; it
// changes when a key is removed or changes its meaning.
#pragma once

namespace zwang {

constexpr int schema_version = 1;

}  // namespace zwang
