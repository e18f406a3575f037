// Writes problems as JSON.
#include "host/command/errors_json.h"

#include <nlohmann/json.hpp>

#include "host/platform/schema_version.h"
#include "src/base/error.h"

namespace zwang {

std::string errors_json(const std::vector<Problem>& problems, int exit_code) {
  using Json = nlohmann::ordered_json;
  const auto text = [](const std::string& word) { return word.empty() ? Json(nullptr) : Json(word); };
  const auto number = [](int value) { return value > 0 ? Json(value) : Json(nullptr); };
  Json list = Json::array();
  for (const Problem& problem : problems)
    list.push_back({{"file", text(problem.where.file)},
                    {"line", number(problem.where.line)},
                    {"column", number(problem.where.column)},
                    {"message", problem.message},
                    {"found", text(problem.found)},
                    {"expected", text(problem.expected)},
                    {"hint", text(problem.hint)}});
  const Json json = {{"schema_version", schema_version}, {"exit_code", exit_code}, {"errors", list}};
  // Names of files need not be UTF-8.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace zwang
