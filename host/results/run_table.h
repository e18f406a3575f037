// Text table at the end of a run: measures, observables, events, audit, failures, times and files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/run/run_result.h"
#include "host/study/study.h"
#include "kernels/base/status.h"

namespace zwang {

struct RunTableContext {
  std::string folder;              // result folder
  std::vector<std::string> files;  // names of the files
  std::string replay;              // command that replays a member of this run, without the member number
  // Why the first member of a status failed; empty if it is not known.
  std::function<std::string(Status status, long long member)> cause = {};
};

std::string run_table(const Study& study, const RunResult& result, const RunTableContext& context);

// The text quoted as one word of a shell command line.
std::string shell_word(const std::string& text);

}  // namespace zwang
