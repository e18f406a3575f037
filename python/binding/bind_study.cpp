// Studies: reading, changing, writing.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "host/sample/csv_inputs.h"
#include "host/study/study.h"
#include "host/study_file/find_study.h"
#include "host/study_file/input_columns.h"
#include "host/study_file/load_study.h"
#include "host/study_file/study_notes.h"
#include "host/study_file/write_study.h"
#include "host/toml/document.h"
#include "host/toml/write_toml.h"
#include "python/binding/python_value.h"
#include "python/binding/study_handle.h"
#include "src/base/error.h"
#include "src/system/system.h"

namespace zwang::python {

namespace nb = nanobind;

namespace {

using Column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NamedColumns = std::vector<std::pair<std::string, Column>>;

std::vector<InputColumn> taken(const NamedColumns& columns) {
  std::vector<InputColumn> made;
  for (const auto& [name, values] : columns)
    made.push_back({name, std::vector<double>(values.data(), values.data() + values.size())});
  return made;
}

SharedStudy read(const std::string& text, const std::string& path, std::vector<std::string> overrides,
                 std::vector<InputColumn> columns) {
  auto made = std::make_shared<StudyHandle>();
  made->study = read_study(text, path, overrides, columns);
  require_known_parameters(made->study);
  made->text = text;
  made->path = path;
  made->overrides = std::move(overrides);
  made->columns = std::move(columns);
  return made;
}

SharedStudy load(const std::string& path) {
  auto made = std::make_shared<StudyHandle>();
  made->study = find_study(path, {});
  made->text = made->study.text;
  made->path = made->study.path;
  return made;
}

SharedStudy load_listed(const std::string& name) {
  return read(std::string(require_listed_study(name)), name, {}, {});
}

SharedStudy with_overrides(const SharedStudy& study, const std::vector<std::string>& assignments) {
  std::vector<std::string> overrides = study->overrides;
  overrides.insert(overrides.end(), assignments.begin(), assignments.end());
  return read(study->text, study->path, std::move(overrides), study->columns);
}

// Columns of the same name replace those that the study has.
SharedStudy with_columns(const SharedStudy& study, std::vector<InputColumn> columns) {
  for (const InputColumn& before : study->columns)
    if (std::none_of(columns.begin(), columns.end(),
                     [&](const InputColumn& column) { return column.name == before.name; }))
      columns.push_back(before);
  return read(study->text, study->path, study->overrides, std::move(columns));
}

// Two studies are equal if they are the same with all defaults written out and draw the same numbers from
// files.
bool are_equal(const Study& a, const Study& b) {
  const auto same_values = [](const ParameterRule& one, const ParameterRule& other) {
    const bool drawn = one.distribution.has_value() && other.distribution.has_value();
    return !drawn || one.distribution->file_values == other.distribution->file_values;
  };
  return study_as_run(a) == study_as_run(b) &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(),
                    same_values);
}

template <class List, class Name>
std::vector<std::string> names_of(const List& list, const Name& name) {
  std::vector<std::string> made;
  for (const auto& entry : list) made.push_back(name(entry));
  return made;
}

std::vector<std::string> drawn_names(const Study& study) {
  std::vector<std::string> made;
  for (const ParameterRule& rule : study.parameters)
    if (rule.drawn()) made.push_back(rule.name);
  return made;
}

std::vector<std::pair<std::string, nb::object>> column_arrays(const StudyHandle& handle) {
  std::vector<std::pair<std::string, nb::object>> made;
  for (const InputColumn& column : handle.columns) {
    // The array outlives the study: it has a copy of its own.
    auto* values = new std::vector<double>(column.values);
    const nb::capsule owner(values, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    made.emplace_back(column.name, nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(
                                       values->data(), {values->size()}, owner)));
  }
  return made;
}

void bind_names(nb::class_<StudyHandle>& handle) {
  handle
      .def_prop_ro("parameters",
                   [](const StudyHandle& one) {
                     return names_of(one.study.parameters,
                                     [](const ParameterRule& rule) { return rule.name; });
                   })
      .def_prop_ro("drawn", [](const StudyHandle& one) { return drawn_names(one.study); })
      .def_prop_ro("observables",
                   [](const StudyHandle& one) {
                     return names_of(one.study.system->observables,
                                     [](const auto& observable) { return observable.name; });
                   })
      .def_prop_ro("measures",
                   [](const StudyHandle& one) {
                     return names_of(one.study.system->measures,
                                     [](const auto& measure) { return measure.name; });
                   })
      .def_prop_ro("coordinates", [](const StudyHandle& one) { return one.study.system->coordinates; });
}

}  // namespace

void bind_study(nb::module_& module) {
  nb::class_<StudyHandle> handle(module, "StudyHandle");
  handle.def_ro("source", &StudyHandle::text)
      .def_ro("path", &StudyHandle::path)
      .def_ro("overrides", &StudyHandle::overrides)
      .def_prop_ro("columns", &column_arrays)
      .def_prop_ro("name", [](const StudyHandle& one) { return one.study.name; })
      .def_prop_ro("title", [](const StudyHandle& one) { return one.study.title; })
      .def_prop_ro("members", [](const StudyHandle& one) { return one.study.ensemble.members; })
      .def_prop_ro("seed", [](const StudyHandle& one) { return one.study.ensemble.seed; })
      .def_prop_ro("end", [](const StudyHandle& one) { return one.study.time.end; })
      .def_prop_ro("text", [](const StudyHandle& one) { return study_text(one.study); })
      .def_prop_ro("as_run", [](const StudyHandle& one) { return study_as_run(one.study); })
      .def_prop_ro("inputs_csv", [](const StudyHandle& one) { return CsvInputs(one.study).text(); })
      .def_prop_ro("notes", [](const StudyHandle& one) { return study_notes(one.study); });
  bind_names(handle);

  module.def("load", &load, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "read",
      [](const std::string& text, const std::string& path, std::vector<std::string> overrides,
         const NamedColumns& columns) {
        std::vector<InputColumn> own = taken(columns);
        const nb::gil_scoped_release released;
        return read(text, path, std::move(overrides), std::move(own));
      },
      nb::arg("text"), nb::arg("path"), nb::arg("overrides"), nb::arg("columns"));
  module.def("with_overrides", &with_overrides, nb::call_guard<nb::gil_scoped_release>());
  module.def("with_columns", [](const SharedStudy& study, const NamedColumns& columns) {
    std::vector<InputColumn> own = taken(columns);
    const nb::gil_scoped_release released;
    return with_columns(study, std::move(own));
  });
  module.def("equal",
             [](const SharedStudy& a, const SharedStudy& b) { return are_equal(a->study, b->study); });
  module.def("listed_names", &listed_names);
  module.def("load_listed", &load_listed, nb::call_guard<nb::gil_scoped_release>());
  // A mistake that the package finds gets the text and the type of those that the library finds.
  module.def(
      "refuse",
      [](const std::string& where, const std::string& message, const std::string& found,
         const std::string& expected, const std::string& hint) {
        throw Error(
            {.where = {where, 0, 0}, .message = message, .found = found, .expected = expected, .hint = hint});
      },
      nb::arg("where"), nb::arg("message"), nb::arg("found"), nb::arg("expected"), nb::arg("hint") = "");
  module.def("toml_of", [](nb::dict tables) { return toml_text(value_of(tables, "")); });
  module.def("toml_value", [](nb::object object, const std::string& place) {
    return toml_value_text(value_of(object, place));
  });
}

}  // namespace zwang::python
