#include "python/binding/bind_run.h"

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "host/backend/backend.h"
#include "host/command/bad_verdict.h"
#include "host/files/load_finished_run.h"
#include "host/files/result_folder.h"
#include "host/files/run_identity.h"
#include "host/inspect/failure_cause.h"
#include "host/report/report_page.h"
#include "host/results/run_estimate.h"
#include "host/results/run_files.h"
#include "host/run/all_failed.h"
#include "host/run/backend_factory.h"
#include "host/run/progress.h"
#include "host/run/run.h"
#include "host/sample/check_starts.h"
#include "host/sample/csv_inputs.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"
#include "python/binding/job.h"
#include "python/binding/study_handle.h"

namespace zwang::python {

namespace nb = nanobind;

namespace {

struct RunRequest {
  std::string folder;
  bool overwrite = false, resume = false;
  std::string backend = "auto";
  unsigned threads = 0;
  std::vector<int> devices = {0};
  long long batch = 0;
  long long statistics_memory = 512;  // MiB
  double checkpoint = 10;             // seconds
  double max_failed = 0.05;
};

// The hint of a study whose members all fail.
std::string look_at(long long member) {
  return fmt::format("zwang.replay(study, member={}) shows one; max_failed=1 gives the results nevertheless",
                     member);
}

RunOptions options_of(const RunRequest& request, JobState& state) {
  RunOptions made;
  made.stop_if_all_fail = request.max_failed < 1;
  made.threads = request.threads;
  made.batch = request.batch;
  made.statistics_memory = static_cast<std::size_t>(request.statistics_memory) << 20;
  made.progress = [&state](const RunProgress& progress) {
    state.show(progress);
    state.check();
  };
  return made;
}

// As `zwang run` does it (host/command/command_run.cpp), without its questions and its table.
void run_study(const Study& study, const RunRequest& request, JobState& state) {
  ResultFolder folder(request.folder, {.overwrite = request.overwrite,
                                       .resume = request.resume,
                                       .study = study.path,
                                       .inputs = CsvInputs(study).paths()});
  if (folder.complete()) {
    read_finished(folder.path(), study, {});
    state.note("the run in " + folder.path().string() + " is complete; nothing to do");
    return;
  }
  require_consistent_starts(study, 0, study.ensemble.members, request.threads);
  const std::unique_ptr<Backend> backend = make_backend(
      request.backend, study,
      {.threads = request.threads, .devices = request.devices, .note = [&](const std::string& text) {
         state.note(text);
       }});
  state.check();
  const RunFilesOptions files{.checkpoints = {.seconds = request.checkpoint}, .resumed = [&](long long done) {
                                state.note(fmt::format("resumed: {} members were already done", done));
                              }};
  try {
    const FiledRun made = run_into(
        folder, study, *backend, options_of(request, state), [&] { state.check(); }, files);
    const RunTally& tally = made.result.tally;
    if (tally.members > 0 && tally.failed == tally.members && request.max_failed < 1)
      throw BadVerdict(all_failed_problem(
          study, tally, fmt::format("all {} members fail", count_text(tally.members)), look_at));
  } catch (const AllFailed& failed) {
    throw BadVerdict(all_failed_problem(study, failed.tally(), stopped_early_text(failed.tally()), look_at));
  }
}

std::unique_ptr<Job> start_run(const SharedStudy& study, const RunRequest& request) {
  return std::make_unique<Job>(
      [study, request](JobState& state) { run_study(study->study, request, state); });
}

// Writes complete result files, as a run writes them: all of them or none.
void save_files(const std::string& folder, const std::vector<std::pair<std::string, nb::bytes>>& files,
                bool overwrite) {
  ResultFolder target(folder, {.overwrite = overwrite});
  for (const auto& [name, bytes] : files) target.write(name, {bytes.c_str(), bytes.size()});
  target.publish();
}

}  // namespace

void bind_run(nb::module_& module) {
  nb::class_<RunRequest>(module, "RunRequest")
      .def(nb::init<>())
      .def_rw("folder", &RunRequest::folder)
      .def_rw("overwrite", &RunRequest::overwrite)
      .def_rw("resume", &RunRequest::resume)
      .def_rw("backend", &RunRequest::backend)
      .def_rw("threads", &RunRequest::threads)
      .def_rw("devices", &RunRequest::devices)
      .def_rw("batch", &RunRequest::batch)
      .def_rw("statistics_memory", &RunRequest::statistics_memory)
      .def_rw("checkpoint", &RunRequest::checkpoint)
      .def_rw("max_failed", &RunRequest::max_failed);
  module.def("start_run", &start_run);
  module.def("estimated_bytes", [](const SharedStudy& study) {
    return estimated_bytes(study->study, study->study.ensemble.members);
  });
  module.def("save_files", &save_files);
  module.def("result_names", &ResultFolder::result_names);
  module.def(
      "report_page", [](const std::string& folder) { return report_page(folder); },
      nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "failure_cause",
      [](const SharedStudy& study, long long member) { return failure_cause(study->study, member); },
      nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace zwang::python
