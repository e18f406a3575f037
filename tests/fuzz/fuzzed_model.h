// What must hold of the text that is emitted for any study, however hostile: it goes to a compiler.
#pragma once

#include <string_view>

#include "src/emit/emit.h"
#include "tests/fuzz/promise.h"

namespace zwang::fuzz {

// Straight-line C++ and comments of our own: no string, no character, no directive, nothing beyond ASCII. A
// backslash would carry a comment over the end of its line.
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

// Larger systems only take longer.
inline void emit_if_small(const System& system) {
  if (system.size() > 12 || system.constraints.size() > 12 || system.pool->size() > 5000) return;
  expect_plain(emit_model(system).text);
}

}  // namespace zwang::fuzz
