// Reads a study from a TOML file or from text: parse, apply overrides, check, build the System.
#pragma once

#include <string>
#include <vector>

#include "host/study/study.h"
#include "host/study_file/input_columns.h"

namespace zwang {

// `overrides`: "path.to.key=value" as on the command line (--set).
// Throws Error that lists every independent problem.
Study load_study(const std::string& path, const std::vector<std::string>& overrides = {});
Study read_study(const std::string& text, const std::string& path,
                 const std::vector<std::string>& overrides = {});
// The same with columns of numbers in place of parameters and draws.
Study read_study(const std::string& text, const std::string& path, const std::vector<std::string>& overrides,
                 const std::vector<InputColumn>& columns);

}  // namespace zwang
