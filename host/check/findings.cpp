// Severity of differences and the list of worst cases.
#include "host/check/findings.h"

#include <algorithm>

namespace zwang {

double CheckCase::difference() const {
  if (!backend_word.empty()) return backend_word == reference_word ? 0 : std::nan("");
  if (backend == reference) return 0;  // infinities included
  if (std::isnan(backend) && std::isnan(reference)) return 0;
  return std::abs(backend - reference);
}

double CheckCase::severity() const {
  const double apart = difference();
  if (apart == 0 || allowed == std::numeric_limits<double>::infinity()) return 0;
  if (std::isnan(apart) || !(allowed > 0)) return std::numeric_limits<double>::infinity();
  return apart / allowed;
}

const char* undecided_cause_name(UndecidedCause cause) {
  switch (cause) {
    case UndecidedCause::events:
      return "events";
    case UndecidedCause::status:
      return "status";
    case UndecidedCause::budget:
      return "budget";
    case UndecidedCause::chaos:
      return "chaos";
  }
  return "";
}

double spread(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double apart = std::abs(a - b);
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

void Findings::add(const CheckCase& one) {
  ++comparisons_;
  if (one.severity() > 1) ++disagreements_;
  insert_worst(one);
}

void Findings::insert_worst(const CheckCase& one) {
  if (one.severity() == 0 || (worst_.size() == worst_kept && one.severity() <= worst_.back().severity()))
    return;
  const auto same = std::find_if(worst_.begin(), worst_.end(), [&](const CheckCase& other) {
    return other.member == one.member && other.quantity == one.quantity;
  });
  if (same != worst_.end()) {
    if (same->severity() >= one.severity()) return;  // of equal cases the first stays
    worst_.erase(same);
  }
  const auto place = std::find_if(worst_.begin(), worst_.end(),
                                  [&](const CheckCase& other) { return other.severity() < one.severity(); });
  worst_.insert(place, one);
  if (worst_.size() > worst_kept) worst_.pop_back();
}

void Findings::merge(const Findings& other) {
  comparisons_ += other.comparisons_;
  disagreements_ += other.disagreements_;
  for (const CheckCase& one : other.worst_) insert_worst(one);
}

QuantityNames::QuantityNames(const System& system)
    : positions(system.coordinates), auxiliaries(system.auxiliaries) {
  for (std::size_t i = 0; i < system.size(); ++i) velocities.push_back(system.velocity_name(i));
  for (const Constraint& constraint : system.constraints) {
    multipliers.push_back("multiplier(" + constraint.name + ")");
    closed.push_back("closed(" + constraint.name + ")");
    impulses.push_back("impulse(" + constraint.name + ")");
  }
  for (const NamedExpr& observable : system.observables)
    observables.push_back("observable " + observable.name);
  for (const Measure& measure : system.measures) measures.push_back("measure " + measure.name);
}

}  // namespace zwang
