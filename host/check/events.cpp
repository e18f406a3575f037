// Grouping of events into instants, and removal of the tails of bursts.
#include "host/check/events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/base/settings.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Tail of a burst, where the gaps between shocks approach the width of an instant; in widths before the
// limit.
constexpr double burst_end = 100;

bool belongs_to_burst(EventKind kind) {
  return kind == EventKind::contact || kind == EventKind::shock || kind == EventKind::release ||
         kind == EventKind::press;
}

// Changes of mode with every shock of a burst: a rod beside it yields and locks again, a contact slides and sticks.
bool is_change_of_mode(EventKind kind) {
  return kind == EventKind::slide || kind == EventKind::stick || kind == EventKind::reverse ||
         kind == EventKind::yield || kind == EventKind::lock;
}

// An accumulation of a list, and the time from its last shock to the limit.
struct Limit {
  double t = 0, reach = 0;
  std::size_t list = 0;
};

// Remaining duration of a burst after the last contact with a condition, as a geometric series from its last
// three contacts: d, d r, d r^2 ... A burst is also treated as complete where its conditions are so close
// together that the next shock merges with the last one, long before the limit. A series that ends at the listed limit
// may be longer than `longest`: high restitution and a weak force make hops too low to be followed that last long.
double left_of_burst(const std::vector<double>& contacts, double limit, double longest) {
  if (contacts.size() < 3) return 0;
  const auto last = contacts.rbegin();
  const double d1 = last[0] - last[1], d2 = last[1] - last[2];
  if (!(d1 > 0 && d1 < d2)) return 0;
  const double left = d1 * d1 / (d2 - d1);
  constexpr double same_limit = 0.1;  // in shares of what is left
  return left <= longest || std::abs(last[0] + left - limit) <= same_limit * left ? left : 0;
}

std::vector<Limit> limits(const std::vector<Event>& events, std::size_t list,
                          const EventTolerance& tolerance) {
  std::vector<Limit> found;
  double last_shock = -std::numeric_limits<double>::infinity();
  std::map<std::size_t, std::vector<double>> contacts;  // by condition
  for (const Event& event : events) {
    if (event.kind == EventKind::shock || event.kind == EventKind::contact) last_shock = event.t;
    if (event.kind == EventKind::contact)
      for (const std::size_t i : event.constraints) contacts[i].push_back(event.t);
    if (event.kind != EventKind::accumulation) continue;
    const double longest = tolerance.longest_reach(event.t);
    double reach = event.t - last_shock;
    if (!(reach <= longest)) reach = 0;  // an unrelated shock
    for (const std::size_t i : event.constraints)
      reach = std::max(reach, left_of_burst(contacts[i], event.t, longest));
    found.push_back({event.t, reach, list});
  }
  return found;
}

using Tally = std::map<std::pair<EventKind, std::size_t>, LeftOut>;

// Time span in which the events of a burst may differ between the lists, the longest time over which its
// limits were extrapolated, and by how much its last accumulation differs between the lists.
struct Span {
  double first = 0, last = 0, reach = 0, shift = 0;
};

// The bursts of all lists. Accumulations closer to each other than a few times what was left of them belong
// to one burst: an edge that rocks has an accumulation of each corner in every swing, and the swings
// accumulate as well.
std::vector<Span> spans_of(const std::array<std::vector<Event>*, 3>& lists, const EventTolerance& tolerance) {
  constexpr double nested = 4;  // times what was left
  std::vector<Limit> all;
  for (std::size_t k = 0; k < lists.size(); ++k)
    for (const Limit& limit : limits(*lists[k], k, tolerance)) all.push_back(limit);
  std::sort(all.begin(), all.end(), [](const Limit& a, const Limit& b) { return a.t < b.t; });
  std::vector<Span> spans;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    Span span{all[begin].t, all[begin].t, 0, 0};
    std::array<double, 3> latest = {span.first, span.first, span.first};
    for (; end < all.size(); ++end) {
      const double reach = std::max(span.reach, all[end].reach);
      const double width = std::max(nested * reach, burst_end * tolerance.one_instant(span.last));
      if (all[end].t - span.last > width) break;
      span.last = latest[all[end].list] = all[end].t;
      span.reach = reach;
    }
    const auto [least, most] = std::minmax_element(latest.begin(), latest.end());
    span.shift = *most - *least;
    // Twice the reach: one list may stop shortly before the time shown by the other.
    span.first -= std::max(2 * span.reach, burst_end * tolerance.one_instant(span.first));
    spans.push_back(span);
  }
  return spans;
}

