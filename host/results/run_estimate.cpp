// Sizes of result files and the time left.
#include "host/results/run_estimate.h"

#include <fmt/format.h>

#include <array>

#include "host/backend/member_bytes.h"
#include "host/study/study.h"
#include "src/system/system.h"

namespace zwang {

double estimated_bytes(const Study& study, long long members) {
  const System& system = *study.system;
  const auto number = [](std::size_t count) { return 8 * static_cast<double>(count); };
  // statistics.nc and summary.json hold about this many numbers for each observable at each time.
  const std::size_t statistics_of_a_series = 12 + 3 * study.statistics.quantiles.size();
  double bytes =
      2 * number(statistics_of_a_series) * static_cast<double>(study.ensemble.points()) *
      static_cast<double>(study.time.outputs.size() * system.observables.size() + system.measures.size());
  if (study.output.members) {
    std::vector<std::size_t> drawn;
    for (std::size_t i = 0; i < study.parameters.size(); ++i)
      if (study.parameters[i].drawn()) drawn.push_back(i);
    bytes += static_cast<double>(MemberRecordLayout(study, drawn).bytes()) * static_cast<double>(members);
  }
  bytes += number(system.record_room()) * static_cast<double>(members);  // records.nc, if all rows are kept
  const std::size_t state = 2 * system.size() + system.auxiliaries.size() + 2 * system.constraints.size();
  bytes += number(study.output.trajectories.size()) * static_cast<double>(study.time.outputs.size()) *
           static_cast<double>(state + system.observables.size());
  return bytes;
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 6> units = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  std::size_t k = 0;
  for (; bytes >= 999.5 && k + 1 < units.size(); ++k) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes, bytes < 9.95 && k > 0 ? 1 : 0, units[k]);
}

std::optional<double> TimeEstimate::seconds_left(const RunProgress& progress) {
  constexpr double enough_seconds = 1.5, any_report_seconds = 5;
  if (given_ || progress.done >= progress.of) return {};
  if (!first_ || progress.too_few) first_ = progress;
  if (progress.too_few) return {};
  // The first batch includes the start of the machine, so the rate is that between two reports where there
  // are two.
  const double since = progress.seconds - first_->seconds;
  const auto done = static_cast<double>(progress.done - first_->done);
  const bool two = since >= enough_seconds && done > 0;
  if (!two && !(progress.seconds >= any_report_seconds && progress.done > 0)) return {};
  given_ = true;
  const double rate = two ? done / since : static_cast<double>(progress.done) / progress.seconds;
  return static_cast<double>(progress.of - progress.done) / rate;
}

}  // namespace zwang
