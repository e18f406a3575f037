// Collects the CSV columns of a study and writes them as one table.
#include "host/sample/csv_inputs.h"

#include <algorithm>
#include <cassert>

#include "src/base/error.h"

namespace zwang {

CsvInputs::CsvInputs(const Study& study) : study_(study) {
  for (const ParameterRule& rule : study.parameters) {
    if (!rule.distribution || rule.distribution->kind != Distribution::Kind::file) continue;
    const Distribution& source = *rule.distribution;
    const std::filesystem::path file = std::filesystem::path(source.file).lexically_normal();
    if (!find(file, source.column)) columns_.push_back({free_name(source.column), file, &source});
  }
}

const CsvInputs::Column* CsvInputs::find(const std::filesystem::path& file, const std::string& column) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& one) {
    return one.file == file && one.source->column == column;
  });
  return found != columns_.end() ? &*found : nullptr;
}

// Two files may have columns of the same name; they become x, x_2, x_3.
std::string CsvInputs::free_name(const std::string& wanted) const {
  const auto taken = [&](const std::string& name) {
    return std::any_of(columns_.begin(), columns_.end(), [&](const Column& one) { return one.name == name; });
  };
  std::string name = wanted;
  for (int number = 2; taken(name); ++number) name = wanted + "_" + std::to_string(number);
  return name;
}

std::string CsvInputs::name_of(const std::string& file, const std::string& column) const {
  const Column* found = find(std::filesystem::path(file).lexically_normal(), column);
  assert(found);
  return found->name;
}

std::string CsvInputs::text() const {
  std::string text;
  const auto add_row = [&](const auto& cell) {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (k > 0) text += ',';
      text += cell(columns_[k]);
    }
    text += '\n';
  };
  add_row([](const Column& column) { return column.name; });
  const EnsembleSettings& ensemble = study_.ensemble;
  const auto rows =
      static_cast<std::size_t>(ensemble.streams == Streams::common ? ensemble.per_point() : ensemble.members);
  for (std::size_t row = 0; row < rows; ++row)
    add_row([&](const Column& column) { return number_text(column.source->file_values[row]); });
  return text;
}

std::vector<std::filesystem::path> CsvInputs::paths() const {
  const std::filesystem::path folder = std::filesystem::path(study_.path).parent_path();
  std::vector<std::filesystem::path> paths;
  for (const Column& column : columns_) paths.push_back(folder / column.file);
  return paths;
}

}  // namespace zwang
