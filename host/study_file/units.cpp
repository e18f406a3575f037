// Reads [units]: labels of numbers, by name. They are shown and written, and nothing is converted.
#include <algorithm>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t longest_unit = 40;  // bytes

bool is_unit_label(const std::string& text) {
  return !text.empty() && text.size() <= longest_unit && std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

}  // namespace

// Everything that has a name and a number: time, parameters, coordinates and their velocities, auxiliary
// states, observables and measures.
std::vector<std::string> StudyBuilder::names_with_numbers() const {
  std::vector<std::string> names = {"time"};
  for (const ParameterRule& rule : study_.parameters) names.push_back(rule.name);
  for (const std::string& name : description_.coordinates) {
    names.push_back(name);
    names.push_back(name + "'");
  }
  names.insert(names.end(), description_.auxiliaries.begin(), description_.auxiliaries.end());
  for (const NamedExpr& observable : description_.observables) names.push_back(observable.name);
  for (const Measure& measure : description_.measures) names.push_back(measure.name);
  return names;
}

void StudyBuilder::read_units() {
  const Field table = single_table(reader_, "units");
  if (!table) return;
  const std::vector<std::string> names = names_with_numbers();
  for (const Entry& entry : table.value->entries) {
    const Field field = Reader::child(table, entry.value, entry.key);
    if (std::find(names.begin(), names.end(), entry.key) == names.end() && !names_.lost &&
        !names_.broken.contains(entry.key)) {
      reader_.report_found(
          field, "nothing has this name", entry.key,
          "\"time\", or the name of a parameter, coordinate, auxiliary state, observable or measure",
          suggestion(entry.key, names));
      continue;
    }
    const auto label = reader_.string(field, "a unit in quotes, such as \"N\"");
    if (!label) continue;
    if (!is_unit_label(*label)) {
      reader_.report(field, "not a label",
                     "1 to " + std::to_string(longest_unit) + " bytes of text that can be printed");
      continue;
    }
    study_.units[entry.key] = *label;
  }
}

}  // namespace zwang
