// Combination of reductions over segments and the tolerances of the result.
#include "host/check/measures.h"
#include "kernels/base/layout.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace zwang {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// The value of one reduction over all segments from its values over each of them.
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
        // The mean over a segment of zero length is its value, with weight zero.
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
      default:  // over the rows of a record: not known from the segments
        break;
    }
  }
  return result;
}

// The changes of mode that a measure refers to, if any.
std::optional<EventKind> mode_change_of(EventPattern pattern) {
  switch (pattern) {
    case EventPattern::slides:
      return EventKind::slide;
    case EventPattern::sticks:
      return EventKind::stick;
    case EventPattern::reverses:
      return EventKind::reverse;
    case EventPattern::yields:
      return EventKind::yield;
    case EventPattern::locks:
      return EventKind::lock;
    default:
      return std::nullopt;
  }
}

bool is_sum(Reduction reduction) {
  return reduction == Reduction::integral || reduction == Reduction::mean || reduction == Reduction::total;
}

}  // namespace

StitchedReductions::StitchedReductions(const System& system, double accumulation_gap)
    : system_(&system), accumulation_gap_(accumulation_gap) {}

void StitchedReductions::add(const ReferencePair& pair, double duration, bool decided) {
  parts_.push_back({pair.tight.reductions, pair.perturbed.reductions, duration, !pair.given_up()});
  decided_ = decided_ && decided;
}

StitchedReductions::Verdict StitchedReductions::verdict(std::size_t i) const {
  const ReductionFormula& formula = system_->reductions[i];
  if (is_of_record(formula) && !records_.empty()) return records_[i];
  std::vector<double> tight, perturbed, durations;
  for (const Part& part : parts_) {
    tight.push_back(part.tight[i]);
    perturbed.push_back(part.perturbed[i]);
    durations.push_back(part.duration);
  }
  Verdict made;
  made.reference = stitched(formula.reduction, tight, durations);
  const double other = stitched(formula.reduction, perturbed, durations);
  made.spread = std::abs(made.reference - other);

  // Errors of sums add up: absolute values, so that they cannot cancel by chance.
  if (is_sum(formula.reduction)) {
    double sum = 0, time = 0;
    for (std::size_t k = 0; k < tight.size(); ++k) {
      const double weight = formula.reduction == Reduction::mean ? durations[k] : 1;
      sum += weight * std::abs(tight[k] - perturbed[k]);
      time += durations[k];
    }
    made.spread = formula.reduction == Reduction::mean && time > 0 ? sum / time : sum;
  }
  made.allowance = allowance(formula) + integral_allowance(i);

  // A reduction whose existence or count differs between the two reference runs cannot be used to check the
  // backend.
  const bool of_events = formula.pattern != EventPattern::none;
  const bool only_one_defined = std::isnan(made.reference) != std::isnan(other);
  const bool counts = formula.reduction == Reduction::count && made.spread > made.allowance;
  // Neither can the time of an accumulation that may or may not list this condition.
  const bool may_not_be_named = formula.pattern == EventPattern::accumulation &&
                                formula.reduction != Reduction::count &&
                                left_out(EventKind::accumulation, formula).count > 0;
  // Nor the time of a change of mode that may or may not be listed.
  const std::optional<EventKind> change = mode_change_of(formula.pattern);
  const bool may_pass =
      change && formula.reduction != Reduction::count && left_out(*change, formula).passing > 0;
  made.decided = covered(formula.reduction) && !only_one_defined && !counts && !may_not_be_named &&
                 !may_pass && (decided_ || !of_events);
  if (std::isnan(made.spread)) made.spread = 0;
  return made;
}

// Whether the reference has run over every segment on which the reduction depends.
bool StitchedReductions::covered(Reduction reduction) const {
  if (reduction >= Reduction::record_count) return false;
  if (reduction == Reduction::initial) return true;
  if (reduction == Reduction::final) return parts_.back().complete;
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.complete; });
}

LeftOut StitchedReductions::left_out(EventKind kind, const ReductionFormula& formula) const {
  const auto found = bursts_.left_out.find({kind, formula.target});
  return found == bursts_.left_out.end() ? LeftOut{} : found->second;
}

// If the integrand depends on which conditions are closed, it may differ by a part of its size; otherwise, in
// the last part of a burst, by the remaining velocities.
double StitchedReductions::integral_allowance(std::size_t i) const {
  const ReductionFormula& formula = system_->reductions[i];
  const bool integral = formula.reduction == Reduction::integral, mean = formula.reduction == Reduction::mean;
  const Expressions& pool = *system_->pool;
  const bool depends_on_contact = pool.mentions(formula.value, SymbolKind::closed) ||
                                  pool.mentions(formula.value, SymbolKind::multiplier);
  if (!(integral || mean) || i >= sizes_.size()) return 0;
  const double share = depends_on_contact ? unaccounted : std::min(unaccounted, 10 * accumulation_gap_);
  double time = 0;
  for (const Part& part : parts_) time += part.duration;
  return share * bursts_.reaches * sizes_[i] / (mean && time > 0 ? time : 1);
}

double StitchedReductions::allowance(const ReductionFormula& formula) const {
  LeftOut out;
  const std::optional<EventKind> change = mode_change_of(formula.pattern);
  if (change) out = left_out(*change, formula);
  if (formula.pattern == EventPattern::shock || formula.pattern == EventPattern::impulse)
    out = left_out(EventKind::shock, formula);
  if (formula.pattern == EventPattern::release) out = left_out(EventKind::release, formula);
  if (formula.pattern == EventPattern::contact) out = left_out(EventKind::contact, formula);
  const bool accumulation = formula.pattern == EventPattern::accumulation;
  if (accumulation) out = left_out(EventKind::accumulation, formula);
  switch (formula.reduction) {
    case Reduction::count:
      return out.count;
    case Reduction::total:
      return unaccounted * out.impulse;
    case Reduction::first:
      return accumulation ? bursts_.reach : change && out.count > 0 ? bursts_.span : 0;
    case Reduction::last:
      return accumulation ? bursts_.reach : out.count > 0 ? bursts_.span : 0;
    default:
      return 0;
  }
}

}  // namespace zwang
