// The table of `run --timings`.
#include "host/platform/stage_times.h"

#include <fmt/format.h>

namespace zwang {

StageTimes& StageTimes::get() {
  static StageTimes times;
  return times;
}

void StageTimes::add(const std::string& stage, double seconds) {
  const std::scoped_lock lock(guard_);
  Sum& sum = stages_[stage];
  ++sum.calls;
  sum.seconds += seconds;
}

std::string StageTimes::table() const {
  const std::scoped_lock lock(guard_);
  std::string text = fmt::format("{:<36}{:>8}{:>11}\n", "stage", "calls", "seconds");
  for (const auto& [stage, sum] : stages_)
    text += fmt::format("{:<36}{:>8}{:>11.4f}\n", stage, sum.calls, sum.seconds);
  return text + fmt::format("{:<36}{:>8}{:>11.4f}\n", "the command", 1, all_.seconds());
}

}  // namespace zwang
