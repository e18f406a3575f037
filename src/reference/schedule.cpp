// The list of scheduled events.
#include "src/reference/schedule.h"

#include <algorithm>
#include <limits>

#include "src/reference/motion_formulas.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

TimeInForce time_in_force(const Equations& equations, std::size_t condition) {
  const Constraint& constraint = equations.system().constraints[condition];
  return {constraint.from ? parameter_value(equations, *constraint.from) : -never,
          constraint.until ? parameter_value(equations, *constraint.until) : never};
}

Schedule::Schedule(const Equations& equations) {
  for (std::size_t i = 0; i < equations.count(); ++i) {
    const auto [from, until] = time_in_force(equations, i);
    if (from >= 0 && from < until) events_.push_back({ScheduledEvent::Kind::imposed, from, i});
    if (until > 0 && until < never && from < until)
      events_.push_back({ScheduledEvent::Kind::lifted, until, i});
  }
  const auto& impulses = equations.system().impulses;
  for (std::size_t k = 0; k < impulses.size(); ++k)
    events_.push_back({ScheduledEvent::Kind::impulse, parameter_value(equations, impulses[k].at), k});
  std::stable_sort(events_.begin(), events_.end(),
                   [](const ScheduledEvent& a, const ScheduledEvent& b) { return a.t < b.t; });
}

double Schedule::next_time() const { return next_ < events_.size() ? events_[next_].t : never; }

const ScheduledEvent* Schedule::take_due(double t) {
  return next_ < events_.size() && events_[next_].t <= t ? &events_[next_++] : nullptr;
}

}  // namespace zwang
