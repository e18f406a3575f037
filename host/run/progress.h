// How far a run is: a bar on a terminal, a line now and then elsewhere, nothing where silence was asked for.
#pragma once

#include <cstdio>
#include <string>

#include "host/run/run.h"

namespace zwang {

// One line, at most `width` characters: what does not fit is left out, the least important first.
std::string progress_bar(const RunProgress& progress, std::size_t width);
// One line for a log.
std::string progress_line(const RunProgress& progress);

// "12 s", "3 min 20 s", "2 h 05 min"
std::string duration_text(double seconds);
// 1234567 as "1 234 567"
std::string count_text(long long count);

class ProgressDisplay {
 public:
  enum class Kind { silent, lines, bar };
  // stream: a bar where it is a terminal, lines where not.
  ProgressDisplay(std::FILE* stream, bool silent);
  ProgressDisplay(std::FILE* stream, Kind kind) : stream_(stream), kind_(kind) {}
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  ~ProgressDisplay() { clear(); }

  void show(const RunProgress& progress);
  // Takes the bar away, so that what follows begins on an empty line.
  void clear();

 private:
  std::FILE* stream_;
  Kind kind_;
  bool bar_shown_ = false;
  double shown_at_ = 0;  // seconds of the run
};

}  // namespace zwang
