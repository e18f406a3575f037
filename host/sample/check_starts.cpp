#include "host/sample/check_starts.h"

#include <algorithm>

#include "host/platform/parallel.h"
#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "src/system/system.h"

namespace zwang {

void require_consistent_starts(const Study& study, long long first, long long end, unsigned threads) {
  constexpr long long checked = 16384, chunk = 256;
  if (study.ensemble.consistency != Consistency::error || study.system->constraints.empty()) return;
  const Sampler sampler(study);
  // The first members, or with sweeps members of all points.
  const long long all = end - first, count = std::min(all, checked);
  const auto number = [&](long long k) {
    const bool spread = !study.sweeps.empty() && all > count;
    return first + (spread ? all / count * k + all % count * k / count : k);
  };
  in_parallel(static_cast<std::size_t>((count + chunk - 1) / chunk), threads, [&](std::size_t part) {
    Sampler::Scratch scratch;
    PreparedMember member;
    const long long begin = static_cast<long long>(part) * chunk;
    for (long long k = begin; k < std::min(count, begin + chunk); ++k)
      sampler.prepare(static_cast<unsigned long long>(number(k)), scratch, member);
  });
}

}  // namespace zwang
