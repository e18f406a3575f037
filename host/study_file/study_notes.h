// Notes about a study that loads but probably does not mean what it says.
#pragma once

#include <string>
#include <vector>

#include "host/study/study.h"

namespace zwang {

std::vector<std::string> study_notes(const Study& study);

}  // namespace zwang
