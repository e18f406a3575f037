// Names of event kinds.
#include "src/reference/trajectory.h"

namespace zwang {

std::string event_kind_name(EventKind kind) {
  constexpr const char* names[] = {"contact", "touch",  "press",        "release", "shock", "impulse",
                                   "imposed", "lifted", "accumulation", "event",   "stop",  "slide",
                                   "stick",   "reverse", "yield",       "lock",    "break"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace zwang
