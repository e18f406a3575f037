// Work on a thread of its own. Python polls it: between two polls the interpreter handles signals, so Ctrl-C
// raises KeyboardInterrupt at once, also while a study is compiled or a long batch is integrated. The work
// never needs the interpreter's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/run/run.h"

namespace zwang::python {

// What the work and the interpreter share.
class JobState {
 public:
  // For the work. check() throws Interrupted once the job is to stop.
  void check() const;
  void show(const RunProgress& progress);
  void note(const std::string& text);
  std::map<std::string, std::string> texts;  // results; read when the work has finished

 private:
  friend class Job;
  mutable std::mutex guard_;
  std::condition_variable ended_;
  std::atomic<bool> stop_{false};
  bool finished_ = false;
  std::exception_ptr error_;
  RunProgress progress_;
  std::vector<std::string> notes_;
};

class Job {
 public:
  explicit Job(std::function<void(JobState&)> work);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  // Work that has not ended is asked to stop and left to its thread, which finish_abandoned() joins.
  ~Job();

  // Whether the work has ended, after at most so many seconds.
  bool wait(double seconds) const;
  void stop() { state_->stop_ = true; }
  RunProgress progress() const;
  std::vector<std::string> take_notes();
  // Once the work has ended: its results. Rethrows its exception.
  std::map<std::string, std::string> finish();

 private:
  std::shared_ptr<JobState> state_;
  std::thread thread_;
};

// Waits for the work that was left: to be called before the interpreter ends.
void finish_abandoned();

void bind_job(nanobind::module_& module);

}  // namespace zwang::python
