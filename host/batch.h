// Members of a study made ready for a backend, and work shared out over threads.
#pragma once

#include <functional>
#include <span>

#include "host/backend.h"

namespace zwang {

class Sampler;

// 0 means: as many as the machine has cores.
unsigned thread_count(unsigned asked);

// work(0) ... work(count - 1), each number taken by whichever thread is free. When some throw, the exception of the
// smallest number is thrown on: the same one however many threads there are.
void in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

// The members of these numbers: drawn, and moved onto their conditions as the study says. Throws Error as
// prepare_member does.
Batch prepare_batch(const Study& study, std::span<const unsigned long long> members, unsigned threads);
// With a sampler of this study at hand: for batch after batch.
Batch prepare_batch(const Study& study, const Sampler& sampler, std::span<const unsigned long long> members,
                    unsigned threads);

}  // namespace zwang
