// Measures put together from the stretches between restarts: what the reference says the measures of the backend's own
// motion are. Chaos has no say in them, since every stretch begins where the backend was.
#pragma once

#include "host/check/events.h"
#include "host/check/findings.h"
#include "host/check/reference_pair.h"
#include "kernels/base/layout.h"
#include "src/system/system.h"

namespace zwang {

class StitchedMeasures {
 public:
  StitchedMeasures(const System& system, double accumulation_gap);

  // One stretch; `decided`: both accounts tell the same events.
  void add(const Accounts& accounts, double duration, bool decided);
  // Events left out of the comparison excuse counts that differ by them; and during the last reach of a burst a
  // condition is closed for the one and open for the other, which integrals may see.
  void excuse(const Bursts& bursts) { bursts_.add(bursts); }
  // How large the integrands have been (by measure).
  void set_sizes(std::vector<double> sizes) { sizes_ = std::move(sizes); }

  struct Verdict {
    double reference = 0;
    double spread = 0;   // between the two accounts
    double excused = 0;  // by the ends of bursts
    bool decided = true;
  };
  Verdict verdict(std::size_t measure) const;

 private:
  struct Part {
    std::vector<double> tight, nudged;  // by measure
    double duration;
  };
  LeftOut left_out(EventKind kind, const Measure& measure) const;
  double excused(const Measure& measure) const;
  double excused_integral(std::size_t measure) const;

  const System* system_;
  double accumulation_gap_;
  std::vector<Part> parts_;
  std::vector<double> sizes_;
  Bursts bursts_;
  bool decided_ = true;
};

}  // namespace zwang
