// The work queue of a CPU run: threads take member numbers from one counter.
#pragma once

namespace zwang {

// Returns the next member number, or -1 if there are no more. An access to the shared counter makes a thread
// wait until its stores are visible. So several numbers are taken at a time while many are left, and single
// numbers near the end.
struct MemberQueue {
  long long* counter;
  long long count;
  long long next = 0, taken = 0;  // numbers taken and not yet returned: next to taken - 1

  long long operator()() {
    if (next == taken) take();
    return next < count ? next++ : -1;
  }

 private:
  void take() {
    constexpr long long most = 8, share_of_rest = 64;  // at most 8, and at most 1/64 of those that are left
    const long long left = count - __atomic_load_n(counter, __ATOMIC_RELAXED), share = left / share_of_rest;
    const long long more = share < 1 ? 1 : share < most ? share : most;
    next = __atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
    taken = next + more;
  }
};

}  // namespace zwang
