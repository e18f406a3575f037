// Names of event kinds.
#include "src/reference/trajectory.h"

namespace zwang {

std::optional<EventKind> mode_event(EventPattern pattern) {
  switch (pattern) {
    case EventPattern::slides:
      return EventKind::slide;
    case EventPattern::sticks:
      return EventKind::stick;
    case EventPattern::reverses:
      return EventKind::reverse;
    case EventPattern::yields:
      return EventKind::yield;
    case EventPattern::locks:
      return EventKind::lock;
    case EventPattern::breaks:
      return EventKind::breaks;
    default:
      return {};
  }
}

std::string event_kind_name(EventKind kind) {
  constexpr const char* names[] = {"contact", "touch",   "press",        "release", "shock", "impulse",
                                   "imposed", "lifted",  "accumulation", "event",   "stop",  "slide",
                                   "stick",   "reverse", "yield",        "lock",    "break"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace zwang
