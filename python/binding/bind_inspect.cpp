#include "python/binding/bind_inspect.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/backend/backend.h"
#include "host/check/check.h"
#include "host/check/write_check.h"
#include "host/inspect/bench.h"
#include "host/inspect/inspect_member.h"
#include "host/inspect/write_explain.h"
#include "host/inspect/write_modes.h"
#include "host/inspect/write_replay.h"
#include "host/run/backend_factory.h"
#include "host/study/study.h"
#include "python/binding/job.h"
#include "python/binding/study_handle.h"
#include "src/analysis/modes.h"

namespace zwang::python {

namespace nb = nanobind;

namespace {

using StartedJob = std::unique_ptr<Job>;

TakeNote notes_of(JobState& state) {
  return [&state](const std::string& text) { state.note(text); };
}

StartedJob start_replay(const SharedStudy& study, unsigned long long member, const std::string& backend,
                        bool every_step) {
  return std::make_unique<Job>([=](JobState& state) {
    const Study& own = study->study;
    note_foreign_member(own, member, notes_of(state));
    std::unique_ptr<Backend> made;
    if (backend != "reference") made = make_backend(backend, own, {.threads = 1, .note = notes_of(state)});
    const MemberMotion motion = member_motion(own, member, made.get(), every_step);
    const Replay result{own, motion.member, motion.trajectory, motion.backend};
    state.texts["json"] = replay_json(result);
    state.texts["text"] = replay_table(result);
    state.texts["csv"] = replay_csv(result);
  });
}

StartedJob start_explain(const SharedStudy& study, unsigned long long member, double at) {
  return std::make_unique<Job>([=](JobState& state) {
    const Study& own = study->study;
    note_foreign_member(own, member, notes_of(state));
    const ExplainedState found = explain_state(own, member, at, notes_of(state));
    state.texts["json"] = explain_json(own, found.member, found.explanation);
    state.texts["text"] = explain_text(own, found.member, found.explanation);
    state.texts["latex"] = explain_latex(own);
  });
}

StartedJob start_modes(const SharedStudy& study, std::optional<unsigned long long> member,
                       const std::vector<std::pair<std::string, double>>& near) {
  return std::make_unique<Job>([=](JobState& state) {
    const Modes found = modes_near(study->study, member, near);
    state.texts["json"] = modes_json(study->study, member, found);
    state.texts["text"] = modes_text(study->study, member, found);
  });
}

struct CheckRequest {
  std::string backend = "auto";
  long long sample = 64;
  unsigned threads = 0;
  std::vector<int> devices = {0};
  bool reverse = false;
  double budget = 1;
};

StartedJob start_check(const SharedStudy& study, const CheckRequest& request) {
  return std::make_unique<Job>([=](JobState& state) {
    const Study& own = study->study;
    const std::unique_ptr<Backend> backend =
        make_backend(request.backend, own,
                     {.threads = request.threads, .devices = request.devices, .note = notes_of(state)});
    const CheckOptions how{.sample = static_cast<std::size_t>(request.sample),
                           .threads = request.threads,
                           .budget = request.budget,
                           .progress = [&](const CheckProgress& progress) {
                             state.show({.done = static_cast<long long>(progress.done),
                                         .of = static_cast<long long>(progress.of)});
                             state.check();
                           }};
    const CheckReport report =
        request.reverse ? check_reverse(own, *backend, how) : check(own, *backend, how);
    state.texts["json"] = check_json(own, report);
    state.texts["text"] = check_table(own, report);
  });
}

StartedJob start_bench(const SharedStudy& study, const std::string& backend, double seconds,
                       long long members, unsigned threads, const std::vector<int>& devices) {
  return std::make_unique<Job>([=](JobState& state) {
    const BenchReport report = bench(study->study, {.backend = backend,
                                                    .seconds = seconds,
                                                    .members = members,
                                                    .threads = threads,
                                                    .devices = devices,
                                                    .note = [&](const std::string& text) {
                                                      state.note(text);
                                                      state.check();
                                                    }});
    state.texts["json"] = bench_json(report);
    state.texts["text"] = bench_table(report);
  });
}

}  // namespace

void bind_inspect(nb::module_& module) {
  nb::class_<CheckRequest>(module, "CheckRequest")
      .def(nb::init<>())
      .def_rw("backend", &CheckRequest::backend)
      .def_rw("sample", &CheckRequest::sample)
      .def_rw("threads", &CheckRequest::threads)
      .def_rw("devices", &CheckRequest::devices)
      .def_rw("reverse", &CheckRequest::reverse)
      .def_rw("budget", &CheckRequest::budget);
  module.def("start_replay", &start_replay);
  module.def("start_explain", &start_explain);
  module.def("start_modes", &start_modes, nb::arg("study"), nb::arg("member").none(), nb::arg("near"));
  module.def("start_check", &start_check);
  module.def("start_bench", &start_bench);
}

}  // namespace zwang::python
