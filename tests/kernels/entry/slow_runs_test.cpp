// The lists by which runs of the slow path and turns of the other kernels pass members to each other, on a CPU: members
// that need some entries of the slow path, in random order and of random lengths. No member is lost or handled twice,
// whatever the order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

// The emulation comes first: the kernels use its names.
#include "tests/kernels/entry/emulated_cuda.h"
//
#include "kernels/base/layout.h"
#include "kernels/entry/slow_runs.h"

namespace zwang::slow_runs_test {
namespace {

// The lists of a batch, empty, as CudaWorker lays them out.
struct EmulatedLists {
  DeviceCounters counters{};
  DeviceLists lists{};
  std::vector<std::vector<unsigned>> rooms;

  EmulatedLists(unsigned slots, SlowRunRule rule, unsigned enough_waiting) {
    const auto room = [&](std::size_t length, unsigned fill) {
      return rooms.emplace_back(length, fill).data();
    };
    lists.counters = &counters;
    lists.slots = slots;
    lists.runs = slow_runs(rule);
    lists.enough_waiting = enough_waiting;
    for (unsigned c = 0; c <= lists.runs; ++c) lists.waiting[c] = room(slots * slow_works, 0);
    for (unsigned r = 0; r < lists.runs; ++r) lists.resumed[r] = room(slots, no_slot);
    for (unsigned*& moving : lists.moving) moving = room(slots, 0);
  }
  EmulatedLists(const EmulatedLists&) = delete;
  EmulatedLists& operator=(const EmulatedLists&) = delete;
};

// Members in slots, and the kernels that move them. Each member needs `entries` of the slow path and then ends.
template <SlowRunRule rule>
class Turns {
 public:
  Turns(unsigned slots, unsigned seed)
      : random_(seed), emulated_(slots, rule, slots / 8), left_(slots), place_(slots, Place::waiting) {
    for (unsigned slot = 0; slot < slots; ++slot) {
      left_[slot] = 1 + below(20);
      expected_ += left_[slot];
      append_waiting(lists_, SlowWork::start, slot);
    }
  }

  bool all_ended() const {
    return std::all_of(place_.begin(), place_.end(), [](Place place) { return place == Place::ended; });
  }
  long long handled() const { return handled_; }
  long long expected() const { return expected_; }
  bool consistent() const { return consistent_; }

  void take_turn() {
    const int read = int(turn_ % 2);
    counters_.moving[1 - read] = 0;
    const unsigned before = counters_.moving[read];
    collect_resumed(lists_, read);
    for (unsigned i = before; i < counters_.moving[read]; ++i) go_on(lists_.moving[read][i]);
    let_runs_work();
    const unsigned launched = runs_to_launch();
    begin_slow_run<rule>(lists_, turn_, launched);
    for (unsigned r = 0; r < lists_.runs; ++r)
      if ((launched >> r & 1U) != 0) launch(r);
    let_runs_work();
    for (unsigned i = 0; i < counters_.moving[read]; ++i) step(lists_.moving[read][i], 1 - read);
    ++turn_;
  }

 private:
  enum class Place { waiting, run, resumed, moving, ended };
  // A run under way: the entries that it has not finished.
  struct Run {
    bool under_way = false;
    std::vector<unsigned> entries;
  };

  unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_); }
  void move(unsigned slot, Place from, Place to) {
    consistent_ = consistent_ && place_[slot] == from;
    place_[slot] = to;
  }
  void go_on(unsigned slot) { move(slot, Place::resumed, Place::moving); }

  // zwang_step: the member moves on, or needs the slow path.
  void step(unsigned slot, int next) {
    if (below(3) > 0) {
      append_moving(lists_, next, slot);
      return;
    }
    move(slot, Place::moving, Place::waiting);
    append_waiting(lists_, SlowWork(below(slow_works)), slot);
  }

  // As SlowLaunches of host/backend/cuda/worker_turns.cpp chooses them.
  unsigned runs_to_launch() {
    unsigned idle = 0;
    for (unsigned r = 0; r < lists_.runs; ++r)
      if (!runs_[r].under_way) idle |= 1U << r;
    if (rule != SlowRunRule::overlapping) return idle;
    const unsigned chosen = 1U << below(lists_.runs);
    return idle & chosen;
  }

