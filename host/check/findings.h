// The comparisons of a check: their number, the disagreements and the worst cases.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/system/system.h"

namespace zwang {

// One quantity as computed by the backend and by the reference. NaN: one of them has no such number (an event
// that is missing, a measure that never occurred).
struct CheckCase {
  unsigned long long member = 0;
  double t = 0;
  std::string quantity;  // as named in the study
  double backend = 0, reference = 0;
  double allowed = 0;                                  // largest difference that counts as agreement
  std::string backend_word = {}, reference_word = {};  // a status, in place of numbers

  double difference() const;
  double severity() const;  // difference / allowed; above 1: disagreement
};

// If a perturbation grows to this fraction of a number's size, a comparison is undecided.
constexpr double sensitivity_limit = 1e-2;

// Why a stretch of motion was not compared.
enum class UndecidedCause {
  events,  // the two reference runs have different events
  status,  // the two reference runs end differently
  budget,  // a reference run used up its budget of work
  chaos,   // the motion depends too much on its start
};

const char* undecided_cause_name(UndecidedCause cause);

// A stretch of one member's motion about which nothing could be concluded.
struct UndecidedStretch {
  unsigned long long member = 0;
  double from = 0, until = 0;
  UndecidedCause cause = UndecidedCause::events;
  std::string reason;
};

// Distance of two values of one quantity; infinite if only one of them is defined.
double spread(double a, double b);

// Counts comparisons and keeps the worst cases, one per member and quantity.
class Findings {
 public:
  static constexpr std::size_t worst_kept = 10;

  void add(const CheckCase& one);
  void merge(const Findings& other);

  std::size_t comparisons() const { return comparisons_; }
  std::size_t disagreements() const { return disagreements_; }
  double worst_severity() const { return worst_.empty() ? 0 : worst_.front().severity(); }
  const std::vector<CheckCase>& worst() const { return worst_; }  // most severe first

 private:
  void insert_worst(const CheckCase& one);

  std::size_t comparisons_ = 0, disagreements_ = 0;
  std::vector<CheckCase> worst_;
};

// The study's tolerance as an absolute error: the error the integrator allows per step in a quantity of given
// size.
struct Tolerance {
  explicit Tolerance(const IntegratorSettings& settings)
      : atol(settings.within_precision().atol), rtol(std::max(settings.within_precision().rtol, rounding)) {}
  double unit(double size) const { return atol + rtol * std::abs(size); }

  static constexpr double rounding = 1e-13;  // a few hundred operations; a smaller tolerance has no meaning
  double atol, rtol;
};

// Names of the quantities of a study in the table of cases.
struct QuantityNames {
  explicit QuantityNames(const System& system);
  std::vector<std::string> positions, velocities, auxiliaries, multipliers, closed, impulses, observables,
      measures;
};

}  // namespace zwang
