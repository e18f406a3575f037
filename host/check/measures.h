// Reductions of the reference, combined from the segments between its restarts. Because every segment starts
// from the backend's state, chaotic divergence does not enter: the result is the reference's value of the
// reductions along the backend's own motion.
#pragma once

#include "host/check/events.h"
#include "host/check/findings.h"
#include "host/check/reference_pair.h"
#include "kernels/base/layout.h"
#include "src/system/system.h"

namespace zwang {

class StitchedReductions {
 public:
  StitchedReductions(const System& system, double accumulation_gap);

  // Adds one segment; `decided`: both reference runs have the same events. The reductions of a pair that was
  // given up cover only part of its segment.
  void add(const ReferencePair& pair, double duration, bool decided);
  // Events left out of the comparison permit counts to differ by their number. During the last part of a
  // burst a condition may be closed in one run and open in the other, which integrals may depend on.
  void add_allowance(const Bursts& bursts) { bursts_.add(bursts); }
  // Sizes of the integrands, by reduction.
  void set_sizes(std::vector<double> sizes) { sizes_ = std::move(sizes); }

  struct Verdict {
    double reference = 0;
    double spread = 0;     // between the two reference runs
    double allowance = 0;  // for the tails of bursts
    bool decided = true;
  };
  Verdict verdict(std::size_t reduction) const;
  // Those over the rows of records, by reduction (record_reductions.h); without them they are undecided.
  void set_records(std::vector<Verdict> verdicts) { records_ = std::move(verdicts); }

 private:
  struct Part {
    std::vector<double> tight, perturbed;  // by reduction
    double duration;
    bool complete;
  };
  bool covered(Reduction reduction) const;
  LeftOut left_out(EventKind kind, const ReductionFormula& formula) const;
  double allowance(const ReductionFormula& formula) const;
  double integral_allowance(std::size_t reduction) const;

  const System* system_;
  double accumulation_gap_;
  std::vector<Part> parts_;
  std::vector<double> sizes_;
  std::vector<Verdict> records_;
  Bursts bursts_;
  bool decided_ = true;
};

}  // namespace zwang
