// Finds a study by its path or by its name, among the studies that are embedded in the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/study/study.h"

namespace zwang {

// The study at this path; if there is no such file, the study of `zwang list` with this name. Throws Error if
// `overrides` (--set) name a parameter that the study does not have.
Study find_study(const std::string& path, const std::vector<std::string>& overrides);

// Overrides change parameters and add none: a misspelt name in a script would change nothing without a word.
void require_known_parameters(const Study& study);

// The text of a study that `zwang list` shows, or nothing.
std::optional<std::string_view> listed_study(const std::string& name);
std::string_view require_listed_study(const std::string& name);  // throws Error if there is none
std::vector<std::string> listed_names();

// The name of a file among the embedded studies: the name of the file without its folder and extension.
std::string short_name(std::string_view file);

// The study that `zwang new` writes; it is embedded too, and is not listed.
constexpr std::string_view starter_name = "host/study_file/starter.toml";

}  // namespace zwang
