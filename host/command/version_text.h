// The text of --version: the program's version, how it was built, and the CUDA devices of the machine.
#pragma once

#include <string>

namespace zwang {

std::string version_text();

}  // namespace zwang
