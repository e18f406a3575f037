// What a run says at its end, for people: measures, observables, events, audit, failures, and where to look further.
#pragma once

#include <string>
#include <vector>

#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

struct RunTableContext {
  std::string folder;              // where the files are
  std::vector<std::string> files;  // their names
  std::string replay;              // the command that replays a member of this run, up to its number
};

std::string run_table(const Study& study, const RunResult& result, const RunTableContext& context);

// The text as one word of a shell's command line.
std::string shell_word(const std::string& text);

}  // namespace zwang
