// zwang._core: a thin binding of the library. The package zwang (python/zwang) is written on top of it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "host/backend/cuda/library.h"
#include "host/command/command_line.h"
#include "host/program/host_compiler.h"
#include "python/binding/bind_inspect.h"
#include "python/binding/bind_netcdf.h"
#include "python/binding/bind_run.h"
#include "python/binding/errors.h"
#include "python/binding/job.h"
#include "python/binding/study_handle.h"

namespace nb = nanobind;

namespace {

int command_line(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return zwang::command_line(static_cast<int>(words.size()), arguments.data());
}

}  // namespace

NB_MODULE(_core, module) {
  // Studies and results that live until the interpreter ends are no mistake of the user's.
  nb::set_leak_warnings(false);
  module.attr("version") = ZWANG_VERSION;
  zwang::python::translate_errors(module);
  zwang::python::bind_job(module);
  zwang::python::bind_study(module);
  zwang::python::bind_run(module);
  zwang::python::bind_inspect(module);
  zwang::python::bind_netcdf(module);
  module.def("command_line", &command_line, nb::call_guard<nb::gil_scoped_release>());
  module.def("search_nvrtc_in", &zwang::cuda::search_nvrtc_in);
  module.def("why_no_device", &zwang::cuda::why_no_device, nb::call_guard<nb::gil_scoped_release>());
  module.def("has_compiler", [] { return zwang::HostCompiler::find().has_value(); });
}
