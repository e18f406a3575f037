// The first members of a study's ensemble, run by a backend.
#pragma once

#include <numeric>
#include <vector>

#include "host/backend/backend.h"
#include "host/backend/batch.h"

namespace zwang {

inline BatchResults run_members(const Study& study, Backend& backend, std::size_t count) {
  std::vector<unsigned long long> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0ULL);
  return backend.run(prepare_batch(study, numbers, 2), {});
}

}  // namespace zwang
