// Seconds that a process spends in its stages, for `run --timings`: where the time beside the integration
// goes.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "host/platform/stopwatch.h"

namespace zwang {

// One table per process. Stages of several threads are summed, so that the sum of all stages may exceed the
// wall time; a stage may contain others, which are named after it.
class StageTimes {
 public:
  static StageTimes& get();

  // Off by default. While on, devices are synchronised at the end of each stage, which costs some time.
  void enable() { on_ = true; }
  bool on() const { return on_; }
  void add(const std::string& stage, double seconds);
  std::string table() const;  // one line per stage, in alphabetical order

 private:
  struct Sum {
    long long calls = 0;
    double seconds = 0;
  };
  std::atomic<bool> on_ = false;
  mutable std::mutex guard_;
  std::map<std::string, Sum> stages_;
  Stopwatch all_;
};

// Adds the time from its construction to its end to a stage.
class StageTimer {
 public:
  explicit StageTimer(const char* stage) : stage_(stage) {}
  ~StageTimer() {
    if (StageTimes::get().on()) StageTimes::get().add(stage_, watch_.seconds());
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  const char* stage_;
  Stopwatch watch_;
};

}  // namespace zwang
