#include "python/binding/errors.h"

#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "host/command/bad_verdict.h"
#include "host/platform/child_process.h"
#include "host/platform/machine_error.h"
#include "src/base/error.h"

namespace zwang::python {

namespace nb = nanobind;

namespace {

// Texts may contain names of files, which need not be UTF-8.
nb::object text_object(const std::string& text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::object or_none(const std::string& text) { return text.empty() ? nb::none() : text_object(text); }
nb::object or_none(int number) { return number > 0 ? nb::object(nb::int_(number)) : nb::none(); }

// Raises an exception of zwang/_errors.py, whose constructor takes the text and a list of problems.
void raise(const char* type, const std::vector<Problem>& problems) {
  nb::list list;
  std::string text;
  for (const Problem& problem : problems) {
    text += (text.empty() ? "" : "\n") + problem.text();
    nb::dict one;
    one["file"] = or_none(problem.where.file);
    one["line"] = or_none(problem.where.line);
    one["column"] = or_none(problem.where.column);
    one["message"] = text_object(problem.message);
    one["found"] = or_none(problem.found);
    one["expected"] = or_none(problem.expected);
    one["hint"] = or_none(problem.hint);
    list.append(one);
  }
  try {
    const nb::object made = nb::module_::import_("zwang._errors").attr(type)(text_object(text), list);
    PyErr_SetObject(made.type().ptr(), made.ptr());
  } catch (nb::python_error& failed) {
    failed.restore();
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise("StudyError", error.problems());
  } catch (const BadVerdict& verdict) {
    raise("MembersFailed", {verdict.problem()});
  } catch (const MachineError& error) {
    raise("MachineError", {error.problem()});
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError,
                    "out of memory: no free memory on this machine or within its limits (ulimit -v) for a "
                    "batch of members and for the statistics");
  } catch (const std::system_error& error) {
    raise("MachineError", {{.message = "the operating system refused a request",
                            .found = error.what(),
                            .expected = "the requested threads and memory",
                            .hint = "use fewer threads"}});
  }
}

}  // namespace

void translate_errors(nb::module_&) { nb::register_exception_translator(&translate); }

}  // namespace zwang::python
