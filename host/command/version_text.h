// What --version says: this program, what built it, and what it finds on the machine.
#pragma once

#include <string>

namespace zwang {

std::string version_text();

}  // namespace zwang
