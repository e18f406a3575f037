// Scheduled events: conditions imposed and lifted, and impulses, at times that the study gives.
#pragma once

#include <cstddef>
#include <vector>

#include "src/system/equations.h"

namespace zwang {

struct ScheduledEvent {
  enum class Kind { impulse, imposed, lifted } kind;
  double t = 0;
  std::size_t index = 0;  // of the impulse, or of the condition
};

// A condition is imposed at `from` and lifted at `until`; -infinity and infinity where the study gives no
// time.
struct TimeInForce {
  double from, until;
};
TimeInForce time_in_force(const Equations& equations, std::size_t condition);

// In order of time; events at the same time in the order of the study.
class Schedule {
 public:
  explicit Schedule(const Equations& equations);

  bool at_beginning() const { return next_ == 0; }
  // Infinity when nothing is left.
  double next_time() const;
  // Removes the next event if it is due up to time t; nullptr if none is.
  const ScheduledEvent* take_due(double t);

 private:
  std::vector<ScheduledEvent> events_;
  std::size_t next_ = 0;
};

}  // namespace zwang
