// Patterns of [measure] and [[record]] that stand for one kind of event at one condition. The reference is
// src/reference/trajectory.cpp.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"

namespace zwang {

// Whether the event is of the kind that the pattern names and lists the condition `target`. False for patterns that
// stand for several kinds, or for none.
template <class Event>
ZWANG_INLINE bool is_of_kind(const Event& event, EventPattern pattern, int target) {
  switch (pattern) {
    case EventPattern::release:
      return event.kind == EventKind::release && event.constraints.has(target);
    case EventPattern::accumulation:
      return event.kind == EventKind::accumulation && event.constraints.has(target);
    case EventPattern::watched:
      return event.kind == EventKind::event && event.watch == target;
    case EventPattern::slides:
      return event.kind == EventKind::slide && event.constraints.has(target);
    case EventPattern::sticks:
      return event.kind == EventKind::stick && event.constraints.has(target);
    case EventPattern::reverses:
      return event.kind == EventKind::reverse && event.constraints.has(target);
    case EventPattern::yields:
      return event.kind == EventKind::yield && event.constraints.has(target);
    case EventPattern::locks:
      return event.kind == EventKind::lock && event.constraints.has(target);
    case EventPattern::breaks:
      return event.kind == EventKind::breaks && event.constraints.has(target);
    default:
      return false;
  }
}

}  // namespace zwang
