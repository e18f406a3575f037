// Reductions over the trajectory and over events.
#include "src/reference/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/layout.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/reference/first_root.h"
#include "src/system/equations.h"
#include "src/system/reduced_forces.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// True if the event matches the measure's pattern; for impulses `size` is set too. The shocks that an
// accumulation stands for are not listed: their impulses belong to totals, and the last of them is its limit.
bool matches(const ReductionFormula& measure, const Event& event, double& size) {
  const auto among = [&](const std::vector<std::size_t>& list) {
    return std::find(list.begin(), list.end(), measure.target) != list.end();
  };
  const bool accumulation = event.kind == EventKind::accumulation;
  const bool unlisted = measure.reduction == Reduction::total || measure.reduction == Reduction::last;
  switch (measure.pattern) {
    case EventPattern::shock:
    case EventPattern::impulse: {
      if (!event.velocities_jump || (accumulation && !unlisted)) return false;
      if (accumulation && measure.reduction == Reduction::last)
        return among(event.constraints) || among(event.reached);
      const std::vector<std::size_t>& struck = event.struck();
      const auto it = std::find(struck.begin(), struck.end(), measure.target);
      if (it == struck.end()) return false;
      const auto k = static_cast<std::size_t>(it - struck.begin());
      size = k < event.impulses.size() ? event.impulses[k] : 0;
      return k < event.impulses.size() && event.impulses[k] != 0;
    }
    case EventPattern::release:
      return event.kind == EventKind::release && among(event.constraints);
    case EventPattern::contact:
      return (event.kind == EventKind::contact || event.kind == EventKind::touch ||
              (accumulation && unlisted)) &&
             among(event.constraints);
    case EventPattern::accumulation:
      return accumulation && among(event.constraints);
    case EventPattern::watched:
      return event.kind == EventKind::event && event.watch == measure.target;
    default:
      return mode_event(measure.pattern) == event.kind && among(event.constraints);
  }
}

}  // namespace

Measures::Measures(const Equations& equations) : equations_(&equations) {
  const System& system = equations.system();
  std::vector<Expr> roots;
  for (const ReductionFormula& formula : system.reductions) roots.push_back(formula.value);
  program_ = Program(*system.pool, roots);
  combine_ = Program(*system.pool, system.member_value_formulas());
  for (const ReductionFormula& formula : system.reductions) {
    const bool counts = formula.reduction == Reduction::count || formula.reduction == Reduction::total;
    results_.push_back(counts ? 0 : missing);
  }
}

std::vector<double> Measures::values(const Moment& moment) const {
  std::vector<double> out(program_.outputs());
  equations_->evaluate(program_, moment.state,
                       {moment.multipliers.data(), static_cast<std::size_t>(moment.multipliers.size())},
                       moment.closed, out);
  return out;
}

bool Measures::wants_extremes() const {
  const auto& reductions = equations_->system().reductions;
  return std::any_of(reductions.begin(), reductions.end(), is_extreme);
}

void Measures::start(const Moment& moment) {
  initial_ = values(moment);
  update_extremes(initial_);
}

void Measures::update_extremes(const Moment& moment) {
  if (wants_extremes()) update_extremes(values(moment));
}

void Measures::update_extremes(const std::vector<double>& now) {
  const auto& reductions = equations_->system().reductions;
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    if (!is_extreme(reductions[i]) || std::isnan(now[i])) continue;
    const bool better =
        reductions[i].reduction == Reduction::maximum ? now[i] > results_[i] : now[i] < results_[i];
    if (better || std::isnan(results_[i])) results_[i] = now[i];
  }
}

void Measures::refine_extremes(const std::function<std::vector<double>(double)>& at) {
  if (!wants_extremes()) return;
  const auto& reductions = equations_->system().reductions;
  const std::span<const double> fractions = sample_fractions();
  std::vector<std::vector<double>> samples;
  for (const double theta : fractions) samples.push_back(at(theta));
  for (const std::vector<double>& sample : samples) update_extremes(sample);
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    if (!is_extreme(reductions[i])) continue;
    const double sign = reductions[i].reduction == Reduction::maximum ? 1 : -1;
    for (std::size_t k = 0; k < fractions.size(); ++k) {
      const std::size_t left = k > 0 ? k - 1 : 0, right = std::min(k + 1, fractions.size() - 1);
      const double a = sign * samples[left][i], b = sign * samples[k][i], c = sign * samples[right][i];
      // Refine only maxima that may exceed the known one. Two samples beside a maximum may be equally high:
      // at the ends of the step a third sample gives the spread.
      const std::size_t third = k == 0 ? 2 : k + 1 == fractions.size() ? k - 2 : k;
      const double spread = b - std::min({a, c, sign * samples[third][i]});
      if (!(b >= a && b >= c) || !(spread > 0) || b + spread <= sign * results_[i]) continue;
      const Peak top =
          peak(fractions[left], fractions[right], [&](double theta) { return sign * at(theta)[i]; });
      update_extremes(at(top.theta));
    }
  }
}

void Measures::restore_extremes_of(const Eigen::VectorXd& forces, const std::vector<double>& before) {
  const System& system = equations_->system();
  for (std::size_t k = 0; k < results_.size(); ++k) {
    if (!is_extreme(system.reductions[k])) continue;
    const std::vector<std::size_t> read = reduced_forces(system, system.reductions[k]);
    if (std::any_of(read.begin(), read.end(),
                    [&](std::size_t i) { return forces(static_cast<Eigen::Index>(i)) != 0; }))
      results_[k] = before[k];
  }
}

void Measures::note(const Event& event, const Moment& after) {
  const auto& reductions = equations_->system().reductions;
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    double size = 0;
    if (!matches(reductions[i], event, size)) continue;
    double& result = results_[i];
    switch (reductions[i].reduction) {
      case Reduction::count:
        result += 1;
        break;
      case Reduction::total:
        result += size;
        break;
      case Reduction::maximum:
        result = std::isnan(result) ? size : std::max(result, size);
        break;
      case Reduction::first:
        if (std::isnan(result)) result = event.t;
        break;
      case Reduction::last:
        result = event.t;
        break;
      case Reduction::at:
        if (std::isnan(result)) result = values(after)[i];
        break;
      default:
        break;
    }
  }
}

std::vector<double> Measures::finish(const Moment& moment, const Eigen::VectorXd& integrals,
                                     double duration) const {
  std::vector<double> out = results_;
  const std::vector<double> now = values(moment);
  const auto& reductions = equations_->system().reductions;
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(reductions[i].integral);
    if (reductions[i].reduction == Reduction::initial) out[i] = initial_.empty() ? missing : initial_[i];
    if (reductions[i].reduction == Reduction::final) out[i] = now[i];
    if (reductions[i].reduction == Reduction::integral) out[i] = integrals(k);
    if (reductions[i].reduction == Reduction::mean) out[i] = duration > 0 ? integrals(k) / duration : now[i];
  }
  return out;
}

std::vector<double> Measures::combined(const std::vector<double>& reductions) const {
  return combine_.run<double>({.parameters = equations_->parameters(), .reductions = reductions});
}

}  // namespace zwang
