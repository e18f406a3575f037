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
  const long long last = std::min(end, first + checked);
  in_parallel(static_cast<std::size_t>((last - first + chunk - 1) / chunk), threads, [&](std::size_t part) {
    Sampler::Scratch scratch;
    PreparedMember member;
    const long long begin = first + static_cast<long long>(part) * chunk;
    for (long long k = begin; k < std::min(last, begin + chunk); ++k)
      sampler.prepare(static_cast<unsigned long long>(k), scratch, member);
  });
}

}  // namespace zwang