// Moves the beginning of a span before events that are close to it: in one list they might lie before it, in
// another behind.
void clear_beginning(const std::array<std::vector<Event>*, 3>& lists, const EventTolerance& tolerance,
                     bool with_modes, Span& span) {
  for (bool moved = true; moved;) {
    moved = false;
    const double margin = 2 * tolerance.one_instant(span.first) + std::min(span.shift, span.reach);
    for (const std::vector<Event>* list : lists)
      for (const Event& event : *list)
        if ((belongs_to_burst(event.kind) || (with_modes && is_change_of_mode(event.kind))) &&
            event.t < span.first + margin && event.t > span.first - margin) {
          span.first = event.t - 2 * margin;
          moved = true;
        }
  }
}

Tally erase_bursts(std::vector<Event>& events, const std::vector<Span>& spans,
                   const EventTolerance& tolerance, bool with_modes) {
  Tally erased;
  // The modes change until the limit; an accumulation that is completed with a shock is listed before it.
  const auto within = [&](const Event& event, const Span& span) {
    const double after = with_modes && is_change_of_mode(event.kind) ? span.reach : 0;
    return event.t >= span.first && event.t <= span.last + after + tolerance.one_instant(event.t);
  };
  const auto span_of = [&](const Event& event) {
    return std::find_if(spans.begin(), spans.end(), [&](const Span& span) { return within(event, span); });
  };
  // Of the accumulations of one burst those of its last instant stay, for all conditions that have
  // accumulated.
  std::vector<double> last(spans.size(), -std::numeric_limits<double>::infinity());
  std::vector<std::vector<std::size_t>> accumulated(spans.size());
  const auto number_of = [&](const auto& span) { return static_cast<std::size_t>(span - spans.begin()); };
  for (const Event& event : events) {
    const auto span = span_of(event);
    if (event.kind != EventKind::accumulation || span == spans.end()) continue;
    last[number_of(span)] = std::max(last[number_of(span)], event.t);
    std::vector<std::size_t>& all = accumulated[number_of(span)];
    all.insert(all.end(), event.constraints.begin(), event.constraints.end());
  }
  const auto belongs = [&](const Event& event) {
    const auto span = span_of(event);
    if (span == spans.end()) return false;
    if (with_modes && is_change_of_mode(event.kind)) return true;
    if (event.kind != EventKind::accumulation) return belongs_to_burst(event.kind);
    return last[number_of(span)] - event.t > tolerance.one_instant(event.t);
  };
  std::vector<Event> kept;
  for (const Event& event : events) {
    if (!belongs(event)) {
      kept.push_back(event);
      const auto span = span_of(event);
      if (event.kind == EventKind::accumulation && span != spans.end())
        for (const std::size_t i : accumulated[number_of(span)])
          if (std::find(event.constraints.begin(), event.constraints.end(), i) == event.constraints.end())
            kept.back().constraints.push_back(i);
      continue;
    }
    for (std::size_t i = 0; i < event.constraints.size(); ++i) {
      LeftOut& out = erased[{event.kind, event.constraints[i]}];
      out.count += 1;
      if (i < event.impulses.size()) out.impulse += std::abs(event.impulses[i]);
    }
  }
  events = std::move(kept);
  return erased;
}

// A contact that is released in the instant in which its stick or slip ends: rounding decides whether the change of
// mode is listed before.
Tally erase_modes_at_releases(std::vector<Event>& events, const EventTolerance& tolerance) {
  Tally erased;
  std::vector<Event> kept;
  for (Event event : events) {
    const auto is_released = [&](std::size_t i) {
      return std::any_of(events.begin(), events.end(), [&](const Event& other) {
        return other.kind == EventKind::release &&
               std::abs(other.t - event.t) <= tolerance.one_instant(event.t) &&
               std::find(other.constraints.begin(), other.constraints.end(), i) != other.constraints.end();
      });
    };
    const bool rubs =
        event.kind == EventKind::slide || event.kind == EventKind::stick || event.kind == EventKind::reverse;
    if (rubs) {
      for (const std::size_t i : event.constraints)
        if (is_released(i)) erased[{event.kind, i}].count += 1;
      std::erase_if(event.constraints, is_released);
    }
    if (!rubs || !event.constraints.empty()) kept.push_back(std::move(event));
  }
  events = std::move(kept);
  return erased;
}

