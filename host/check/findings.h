// What a check compared, and the worst of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/system/system.h"

namespace zwang {

// One number two ways. NaN: the one side has no such number (an event that is not there, a missing measure).
struct CheckCase {
  unsigned long long member = 0;
  double t = 0;
  std::string quantity;  // by the user's name
  double backend = 0, reference = 0;
  double allowed = 0;                                  // largest difference that still agrees
  std::string backend_word = {}, reference_word = {};  // instead of the numbers: a status

  double difference() const;
  double severity() const;  // difference over allowed: above 1 they disagree
};

// How far two accounts of one number are apart; infinitely when only one of them has it.
double spread(double a, double b);

// The worst cases of many comparisons, one per member and quantity.
class Findings {
 public:
  static constexpr std::size_t kept = 10;

  void judge(const CheckCase& one);
  void merge(const Findings& other);

  std::size_t comparisons() const { return comparisons_; }
  std::size_t disagreements() const { return disagreements_; }
  double worst_severity() const { return worst_.empty() ? 0 : worst_.front().severity(); }
  const std::vector<CheckCase>& worst() const { return worst_; }  // most severe first

 private:
  void keep(const CheckCase& one);

  std::size_t comparisons_ = 0, disagreements_ = 0;
  std::vector<CheckCase> worst_;
};

// The study's tolerance as a length: what the integrator allows one step to be off in a quantity of a given size.
struct Tolerance {
  explicit Tolerance(const IntegratorSettings& settings)
      : atol(settings.within_precision().atol), rtol(std::max(settings.within_precision().rtol, rounding)) {}
  double unit(double size) const { return atol + rtol * std::abs(size); }

  static constexpr double rounding =
      1e-13;  // a few hundred operations: below this no tolerance means anything
  double atol, rtol;
};

// How the quantities of a study are called in the table of cases.
struct QuantityNames {
  explicit QuantityNames(const System& system);
  std::vector<std::string> positions, velocities, auxiliaries, multipliers, closed, impulses, observables,
      measures;
};

}  // namespace zwang
