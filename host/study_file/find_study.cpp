#include "host/study_file/find_study.h"

#include <filesystem>

#include "host/study_file/config_text.h"
#include "host/study_file/load_study.h"
#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

std::string short_name(std::string_view file) {
  return std::filesystem::path(std::string(file)).stem().string();
}

std::vector<std::string> listed_names() {
  std::vector<std::string> names;
  for (const ConfigFile& file : config_files())
    if (file.name != starter_name) names.push_back(short_name(file.name));
  return names;
}

std::optional<std::string_view> listed_study(const std::string& name) {
  for (const ConfigFile& file : config_files())
    if (file.name != starter_name && short_name(file.name) == name) return file.text;
  return {};
}

std::string_view require_listed_study(const std::string& name) {
  if (const std::optional<std::string_view> text = listed_study(name)) return *text;
  throw Error({.message = "there is no study of that name",
               .found = printable(name),
               .expected = "a name that `zwang list` shows",
               .hint = suggestion(name, listed_names())});
}

void require_known_parameters(const Study& study) {
  const Entry* parameters = study.document->find("parameters");
  if (!parameters) return;
  std::vector<std::string> names;
  for (const Entry& entry : parameters->value.entries)
    if (entry.mark.line > 0) names.push_back(entry.key);
  std::vector<Problem> problems;
  for (const Entry& entry : parameters->value.entries) {
    if (entry.mark.line > 0 || entry.value.set_path.empty()) continue;
    problems.push_back({.where = {"--set", 0, 0},
                        .message = printable(entry.value.set_path) + ": the study has no such parameter",
                        .found = printable(entry.key),
                        .expected = names.empty() ? "a key of the study; it has no [parameters]"
                                                  : "one of: " + list_text(names, "or"),
                        .hint = suggestion(entry.key, names)});
  }
  if (!problems.empty()) throw Error(std::move(problems));
}

namespace {

[[noreturn]] void refuse_missing_file(const std::string& path) {
  std::string name = path;
  if (name.ends_with(".toml")) name.resize(name.size() - 5);
  std::string hint = suggestion(path, listed_names());
  if (name != path && listed_study(name))
    hint = "'" + name + "', without .toml, is a study that comes with zwang";
  throw Error({.where = {path, 0, 0},
               .message = "there is no such file",
               .found = printable(path),
               .expected = "the path of a study, or a name that `zwang list` shows",
               .hint = hint});
}

}  // namespace

Study find_study(const std::string& path, const std::vector<std::string>& overrides) {
  std::error_code code;
  const bool exists = std::filesystem::exists(path, code);
  const std::optional<std::string_view> listed = exists ? std::nullopt : listed_study(path);
  if (!exists && !listed) refuse_missing_file(path);
  Study study = listed ? read_study(std::string(*listed), path, overrides) : load_study(path, overrides);
  require_known_parameters(study);
  return study;
}

}  // namespace zwang
