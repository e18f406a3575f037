// A parallel loop over threads.
#pragma once

#include <cstddef>
#include <functional>

namespace zwang {

// 0 means: as many as the machine has cores.
unsigned thread_count(unsigned asked);

// work(0) ... work(count - 1), each number taken by whichever thread is free. When some throw, the exception of the
// smallest number is thrown on: the same one however many threads there are.
void in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace zwang
