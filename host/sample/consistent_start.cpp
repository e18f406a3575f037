// Evaluates the residuals of all constraints at a drawn start.
#include "host/sample/consistent_start.h"

#include <cmath>

#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/scaled.h"
#include "src/system/friction.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// A rate below this share of its terms is rounding.
constexpr double rounding_share = 1e-10;

}  // namespace

StartCheck::StartCheck(const System& system, double tolerance) : tolerance_(tolerance) {
  std::vector<Expr> times, residuals;
  for (const Constraint& constraint : system.constraints) {
    Condition condition{.equation = constraint.equation,
                        .on_positions = constraint.holonomic && projected_at_start(constraint, false),
                        .on_velocities = (constraint.equation || !constraint.holonomic) &&
                                         projected_at_start(constraint, true),
                        .from = none,
                        .until = none};
    if (constraint.from) condition.from = times.size(), times.push_back(*constraint.from);
    if (constraint.until) condition.until = times.size(), times.push_back(*constraint.until);
    conditions_.push_back(condition);
    residuals.push_back(constraint.value);
    residuals.push_back(constraint.rate);
  }
  modes_.assign(system.modes, Scaled(0));
  times_ = Program(*system.pool, times);
  residuals_ = Program(*system.pool, residuals);
}

bool StartCheck::consistent(std::span<const double> parameters, const State& start, Scratch& scratch) const {
  if (conditions_.empty()) return true;
  scratch.times.resize(times_.outputs());
  times_.run<double>({.time = 0, .parameters = parameters}, scratch.slots, scratch.times);
  evaluate_residuals(parameters, start, scratch);

  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const Condition& condition = conditions_[i];
    const double from = condition.from == none ? -1 : scratch.times[condition.from];
    const double until = condition.until == none ? 1 : scratch.times[condition.until];
    if (from > 0 || until <= 0) continue;
    const auto holds = [&](const Scaled& f) {
      return (condition.equation ? std::abs(f.value) : f.value) <= tolerance_ * f.scale;
    };
    if (condition.on_positions && !holds(scratch.residuals[2 * i])) return false;
    // A constraint imposed at t = 0 gets its velocity by a shock, so its rate is not checked.
    if (condition.on_velocities && from != 0 && !holds(scratch.residuals[2 * i + 1])) return false;
  }
  return true;
}

void StartCheck::find_closing(std::span<const double> parameters, const State& start, Scratch& scratch,
                              std::vector<std::size_t>& closing) const {
  closing.clear();
  scratch.times.resize(times_.outputs());
  times_.run<double>({.time = 0, .parameters = parameters}, scratch.slots, scratch.times);
  evaluate_residuals(parameters, start, scratch);
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const Condition& condition = conditions_[i];
    if (condition.equation || !condition.on_positions || condition.from != none) continue;
    if (condition.until != none && scratch.times[condition.until] <= 0) continue;
    const Scaled &f = scratch.residuals[2 * i], &rate = scratch.residuals[2 * i + 1];
    if (f.value >= -tolerance_ * f.scale && rate.value > rounding_share * rate.scale) closing.push_back(i);
  }
}

void StartCheck::evaluate_residuals(std::span<const double> parameters, const State& start,
                                    Scratch& scratch) const {
  scratch.parameters.clear();
  scratch.q.clear();
  scratch.v.clear();
  scratch.z.clear();
  // Each coordinate carries a rounding error of its own magnitude, as in Equations with sizes_of(start).
  for (const double p : parameters) scratch.parameters.emplace_back(p);
  for (const double x : start.q) scratch.q.emplace_back(x);
  for (const double x : start.v) scratch.v.emplace_back(x);
  for (const double x : start.z) scratch.z.emplace_back(x);
  scratch.residuals.resize(residuals_.outputs());
  residuals_.run<Scaled>({.time = Scaled(start.t),
                          .parameters = scratch.parameters,
                          .coordinates = scratch.q,
                          .velocities = scratch.v,
                          .auxiliaries = scratch.z,
                          .modes = modes_},
                         scratch.scaled_slots, scratch.residuals);
}

}  // namespace zwang
