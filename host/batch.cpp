#include "host/batch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "host/sampler.h"

namespace zwang {

unsigned thread_count(unsigned asked) {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

void in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex guard;
  std::exception_ptr first;
  std::size_t first_number = count;

  // Numbers are handed out in order: when one fails, every smaller one has been taken and will be finished.
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

Batch prepare_batch(const Study& study, std::span<const unsigned long long> members, unsigned threads) {
  const System& system = *study.system;
  const std::size_t parameters = system.parameters.size();
  const std::size_t n = system.size(), nz = system.auxiliaries.size();
  Batch batch;
  batch.count = members.size();
  batch.parameters.resize(batch.count * parameters);
  batch.starts.resize(batch.count * (2 * n + nz));
  batch.prepared.resize(batch.count);
  // Chunks, so that what a thread sets up serves many members.
  constexpr std::size_t chunk = 256;
  const Sampler sampler(study);
  in_parallel((batch.count + chunk - 1) / chunk, threads, [&](std::size_t part) {
    Sampler::Scratch scratch;
    PreparedMember member;
    for (std::size_t k = part * chunk; k < std::min(batch.count, (part + 1) * chunk); ++k) {
      sampler.prepare(members[k], scratch, member);
      std::copy(member.inputs.parameters.begin(), member.inputs.parameters.end(),
                batch.parameters.begin() + static_cast<std::ptrdiff_t>(k * parameters));
      double* start = batch.starts.data() + k * (2 * n + nz);
      std::copy(member.start.q.begin(), member.start.q.end(), start);
      std::copy(member.start.v.begin(), member.start.v.end(), start + n);
      std::copy(member.start.z.begin(), member.start.z.end(), start + 2 * n);
      batch.prepared[k] = member.preparation.status;
    }
  });
  return batch;
}

}  // namespace zwang
