// Event lists of a backend and of the reference, grouped into instants and freed of the tails of Zeno
// accumulations so that they can be compared.
#pragma once

#include <array>
#include <map>

#include "host/check/findings.h"
#include "kernels/base/layout.h"
#include "src/base/settings.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

// A group of events so close in time that their order has no meaning: two walls reached at once may be listed
// as one contact with both, or as two contacts separated by rounding.
struct Instant {
  double first = 0, last = 0;                           // times
  std::vector<std::pair<EventKind, std::size_t>> what;  // kind and condition (or watched function), sorted
  std::vector<std::size_t> accumulated;                 // conditions of an accumulation
  std::vector<Event> events;

  std::string text(const System& system) const;  // "event contact ground, shock ground"
};

// Two accumulations are the same if they share a condition. They need not list all conditions that took part:
// this depends on which shock was detected last.
bool same(const Instant& a, const Instant& b);

class EventTolerance {
 public:
  explicit EventTolerance(const IntegratorSettings& settings);
  // Times are compared with the same tolerance as any other number; atol is read as a time.
  double unit(double t) const { return tolerance_.unit(t); }
  double one_instant(double t) const { return width_ * unit(t); }
  EventTolerance widened(double times) const {
    EventTolerance made = *this;
    made.width_ *= times;
    return made;
  }
  // Longest time before its limit at which a burst may be treated as complete. Where hops too low to be
  // followed are closed at once, their duration decides: the square root of their height.
  double longest_reach(double t) const { return longest_reach_ * t; }

 private:
  Tolerance tolerance_;
  double longest_reach_;
  double width_ = 5;  // width of an instant, in units
};

std::vector<Instant> instants(const std::vector<Event>& events, const EventTolerance& tolerance);

// Events of a condition that were left out of a comparison because they belong to the tail of a burst.
struct LeftOut {
  double count = 0;
  double impulse = 0;
  double passing = 0;  // of the count: changes of mode that end within their own instant
};

// An accumulation accounts for the shocks it stands for, and for the time until its limit. Impulses and
// integrals that belong to different shocks in two lists may therefore differ by a part only: the account is
// exact up to the change of the forces in that time.
constexpr double unaccounted = 0.1;

struct Bursts {
  // longest time from the last listed shock to the limit, over which limits are extrapolated
  double reach = 0;
  double reaches =
      0;  // sum of these times, during which a condition may be closed in one list and open in the other
  double span = 0;  // longest time span left out
  std::map<std::pair<EventKind, std::size_t>, LeftOut> left_out;

  void add(const Bursts& other);
};

// Infinitely many shocks end in one accumulation; how many of them are listed depends on thresholds and on
// when the detection of the burst began. From the time at which the first of the lists treats the burst as
// complete, its contacts, shocks and releases are removed from all lists. The accumulation itself stays. `with_modes`:
// changes of mode are removed as well, which may be those of every hop. So are those of contacts that are released in
// the same instant, and those that end within it.
Bursts drop_bursts(const std::array<std::vector<Event>*, 3>& lists, const EventTolerance& tolerance,
                   bool with_modes);

}  // namespace zwang
