#include "host/sample/start_shocks.h"

#include <algorithm>

#include "host/sample/consistent_start.h"
#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "kernels/base/status.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr long long starts_checked = 1024;

// Members that every run of the study integrates: `until` decides at 1024 members of a point or later.
std::vector<unsigned long long> first_members(const EnsembleSettings& ensemble) {
  const long long points = ensemble.points(), shown = std::min(points, starts_checked);
  const long long each = std::min(ensemble.per_point(), std::max(1LL, starts_checked / points));
  std::vector<unsigned long long> numbers;
  for (long long k = 0; k < shown; ++k)
    for (long long j = 0; j < each; ++j)
      numbers.push_back(static_cast<unsigned long long>(points * k / shown * ensemble.per_point() + j));
  return numbers;
}

}  // namespace

StartShocks start_shocks(const Study& study) {
  const System& system = *study.system;
  StartShocks made;
  if (std::none_of(system.constraints.begin(), system.constraints.end(),
                   [](const Constraint& one) { return one.holonomic && !one.equation && !one.from; }))
    return made;
  const Sampler sampler(study);
  const StartCheck check(system, study.integrator.contact_tolerance);
  Sampler::Scratch scratch;
  StartCheck::Scratch check_scratch;
  PreparedMember member;
  std::vector<long long> counts(system.constraints.size(), 0);
  std::vector<std::size_t> closing;
  for (const unsigned long long number : first_members(study.ensemble)) {
    sampler.prepare(number, scratch, member);
    ++made.checked;
    if (member.preparation.status != Status::ok) continue;
    check.find_closing(member.inputs.parameters, member.start, check_scratch, closing);
    for (const std::size_t i : closing) ++counts[i];
    if (!closing.empty()) ++made.members;
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) made.by_constraint.push_back({i, counts[i]});
  return made;
}

}  // namespace zwang
