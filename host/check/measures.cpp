#include "host/check/measures.h"
#include "kernels/base/layout.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

#include <algorithm>
#include <cmath>

namespace zwang {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// The value of one measure over all stretches, from its values over each.
double stitched(Reduction reduction, const std::vector<double>& values,
                const std::vector<double>& durations) {
  double result = missing, time = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double value = values[k];
    const bool first = k == 0, known = !std::isnan(result), absent = std::isnan(value);
    switch (reduction) {
      case Reduction::initial:
        if (first) result = value;
        break;
      case Reduction::final:
        result = value;
        break;
      case Reduction::minimum:
        if (!absent) result = known ? std::min(result, value) : value;
        break;
      case Reduction::maximum:
        if (!absent) result = known ? std::max(result, value) : value;
        break;
      case Reduction::mean:
        // A stretch of no length has its value for a mean, and no weight.
        if (durations[k] > 0) result = (known ? result * time : 0) + value * durations[k];
        time += durations[k];
        result = durations[k] > 0 ? result / time : (first ? value : result);
        break;
      case Reduction::integral:
      case Reduction::count:
      case Reduction::total:
        result = first ? value : result + value;
        break;
      case Reduction::first:
      case Reduction::at:
        if (!known) result = value;
        break;
      case Reduction::last:
        if (!absent) result = value;
        break;
    }
  }
  return result;
}

bool is_sum(Reduction reduction) {
  return reduction == Reduction::integral || reduction == Reduction::mean || reduction == Reduction::total;
}

}  // namespace

StitchedMeasures::StitchedMeasures(const System& system, double accumulation_gap)
    : system_(&system), accumulation_gap_(accumulation_gap) {}

void StitchedMeasures::add(const Accounts& accounts, double duration, bool decided) {
  parts_.push_back({accounts.tight.measures, accounts.nudged.measures, duration});
  decided_ = decided_ && decided;
}

StitchedMeasures::Verdict StitchedMeasures::verdict(std::size_t i) const {
  const Measure& measure = system_->measures[i];
  std::vector<double> tight, nudged, durations;
  for (const Part& part : parts_) {
    tight.push_back(part.tight[i]);
    nudged.push_back(part.nudged[i]);
    durations.push_back(part.duration);
  }
  Verdict made;
  made.reference = stitched(measure.reduction, tight, durations);
  const double other = stitched(measure.reduction, nudged, durations);
  made.spread = std::abs(made.reference - other);

  // Errors of sums add up, and must not cancel by luck.
  if (is_sum(measure.reduction)) {
    double sum = 0, time = 0;
    for (std::size_t k = 0; k < tight.size(); ++k) {
      const double weight = measure.reduction == Reduction::mean ? durations[k] : 1;
      sum += weight * std::abs(tight[k] - nudged[k]);
      time += durations[k];
    }
    made.spread = measure.reduction == Reduction::mean && time > 0 ? sum / time : sum;
  }
  made.excused = excused(measure) + excused_integral(i);

  // What happens or not in the eyes of the reference itself is no ground for judging others.
  const bool of_events = measure.pattern != EventPattern::none;
  const bool torn = std::isnan(made.reference) != std::isnan(other);
  const bool counts = measure.reduction == Reduction::count && made.spread > made.excused;
  // Nor is the time of an accumulation that may or may not name this condition.
  const bool named = measure.pattern == EventPattern::accumulation && measure.reduction != Reduction::count &&
                     left_out(EventKind::accumulation, measure).count > 0;
  made.decided = !torn && !counts && !named && (decided_ || !of_events);
  if (std::isnan(made.spread)) made.spread = 0;
  return made;
}

LeftOut StitchedMeasures::left_out(EventKind kind, const Measure& measure) const {
  const auto found = bursts_.left_out.find({kind, measure.target});
  return found == bursts_.left_out.end() ? LeftOut{} : found->second;
}

// Where the integrand asks who is closed it may differ by its whole size; otherwise, in the last moments of a burst, by
// what is left of its velocities.
double StitchedMeasures::excused_integral(std::size_t i) const {
  const Measure& measure = system_->measures[i];
  const bool integral = measure.reduction == Reduction::integral, mean = measure.reduction == Reduction::mean;
  const Expressions& pool = *system_->pool;
  const bool asks = pool.mentions(measure.value, SymbolKind::closed) ||
                    pool.mentions(measure.value, SymbolKind::multiplier);
  if (!(integral || mean) || i >= sizes_.size()) return 0;
  const double share = asks ? 1 : std::min(1.0, 10 * accumulation_gap_);
  double time = 0;
  for (const Part& part : parts_) time += part.duration;
  return share * bursts_.reaches * sizes_[i] / (mean && time > 0 ? time : 1);
}

double StitchedMeasures::excused(const Measure& measure) const {
  LeftOut out;
  if (measure.pattern == EventPattern::shock || measure.pattern == EventPattern::impulse)
    out = left_out(EventKind::shock, measure);
  if (measure.pattern == EventPattern::release) out = left_out(EventKind::release, measure);
  if (measure.pattern == EventPattern::contact) out = left_out(EventKind::contact, measure);
  const bool accumulation = measure.pattern == EventPattern::accumulation;
  if (accumulation) out = left_out(EventKind::accumulation, measure);
  switch (measure.reduction) {
    case Reduction::count:
      return out.count;
    case Reduction::total:
      return out.impulse;
    case Reduction::first:
      return accumulation ? bursts_.reach : 0;
    case Reduction::last:
      return accumulation ? bursts_.reach : out.count > 0 ? bursts_.span : 0;
    default:
      return 0;
  }
}

}  // namespace zwang
