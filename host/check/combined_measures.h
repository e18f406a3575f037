// Measures of the reference with their tolerances, from its reductions and theirs.
#pragma once

#include <vector>

#include "host/check/findings.h"
#include "host/check/measures.h"
#include "src/reference/measures.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

class CombinedMeasures {
 public:
  // All must outlive this object.
  CombinedMeasures(const System& system, const Equations& equations, const StitchedReductions& reductions,
                   const Tolerance& tolerance);

  struct Verdict {
    double reference = 0;
    double tolerance = 0;
    bool decided = true;
  };
  // `value`: the backend's, whose size counts for the tolerance.
  Verdict verdict(std::size_t measure, double value) const;

 private:
  double unit_of(double a, double b) const;
  double combined(const std::vector<double>& reductions, std::size_t measure) const;

  const System& system_;
  const Tolerance& tolerance_;
  Measures measures_;
  std::vector<StitchedReductions::Verdict> verdicts_;  // by reduction
  std::vector<double> values_, tolerances_;            // by reduction
};

}  // namespace zwang
