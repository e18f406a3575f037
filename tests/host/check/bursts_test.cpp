// Event lists of bursts: which events two lists need not have in common.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "host/check/events.h"
#include "kernels/base/layout.h"
#include "src/base/settings.h"
#include "src/reference/trajectory.h"

namespace zwang::bursts_test {
namespace {

Event event_of(EventKind kind, double t, std::size_t condition) {
  Event made;
  made.kind = kind;
  made.t = t;
  made.constraints = {condition};
  return made;
}

void strike(std::vector<Event>& list, double t, std::size_t condition) {
  list.push_back(event_of(EventKind::contact, t, condition));
  list.push_back(event_of(EventKind::shock, t, condition));
}

// An edge that rocks: in each swing corner 0 strikes once and corner 1 in a geometric sequence, and the
// swings become shorter by half. Hops shorter than `shortest` are completed; all times are later by `shift`.
std::vector<Event> rocking_edge(double shortest, double shift) {
  std::vector<Event> list;
  double t = 0.2 + shift, swing = 1e-3;
  for (; swing > 4 * shortest; swing /= 2) {
    strike(list, t, 0);
    double hop = swing / 4, at = t + swing / 4;
    for (; hop > shortest; hop *= 0.4) strike(list, at += hop, 1);
    list.push_back(event_of(EventKind::accumulation, at + hop / 0.6, 1));
    t += swing;
  }
  list.push_back(event_of(EventKind::accumulation, t + swing, 0));
  return list;
}

TEST(Bursts, OfBurstsDifferInTheirTailsOnly) {
  const EventTolerance tolerance{IntegratorSettings{}};
  for (const double shift : {0.0, 1e-10, -1e-10, 3e-10})
    for (const double shortest : {1e-6, 7e-7, 5e-7, 3e-7}) {
      std::vector<Event> a = rocking_edge(1e-6, 0), b = rocking_edge(shortest, shift), c = a;
      const std::size_t before = a.size();
      drop_bursts({&a, &b, &c}, tolerance, false);
      const std::vector<Instant> first = instants(a, tolerance), second = instants(b, tolerance);
      ASSERT_EQ(first.size(), second.size()) << shift << " " << shortest;
      for (std::size_t i = 0; i < first.size(); ++i)
        EXPECT_TRUE(same(first[i], second[i])) << shift << " " << shortest << " " << first[i].first;
      // Most of the events are still compared.
      EXPECT_GT(a.size(), before / 4);
    }
}

// Hops of a contact with restitution 0.8 that are too low to be followed while they still take 3e-4 of the time so far:
// one list completes them a hop before the other (soak with friction, seed 6006).
TEST(Bursts, ThatEndLongBeforeTheirLimitsDifferByAHop) {
  const EventTolerance tolerance{IntegratorSettings{}};
  const auto bouncing = [](int hops) {
    std::vector<Event> list;
    double t = 0.7, hop = 1e-3;
    for (int k = 0; k < hops; ++k, hop *= 0.8) strike(list, t += hop, 0);
    list.push_back(event_of(EventKind::accumulation, t + hop / 0.2, 0));
    return list;
  };
  std::vector<Event> a = bouncing(15), b = bouncing(14), c = b;
  drop_bursts({&a, &b, &c}, tolerance, false);
  const std::vector<Instant> first = instants(a, tolerance), second = instants(b, tolerance);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(same(first[i], second[i])) << first[i].first;
  EXPECT_GT(first.size(), 5u);
}

// With every hop a rod beside the contact yields and locks again; one list completes the hops one earlier than the other
// (soak with friction, seed 50159).
TEST(Bursts, HaveTheChangesOfModeOfTheirHops) {
  const EventTolerance tolerance{IntegratorSettings{}};
  const auto bouncing = [](int hops) {
    std::vector<Event> list;
    double t = 0.7, hop = 1e-3;
    for (int k = 0; k < hops; ++k, hop *= 0.5) {
      if (k + 1 == hops) list.push_back(event_of(EventKind::accumulation, t, 0));
      list.push_back(event_of(EventKind::yield, t, 1));
      list.push_back(event_of(EventKind::lock, t + hop / 4, 1));
      strike(list, t += hop, 0);
    }
    list.resize(list.size() - 2);
    return list;
  };
  for (const bool with_modes : {false, true}) {
    std::vector<Event> a = bouncing(15), b = bouncing(14), c = b;
    const Bursts bursts = drop_bursts({&a, &b, &c}, tolerance, with_modes);
    const std::vector<Instant> first = instants(a, tolerance), second = instants(b, tolerance);
    const bool equal = std::equal(first.begin(), first.end(), second.begin(), second.end(), same);
    EXPECT_EQ(equal, with_modes);
    EXPECT_EQ(bursts.left_out.contains({EventKind::yield, 1}), with_modes);
    EXPECT_GT(first.size(), 5u);
  }
}

TEST(Bursts, LeaveAShockBeforeThemThatOneListLacks) {
  const EventTolerance tolerance{IntegratorSettings{}};
  std::vector<Event> a = rocking_edge(1e-6, 0), b = a, c = a;
  a.erase(a.begin(), a.begin() + 2);
  drop_bursts({&a, &b, &c}, tolerance, false);
  EXPECT_EQ(instants(a, tolerance).size() + 1, instants(b, tolerance).size());
}

// The stick of a contact in a corner ends with its force: one list has the slide first, another the release.
TEST(Bursts, AContactThatIsReleasedMayBeginToSlideInTheSameInstant) {
  const EventTolerance tolerance{IntegratorSettings{}};
  const auto differs = [&](double slide_at) {
    std::vector<Event> a = {event_of(EventKind::slide, slide_at, 0), event_of(EventKind::release, 0.9, 0)};
    a[0].constraints = {0, 1};
    std::vector<Event> b = {event_of(EventKind::release, 0.9, 0), event_of(EventKind::slide, 0.9 + 1e-11, 1)};
    std::vector<Event> c = b;
    const Bursts bursts = drop_bursts({&a, &b, &c}, tolerance, false);
    EXPECT_EQ(bursts.left_out.size(), slide_at < 0.8 ? 0u : 1u);
    const std::vector<Instant> first = instants(a, tolerance), second = instants(b, tolerance);
    return first.size() != second.size() || !same(first[0], second[0]);
  };
  EXPECT_FALSE(differs(0.9 - 4e-12));
  EXPECT_TRUE(differs(0.7));
}

// Where a frame falls flat, its feet slide for 4e-14 s in one list, and stick all the time in another.
TEST(Bursts, AContactMaySlideAndStickAgainWithinAnInstant) {
  const EventTolerance tolerance{IntegratorSettings{}};
  const auto left_out = [&](double stick_at) {
    std::vector<Event> a = {event_of(EventKind::slide, 0.9, 0), event_of(EventKind::stick, stick_at, 0)};
    a[0].constraints = {0, 1};
    std::vector<Event> b = {event_of(EventKind::slide, 0.9, 1)}, c = b;
    const Bursts bursts = drop_bursts({&a, &b, &c}, tolerance, false);
    const std::vector<Instant> first = instants(a, tolerance), second = instants(b, tolerance);
    const bool alike = first.size() == second.size() && same(first[0], second[0]);
    EXPECT_EQ(alike, bursts.left_out.contains({EventKind::slide, 0}));
    return alike && bursts.left_out.at({EventKind::stick, 0}).passing == 1;
  };
  EXPECT_TRUE(left_out(0.9 + 4e-14));
  EXPECT_FALSE(left_out(0.9 + 1e-6));
}

}  // namespace
}  // namespace zwang::bursts_test
