// Reports of fuzz targets.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace zwang::fuzz {

// A failed requirement aborts the process, which the fuzzer records as a crash.
inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// Messages are printed on terminals, so they must not contain control characters.
inline void expect_clean_message(std::string_view message) {
  promise(!message.empty(), "an error without words");
  for (const char c : message)
    promise(static_cast<unsigned char>(c) >= 0x20 || c == '\n', "a control character in a message");
}

}  // namespace zwang::fuzz
