// Tells what a long run will cost before most of it is done, and asks before a very long or very large one.
#pragma once

#include <string>

#include "host/results/run_estimate.h"
#include "host/run/run.h"
#include "host/study/study.h"

namespace zwang {

class RunConfirmation {
 public:
  // yes: --yes was given. quiet: no notes.
  RunConfirmation(bool yes, bool quiet) : yes_(yes), quiet_(quiet) {}

  // Before the run: asks if its files take more than 10 GB. Throws Error if the answer is no, or if nobody
  // can answer.
  void before(const Study& study, long long members);
  // After every batch: once the speed is known, prints the time if it is more than a minute and asks if it is
  // more than an hour. `clear` removes the progress bar before something is printed.
  void during(const RunProgress& progress, const std::function<void()>& clear);
  // Whether the user has agreed, by --yes or by an answer.
  bool agreed() const { return yes_; }

 private:
  void ask(const std::string& cost);

  bool yes_, quiet_;
  double bytes_ = 0;
  TimeEstimate time_;
};

}  // namespace zwang
