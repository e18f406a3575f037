// Threads take indices from one atomic counter.
#include "host/platform/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace zwang {

unsigned thread_count(unsigned requested) {
  return requested > 0 ? requested : std::max(1U, std::thread::hardware_concurrency());
}

void in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex guard;
  std::exception_ptr first;
  std::size_t first_number = count;

  // Indices are taken in ascending order: when one fails, every smaller index was taken before and will
  // finish.
  const auto take = [&] {
    for (std::size_t k = next++; k < count && !failed; k = next++) {
      try {
        work(k);
      } catch (...) {
        const std::scoped_lock lock(guard);
        failed = true;
        if (k < first_number) {
          first_number = k;
          first = std::current_exception();
        }
      }
    }
  };
  const std::size_t helpers =
      std::min<std::size_t>(thread_count(threads), std::max<std::size_t>(count, 1)) - 1;
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 0; i < helpers; ++i) pool.emplace_back(take);
    take();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace zwang
