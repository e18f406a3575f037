// Event sequences told by a backend and by the reference, brought into a form in which they can be compared.
#pragma once

#include <array>
#include <map>

#include "host/check/findings.h"
#include "kernels/base/layout.h"
#include "src/base/settings.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

// Events so close together that their order means nothing: two walls reached at once may be one contact with both, or
// two contacts a rounding apart.
struct Instant {
  double first = 0, last = 0;                           // times
  std::vector<std::pair<EventKind, std::size_t>> what;  // kind and condition (or watched function), sorted
  std::vector<std::size_t> accumulated;                 // conditions of an accumulation
  std::vector<Event> events;

  std::string text(const System& system) const;  // "event contact ground, shock ground"
};

// Accumulations need not list all who took part: it depends on which shock was seen last.
bool same(const Instant& a, const Instant& b);

class EventTolerance {
 public:
  explicit EventTolerance(const IntegratorSettings& settings);
  // Times are compared like any other number; atol counts as a time.
  double unit(double t) const { return tolerance_.unit(t); }
  double one_instant(double t) const { return width_ * unit(t); }
  EventTolerance widened(double times) const {
    EventTolerance made = *this;
    made.width_ *= times;
    return made;
  }
  // No burst is taken for done earlier before its limit than this. Where hops too low to be followed are closed at once, it is
  // how long they last that counts: the root of their height.
  double longest_reach(double t) const { return longest_reach_ * t; }

 private:
  Tolerance tolerance_;
  double longest_reach_;
  double width_ = 5;  // of an instant
};

std::vector<Instant> instants(const std::vector<Event>& events, const EventTolerance& tolerance);

// Which events of a condition were left out of a comparison because they belong to the end of a burst.
struct LeftOut {
  double count = 0;
  double impulse = 0;
};

struct Bursts {
  double reach = 0;  // longest time from the last shock listed to the limit: how far limits are extrapolated
  double reaches =
      0;  // all of them together: how long conditions may be closed in one list and open in the other
  double span = 0;  // longest stretch left out
  std::map<std::pair<EventKind, std::size_t>, LeftOut> left_out;

  void add(const Bursts& other);
};

// Infinitely many shocks end in one accumulation; how many of them are listed before depends on thresholds, and on when
// the watch for them began. From the moment at which the first of the lists takes the burst for done, its contacts,
// shocks and releases are therefore taken out of all of them. The accumulation itself stays.
Bursts drop_bursts(const std::array<std::vector<Event>*, 3>& lists, const EventTolerance& tolerance);

}  // namespace zwang
