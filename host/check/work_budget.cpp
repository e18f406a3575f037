// Sizes of the budget.
#include "host/check/work_budget.h"

#include <algorithm>
#include <cmath>

#include "src/reference/trajectory.h"

namespace zwang {

namespace {

// Divided among the members of a check. A trial step of a small study takes about 20 microseconds: half a
// minute on one core if every member uses up its share.
constexpr double divided_steps = 1e6;
// For each trial step of the backend. The tight run (tsit5, a hundredth of the tolerance) takes up to 40
// times the steps of dop853, and more than that compared with Taylor series.
constexpr double per_backend_step = 100;
// Beyond so many steps a backend's steps are small for a reason that the reference shares: they count less.
constexpr double many_steps = 1e4, per_further_step = 2;
// For each run, however much was spent on the segments before.
constexpr double least_steps = 1000;
// A segment may use this share of what is left, or its equal part of it where fewer segments are left.
constexpr std::size_t largest_divisor = 4;
constexpr double runs_per_segment = 2;

double for_backend_steps(double steps) {
  return per_backend_step * std::min(steps, many_steps) +
         per_further_step * std::max(steps - many_steps, 0.0);
}

}  // namespace

WorkBudget::WorkBudget(double scale, long long backend_steps, std::size_t members)
    : least_(scale * least_steps),
      left_(scale * (divided_steps / static_cast<double>(std::max<std::size_t>(members, 1)) +
                     for_backend_steps(static_cast<double>(backend_steps)))) {
  begin_stretch(1);
}

void WorkBudget::begin_stretch(std::size_t stretches_left) {
  if (!(least_ > 0)) return;
  const auto divisor = static_cast<double>(std::clamp<std::size_t>(stretches_left, 1, largest_divisor));
  const double limit = std::max(least_, left_ / divisor / runs_per_segment);
  run_limit_ = limit < static_cast<double>(no_limit) ? std::llround(limit) : no_limit;
}

}  // namespace zwang
