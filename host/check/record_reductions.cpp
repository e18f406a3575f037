#include "host/check/record_reductions.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/layout.h"
#include "src/expression/evaluate.h"
#include "src/reference/records.h"
#include "src/reference/trajectory.h"

namespace zwang {

namespace {

using RecordVerdict = StitchedReductions::Verdict;

// The largest distance of the rows of two runs in one value; infinite if they have other rows.
double distance_of_rows(const MemberRecord& a, const MemberRecord& b, std::size_t column) {
  if (a.rows.size() != b.rows.size() || a.total != b.total) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t k = 0; k < a.rows.size(); ++k) {
    const double off = std::abs(a.rows[k].values[column] - b.rows[k].values[column]);
    largest = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(largest, off);
  }
  return largest;
}

double size_of_rows(const MemberRecord& record, std::size_t column) {
  double size = 0;
  for (const RecordRow& row : record.rows) size = std::max(size, std::abs(row.values[column]));
  return size;
}

// A period is decided if it is the same for tolerances moved by what the rows of the backend may be off.
bool period_is_decided(const MemberRecord& tight, const MemberRecord& perturbed, double tolerance,
                       double spread) {
  const std::size_t period = period_of(tight.rows, tolerance);
  const double reach = 2 * 10 * spread;
  return period_of(perturbed.rows, tolerance) == period &&
         period_of(tight.rows, tolerance + reach) == period &&
         (reach < tolerance && period_of(tight.rows, tolerance - reach) == period);
}

// Of one reduction over rows that agree; `size` of its values, over all columns for counts and periods.
RecordVerdict verdict_of(const ReductionFormula& formula, const ReferencePair& whole, std::size_t i,
                         double period_tolerance, const Tolerance& tolerance) {
  const MemberRecord &tight = whole.tight.records[formula.target],
                     &perturbed = whole.perturbed.records[formula.target];
  const bool of_rows =
      formula.reduction == Reduction::record_count || formula.reduction == Reduction::record_period;
  const std::size_t columns = tight.rows.empty() ? 0 : tight.rows.front().values.size();
  RecordVerdict made{.reference = whole.tight.reductions[i], .spread = 0, .allowance = 0, .decided = true};
  if (columns == 0) {
    made.decided = perturbed.rows.empty();
    return made;
  }
  double spread = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    if (!of_rows && c != formula.column) continue;
    const double off = distance_of_rows(tight, perturbed, c), size = size_of_rows(tight, c);
    made.decided = made.decided && off <= sensitivity_limit * size + 30 * tolerance.unit(size);
    spread = std::max(spread, off);
  }
  if (!made.decided) return made;
  if (formula.reduction == Reduction::record_period)
    made.decided = period_is_decided(tight, perturbed, period_tolerance, spread);
  if (!of_rows) made.spread = spread;
  return made;
}

}  // namespace

bool has_record_reductions(const System& system) {
  return std::any_of(system.reductions.begin(), system.reductions.end(), [](const ReductionFormula& formula) {
    return is_of_record(formula) && formula.reduction != Reduction::record_label;
  });
}

std::vector<RecordVerdict> record_verdicts(const System& system, const Equations& equations,
                                           const ReferencePair& whole, Status status,
                                           const Tolerance& tolerance) {
  std::vector<RecordVerdict> made;
  const bool same_end = !whole.given_up() && whole.tight.status == status && whole.perturbed.status == status;
  for (std::size_t i = 0; i < system.reductions.size(); ++i) {
    const ReductionFormula& formula = system.reductions[i];
    const bool compared = same_end && is_of_record(formula) && formula.reduction != Reduction::record_label;
    if (!compared) {
      made.push_back({.reference = std::numeric_limits<double>::quiet_NaN(), .decided = false});
      continue;
    }
    double period_tolerance = 0;
    if (formula.reduction == Reduction::record_period)
      period_tolerance =
          Program(*system.pool, {formula.value}).run<double>({.parameters = equations.parameters()}).front();
    made.push_back(verdict_of(formula, whole, i, period_tolerance, tolerance));
  }
  return made;
}

}  // namespace zwang