  // zwang_slow_path begins: it takes its list.
  void launch(unsigned r) {
    const SlowRun& run = counters_.runs[r];
    if (run.state != unsigned(SlowRunState::under_way) || run.turn != turn_) return;
    const WaitingLists waiting(lists_, run.copy);
    runs_[r].under_way = true;
    for (unsigned i = 0; i < waiting.count(); ++i) {
      const unsigned entry = waiting.entry(i);
      if (entry == no_slot) continue;
      move(entry & ~DeviceLists::marks, Place::waiting, Place::run);
      runs_[r].entries.push_back(entry);
    }
    consistent_ = consistent_ && !runs_[r].entries.empty() && run.entries == waiting.count();
    std::shuffle(runs_[r].entries.begin(), runs_[r].entries.end(), random_);
  }
  // Some of the entries of the runs end; the last one may take for many turns.
  void let_runs_work() {
    for (unsigned r = 0; r < lists_.runs; ++r) {
      Run& run = runs_[r];
      if (!run.under_way) continue;
      counters_.runs[r].taken = counters_.runs[r].entries;
      while (!run.entries.empty() && below(run.entries.size() > 1 ? 20 : 200) > 0 && run.entries.size() > 1)
        finish_entry(r);
      if (run.entries.size() == 1 && below(50) == 0) finish_entry(r);
      if (run.entries.empty()) {
        run.under_way = false;
        end_slow_run(counters_.runs[r]);
      }
    }
  }
  void finish_entry(unsigned r) {
    const unsigned slot = runs_[r].entries.back() & ~DeviceLists::marks;
    runs_[r].entries.pop_back();
    ++handled_;
    if (--left_[slot] == 0) {
      move(slot, Place::run, Place::ended);
      return;
    }
    // One in three has more steps to take in the slow path, and waits again without moving.
    const bool alone = below(3) == 0;
    move(slot, Place::run, alone ? Place::waiting : Place::resumed);
    append_resumed(lists_, r, slot, alone);
  }

  std::mt19937 random_;
  unsigned turn_ = 0;
  EmulatedLists emulated_;
  DeviceCounters& counters_ = emulated_.counters;
  const DeviceLists& lists_ = emulated_.lists;
  std::vector<unsigned> left_;  // entries that each member still needs
  std::vector<Place> place_;
  std::array<Run, most_slow_runs> runs_;
  long long handled_ = 0, expected_ = 0;
  bool consistent_ = true;
};

template <SlowRunRule rule>
void expect_all_members_end() {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Turns<rule> turns(seed % 2 == 0 ? 300 : 7, seed);
    int turn = 0;
    for (; turn < 200'000 && !turns.all_ended(); ++turn) {
      turns.take_turn();
      ASSERT_TRUE(turns.consistent()) << "turn " << turn << ", seed " << seed;
    }
    EXPECT_TRUE(turns.all_ended()) << "after " << turn << " turns, seed " << seed;
    EXPECT_EQ(turns.handled(), turns.expected()) << "seed " << seed;
  }
}

TEST(SlowRuns, LoseNoMemberWhereTheyBeginAtOnce) { expect_all_members_end<SlowRunRule::prompt>(); }
TEST(SlowRuns, LoseNoMemberWhereTheyGatherTheirWork) { expect_all_members_end<SlowRunRule::gathered>(); }
TEST(SlowRuns, LoseNoMemberWhereTheyOverlap) { expect_all_members_end<SlowRunRule::overlapping>(); }

// The number of members that go on while one entry of their run has not ended.
template <SlowRunRule rule>
unsigned members_beside_an_endless_entry() {
  constexpr unsigned slots = 10;
  EmulatedLists emulated(slots, rule, 1);
  const DeviceLists& lists = emulated.lists;
  DeviceCounters& counters = emulated.counters;
  for (unsigned slot = 0; slot < slots; ++slot) append_waiting(lists, SlowWork::event, slot);
  begin_slow_run<rule>(lists, 0, 1);
  EXPECT_EQ(counters.runs[0].state, unsigned(SlowRunState::under_way));
  counters.runs[0].taken = counters.runs[0].entries;
  for (unsigned slot = 1; slot < slots; ++slot) append_resumed(lists, 0, slot, false);
  for (unsigned turn = 1; turn < 4; ++turn) {
    collect_resumed(lists, 0);
    begin_slow_run<rule>(lists, turn, 1);
  }
  return counters.moving[0];
}
TEST(SlowRuns, MembersGoOnBesideALongEntryUnlessTheyAreGathered) {
  EXPECT_EQ(members_beside_an_endless_entry<SlowRunRule::prompt>(), 9u);
  EXPECT_EQ(members_beside_an_endless_entry<SlowRunRule::overlapping>(), 9u);
  EXPECT_EQ(members_beside_an_endless_entry<SlowRunRule::gathered>(), 0u);
}

}  // namespace
}  // namespace zwang::slow_runs_test
