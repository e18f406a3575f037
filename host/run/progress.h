// Shows the progress of a run: a bar on a terminal, otherwise a line every few seconds, or nothing if silent.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "host/run/run.h"

namespace zwang {

// One line of at most `width` characters; parts that do not fit are omitted.
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
  // A bar if `stream` is a terminal, otherwise lines.
  ProgressDisplay(std::FILE* stream, bool silent);
  ProgressDisplay(std::FILE* stream, Kind kind) : stream_(stream), kind_(kind) {}
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  ~ProgressDisplay() { clear(); }

  void show(const RunProgress& progress);
  // Removes the bar, so that later output begins on an empty line.
  void clear();
  Kind kind() const { return kind_; }
  std::FILE* stream() const { return stream_; }

 private:
  std::FILE* stream_;
  Kind kind_;
  bool bar_shown_ = false;
  double shown_at_ = 0;  // in seconds of the run
};

// Prints a line if this object still exists after a second. For work of unknown length, such as compilation.
class DelayedLine {
 public:
  DelayedLine(const ProgressDisplay& display, std::string text);
  DelayedLine(std::FILE* stream, std::string text, std::chrono::milliseconds delay);
  DelayedLine(const DelayedLine&) = delete;
  DelayedLine& operator=(const DelayedLine&) = delete;
  ~DelayedLine() = default;  // the thread is stopped at once

 private:
  std::mutex guard_;
  std::condition_variable_any never_;
  std::jthread thread_;
};

}  // namespace zwang
