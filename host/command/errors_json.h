// Errors for programs: with --json a command that fails prints one JSON object to standard output.
#pragma once

#include <string>
#include <vector>

#include "src/base/error.h"

namespace zwang {

std::string errors_json(const std::vector<Problem>& problems, int exit_code);

}  // namespace zwang
