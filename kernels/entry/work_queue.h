// Members for the crews of a CPU's threads, which all ask one counter.
#pragma once

namespace zwang {

// Gives the next member's number, or -1 when there is none. Asking the common counter makes a thread wait for all it has
// written: as long as many members are left, a few are taken at a time; the last ones one by one.
struct MemberQueue {
  long long* counter;
  long long count;
  long long next = 0, taken = 0;  // numbers taken and not given yet: next to taken - 1

  long long operator()() {
    if (next == taken) take();
    return next < count ? next++ : -1;
  }

 private:
  void take() {
    constexpr long long few = 8, many = 64;
    const long long left = count - __atomic_load_n(counter, __ATOMIC_RELAXED), share = left / many;
    const long long more = share < 1 ? 1 : share < few ? share : few;
    next = __atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
    taken = next + more;
  }
};

}  // namespace zwang
