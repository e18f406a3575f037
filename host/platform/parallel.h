// A parallel loop over threads.
#pragma once

#include <cstddef>
#include <functional>

namespace zwang {

// `requested` itself, or the number of cores if it is 0.
unsigned thread_count(unsigned requested);

// Calls work(0) ... work(count - 1); each free thread takes the next index. If some calls throw, the
// exception with the smallest index is rethrown, so it does not depend on the number of threads.
void in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace zwang
