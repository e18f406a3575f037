#include "host/check/combined_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/expression/expression.h"

namespace zwang {

CombinedMeasures::CombinedMeasures(const System& system, const Equations& equations,
                                   const StitchedReductions& reductions, const Tolerance& tolerance)
    : system_(system), tolerance_(tolerance), measures_(equations) {
  for (std::size_t i = 0; i < system.reductions.size(); ++i) {
    verdicts_.push_back(reductions.verdict(i));
    const StitchedReductions::Verdict& of = verdicts_.back();
    values_.push_back(of.reference);
    tolerances_.push_back(10 * of.spread + unit_of(of.reference, of.reference) + of.allowance);
  }
}

double CombinedMeasures::unit_of(double a, double b) const {
  const double size = std::max(std::abs(a), std::abs(b));
  return 30 * tolerance_.unit(std::isfinite(size) ? size : 0);
}

double CombinedMeasures::combined(const std::vector<double>& reductions, std::size_t measure) const {
  return measures_.combined(reductions)[measure];
}

// A measure moves with its reductions. For a smooth formula the changes by each of them add up to the tolerance. A
// formula that jumps (a condition, sign, floor) within it cannot be used to check the backend: each reduction is moved
// by its tolerance times the number of reductions, which covers conditions on sums of all of them.
CombinedMeasures::Verdict CombinedMeasures::verdict(std::size_t measure, double value) const {
  const Measure& of = system_.measures[measure];
  if (const auto only = only_reduction(*system_.pool, of)) {
    const StitchedReductions::Verdict& one = verdicts_[*only];
    return {one.reference, 10 * one.spread + unit_of(one.reference, value) + one.allowance, one.decided};
  }
  Verdict made{combined(values_, measure), 0, true};
  std::vector<std::size_t> used;
  for (const Symbol& symbol : system_.pool->symbols({of.value}))
    if (symbol.kind == SymbolKind::reduction) used.push_back(symbol.index);
  std::vector<double> moved = values_;
  for (const std::size_t i : used) {
    made.decided = made.decided && verdicts_[i].decided;
    double change = 0;
    for (const double sign : {-1.0, 1.0}) {
      moved[i] = values_[i] + sign * tolerances_[i] * static_cast<double>(used.size());
      const double other = combined(moved, measure);
      made.decided = made.decided && std::isnan(other) == std::isnan(made.reference);
      if (of.probability) made.decided = made.decided && other == made.reference;
      if (std::isfinite(other - made.reference)) change = std::max(change, std::abs(other - made.reference));
    }
    moved[i] = values_[i];
    made.tolerance += change;
  }
  made.tolerance += of.probability ? std::numeric_limits<double>::min() : unit_of(made.reference, value);
  return made;
}

}  // namespace zwang
