// Recognition of geometric sequences of shocks.
#include "src/reference/accumulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace zwang {

namespace {
constexpr std::size_t longest_cycle = 8;  // shocks in one cycle
constexpr std::size_t memory = 3 * longest_cycle + 1;
// The rounding of the last shocks does not allow a limit to be extrapolated more accurately, as a share of
// the sequence's length.
constexpr double finest_limit = 1e-9;
}  // namespace

void AccumulationWatch::note(double t, std::vector<std::size_t> reached, std::vector<std::size_t> held) {
  std::sort(reached.begin(), reached.end());
  if (shocks_.size() == memory) shocks_.erase(shocks_.begin());
  shocks_.push_back({t, std::move(reached), std::move(held)});
  const bool going_on = sequence_.has_value();
  const double began = began_;
  sequence_ = recognise();
  if (!sequence_) return;
  began_ = going_on ? std::min(began, t - sequence_->length) : t - sequence_->length;
  sequence_->length = t - began_;
}

void AccumulationWatch::forget() {
  shocks_.clear();
  sequence_.reset();
}

double AccumulationWatch::last() const {
  return shocks_.empty() ? -std::numeric_limits<double>::infinity() : shocks_.back().t;
}

std::vector<std::size_t> AccumulationWatch::latest() const {
  std::vector<std::size_t> found;
  for (std::size_t k = shocks_.size() < 2 ? 0 : shocks_.size() - 2; k < shocks_.size(); ++k)
    found.insert(found.end(), shocks_[k].reached.begin(), shocks_[k].reached.end());
  return found;
}

std::vector<std::size_t> AccumulationWatch::since(std::size_t contact) const {
  std::vector<std::size_t> found;
  for (auto shock = shocks_.rbegin(); shock != shocks_.rend(); ++shock) {
    found.insert(found.end(), shock->reached.begin(), shock->reached.end());
    if (std::find(shock->reached.begin(), shock->reached.end(), contact) != shock->reached.end()) break;
  }
  return found;
}

std::optional<AccumulationWatch::Continuation> AccumulationWatch::continued_by(
    std::size_t contact, double landing, double now, const std::vector<std::size_t>& held) const {
  const auto shock = [&](std::size_t back) -> const Shock& { return shocks_[shocks_.size() - 1 - back]; };
  const auto strikes = [&](std::size_t back) {
    const std::vector<std::size_t>& reached = shock(back).reached;
    return std::find(reached.begin(), reached.end(), contact) != reached.end();
  };
  std::size_t period = 1;
  while (2 * period <= shocks_.size() && period <= longest_cycle && !strikes(period - 1)) ++period;
  if (period < 2 || period > longest_cycle || 2 * period > shocks_.size()) return std::nullopt;
  for (std::size_t k = 0; k < period; ++k)
    if (shock(k).reached != shock(k + period).reached) return std::nullopt;
  const double d1 = landing - shock(period - 1).t, d2 = shock(period - 1).t - shock(2 * period - 1).t;
  if (!(landing > now && d1 < d2)) return std::nullopt;
  const double r = d1 / d2, later = d1 * r / (1 - r), whole = landing - now + later;
  Continuation made{landing + later, {{(landing - now) / whole, held}}};
  const double share = later / (d1 * whole);
  made.phases.push_back({share * (landing - shock(0).t), held});
  for (std::size_t k = 0; k + 1 < period; ++k)
    made.phases.push_back({share * (shock(k).t - shock(k + 1).t), shock(k).held});
  return made;
}

std::optional<AccumulationWatch::Sequence> AccumulationWatch::recognise() const {
  const std::size_t count = shocks_.size();
  for (std::size_t period = 1; period <= longest_cycle && 3 * period < count; ++period) {
    const auto shock = [&](std::size_t back) -> const Shock& { return shocks_[count - 1 - back]; };
    bool repeats = true;
    for (std::size_t k = 0; k < 2 * period && repeats; ++k)
      repeats = shock(k).reached == shock(k + period).reached;
    // Shocks of a single condition have period 1, not a longer cycle of alternating factors.
    bool alike = true;
    for (std::size_t k = 1; k < period && alike; ++k) alike = shock(k).reached == shock(0).reached;
    if (!repeats || (period > 1 && alike)) continue;
    const double d1 = shock(0).t - shock(period).t;
    const double d2 = shock(period).t - shock(2 * period).t;
    const double d3 = shock(2 * period).t - shock(3 * period).t;
    if (!(d1 > 0 && d2 > d1 && d3 > d2)) continue;
    const double r1 = d1 / d2, r2 = d2 / d3;
    // Ratios that still drift towards 1 belong to sequences that end after finitely many shocks.
    if (std::abs(r1 - r2) > 0.3 * (1 - std::max(r1, r2))) continue;
    Sequence found;
    found.gap = gap_;
    found.tolerance = std::max(tolerance_, finest_limit);
    found.remaining = d1 * r1 / (1 - r1);
    found.limit = shock(0).t + found.remaining;
    std::set<std::size_t> all;
    for (std::size_t k = 0; k < period; ++k) {
      all.insert(shock(k).reached.begin(), shock(k).reached.end());
      found.cycle.push_back({(shock(k).t - shock(k + 1).t) / d1, shock(k).held});
    }
    found.conditions.assign(all.begin(), all.end());
    if (all.size() > 1) found.uncertainty = std::abs(d1 + found.remaining - d2 * r2 / (1 - r2));
    found.length = d1 + d2 + d3;
    return found;
  }
  return std::nullopt;
}

}  // namespace zwang