// A contact that slides and sticks again within one instant, or a row that yields and locks again: its mode before and after
// is the same, and rounding decides whether what moves in between is resolved.
Tally erase_passing_modes(std::vector<Event>& events, const EventTolerance& tolerance) {
  constexpr std::array<std::pair<EventKind, EventKind>, 4> passing = {{{EventKind::slide, EventKind::stick},
                                                                       {EventKind::stick, EventKind::slide},
                                                                       {EventKind::yield, EventKind::lock},
                                                                       {EventKind::lock, EventKind::yield}}};
  Tally erased;
  for (auto event = events.begin(); event != events.end(); ++event) {
    const auto pair = std::find_if(passing.begin(), passing.end(),
                                   [&](const auto& kinds) { return kinds.first == event->kind; });
    if (pair == passing.end()) continue;
    const auto passes = [&](std::size_t i) {
      for (auto other = event + 1; other != events.end(); ++other) {
        if (other->t - event->t > tolerance.one_instant(event->t)) break;
        if (other->kind != pair->second || std::erase(other->constraints, i) == 0) continue;
        for (const EventKind kind : {pair->first, pair->second}) {
          LeftOut& out = erased[{kind, i}];
          out.count += 1;
          out.passing += 1;
        }
        return true;
      }
      return false;
    };
    std::erase_if(event->constraints, passes);
  }
  std::erase_if(
      events, [&](const Event& event) { return event.constraints.empty() && is_change_of_mode(event.kind); });
  return erased;
}

}  // namespace

EventTolerance::EventTolerance(const IntegratorSettings& settings) : tolerance_(settings) {
  const double floats = settings.single ? 32 * std::numeric_limits<float>::epsilon() : 0;
  longest_reach_ = std::max({1e-4, 2 * settings.within_precision().accumulation_gap,
                             std::sqrt(std::max(settings.contact_tolerance, floats))});
}

std::string Instant::text(const System& system) const {
  std::vector<std::string> words;
  for (const Event& event : events) {
    std::vector<std::string> names;
    for (const std::size_t i : event.constraints) names.push_back(system.conditions[i].name);
    if (event.kind == EventKind::event) names = {system.watches[event.watch].name};
    std::string word = event_kind_name(event.kind);
    for (const std::string& name : names) word += " " + name;
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return "event " + joined(words);
}

bool same(const Instant& a, const Instant& b) {
  if (a.what != b.what || a.accumulated.empty() != b.accumulated.empty()) return false;
  return a.accumulated.empty() || std::any_of(a.accumulated.begin(), a.accumulated.end(), [&](std::size_t i) {
           return std::find(b.accumulated.begin(), b.accumulated.end(), i) != b.accumulated.end();
         });
}

std::vector<Instant> instants(const std::vector<Event>& events, const EventTolerance& tolerance) {
  std::vector<Instant> made;
  for (const Event& event : events) {
    if (made.empty() || event.t - made.back().last > tolerance.one_instant(event.t))
      made.push_back({event.t, event.t, {}, {}, {}});
    Instant& now = made.back();
    now.last = std::max(now.last, event.t);
    now.events.push_back(event);
    if (event.kind == EventKind::accumulation) {
      now.accumulated.insert(now.accumulated.end(), event.constraints.begin(), event.constraints.end());
    } else if (event.kind == EventKind::event) {
      now.what.emplace_back(event.kind, event.watch);
    } else {
      for (const std::size_t i : event.constraints) now.what.emplace_back(event.kind, i);
      // Prescribed impulses without contacts and stops have no conditions.
      if (event.constraints.empty()) now.what.emplace_back(event.kind, 0);
    }
  }
  for (Instant& instant : made) {
    std::sort(instant.what.begin(), instant.what.end());
    instant.what.erase(std::unique(instant.what.begin(), instant.what.end()), instant.what.end());
  }
  return made;
}

void Bursts::add(const Bursts& other) {
  reach = std::max(reach, other.reach);
  reaches += other.reaches;
  span = std::max(span, other.span);
  for (const auto& [key, out] : other.left_out) {
    left_out[key].count += out.count;
    left_out[key].impulse += out.impulse;
    left_out[key].passing += out.passing;
  }
}

Bursts drop_bursts(const std::array<std::vector<Event>*, 3>& lists, const EventTolerance& tolerance,
                   bool with_modes) {
  std::vector<Span> spans = spans_of(lists, tolerance);
  Bursts bursts;
  for (Span& span : spans) {
    const double limit = span.last;
    clear_beginning(lists, tolerance, with_modes, span);
    bursts.reach = std::max(bursts.reach, 2 * span.reach);
    bursts.reaches += 2 * span.reach;
    bursts.span = std::max(bursts.span, limit - span.first);
  }
  const auto leave_out = [&](const Tally& erased) {
    for (const auto& [key, out] : erased) {
      LeftOut& most = bursts.left_out[key];
      most.count = std::max(most.count, out.count);
      most.impulse = std::max(most.impulse, out.impulse);
      most.passing = std::max(most.passing, out.passing);
    }
  };
  for (std::vector<Event>* list : lists) {
    leave_out(erase_bursts(*list, spans, tolerance, with_modes));
    leave_out(erase_modes_at_releases(*list, tolerance));
    leave_out(erase_passing_modes(*list, tolerance));
  }
  return bursts;
}

}  // namespace zwang
