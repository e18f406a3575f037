#include "python/binding/job.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "host/platform/child_process.h"

namespace zwang::python {

namespace nb = nanobind;

namespace {

struct Abandoned {
  std::mutex guard;
  std::vector<std::thread> threads;
  // A job may be released after the interpreter's last call of finish_abandoned().
  ~Abandoned() {
    for (std::thread& thread : threads) thread.join();
  }
};

Abandoned& abandoned() {
  static Abandoned one;
  return one;
}

}  // namespace

void JobState::check() const {
  if (stop_) throw Interrupted(SIGINT);
}

void JobState::show(const RunProgress& progress) {
  const std::scoped_lock lock(guard_);
  progress_ = progress;
}

void JobState::note(const std::string& text) {
  const std::scoped_lock lock(guard_);
  notes_.push_back(text);
}

Job::Job(std::function<void(JobState&)> work) : state_(std::make_shared<JobState>()) {
  thread_ = std::thread([state = state_, work = std::move(work)]() mutable {
    try {
      work(*state);
    } catch (...) {
      state->error_ = std::current_exception();
    }
    work = nullptr;  // frees what the work holds before anyone is told that it has ended
    const std::scoped_lock lock(state->guard_);
    state->finished_ = true;
    state->ended_.notify_all();
  });
}

Job::~Job() {
  if (!thread_.joinable()) return;
  if (wait(0)) {
    thread_.join();
    return;
  }
  stop();
  const std::scoped_lock lock(abandoned().guard);
  abandoned().threads.push_back(std::move(thread_));
}

bool Job::wait(double seconds) const {
  std::unique_lock lock(state_->guard_);
  return state_->ended_.wait_for(lock, std::chrono::duration<double>(seconds),
                                 [this] { return state_->finished_; });
}

RunProgress Job::progress() const {
  const std::scoped_lock lock(state_->guard_);
  return state_->progress_;
}

std::vector<std::string> Job::take_notes() {
  const std::scoped_lock lock(state_->guard_);
  return std::exchange(state_->notes_, {});
}

std::map<std::string, std::string> Job::finish() {
  if (thread_.joinable()) thread_.join();
  if (state_->error_) std::rethrow_exception(std::exchange(state_->error_, nullptr));
  return std::move(state_->texts);
}

void finish_abandoned() {
  std::vector<std::thread> left;
  {
    const std::scoped_lock lock(abandoned().guard);
    left = std::exchange(abandoned().threads, {});
  }
  for (std::thread& thread : left) thread.join();
}

void bind_job(nb::module_& module) {
  nb::class_<Job>(module, "Job")
      .def("wait", &Job::wait, nb::arg("seconds"), nb::call_guard<nb::gil_scoped_release>())
      .def("stop", &Job::stop)
      .def("progress",
           [](const Job& job) {
             const RunProgress now = job.progress();
             return nb::make_tuple(now.done, now.of, now.failed, now.seconds);
           })
      .def("take_notes", &Job::take_notes)
      .def("finish", [](Job& job) {
        std::map<std::string, std::string> texts;
        {
          const nb::gil_scoped_release released;
          texts = job.finish();
        }
        return texts;
      });
  module.def("finish_abandoned", &finish_abandoned, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace zwang::python
