// Requirements on the emitted text of any study, also a hostile one, since it is passed to a compiler.
#pragma once

#include <string_view>

#include "src/emit/emit.h"
#include "tests/fuzz/promise.h"

namespace zwang::fuzz {

// Only code and comments of the emitter: no string or character literal, no directive, only ASCII, and no
// backslash, which would continue a comment on the next line.
inline void expect_plain(std::string_view text) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _+-*/<>=!&|?:;,.(){}[]";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    for (const char c : line.substr(0, line.find("//")))
      promise(allowed.find(c) != std::string_view::npos, "the emitted model has a character of another kind");
    for (const char c : line)
      promise(c >= ' ' && c <= '~' && c != '\\', "the emitted model has a comment of another kind");
  }
}

// Larger systems would only take longer.
inline void emit_if_small(const System& system) {
  if (system.size() > 12 || system.constraints.size() > 12 || system.pool->size() > 5000) return;
  expect_plain(emit_model(system).text);
}

}  // namespace zwang::fuzz
