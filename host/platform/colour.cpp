// ANSI colour for error messages.
#include "host/platform/colour.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace zwang {

bool colours_wanted(std::FILE* stream) {
  const char* none = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (none != nullptr && *none != '\0') return false;
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(fileno(stream)) != 0;
}

std::string coloured_error(const std::string& text, bool colours) {
  if (!colours) return text;
  std::string made;
  constexpr std::string_view word = "error:";
  // One message may hold several problems; "error:" starts a line or follows the location. Indented lines are
  // details of a problem and stay as they are.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string line = text.substr(at, end - at);
    if (const std::size_t found = line.find(word); found != std::string::npos && !line.starts_with("  "))
      line.replace(found, word.size(), "\x1b[1;31m" + std::string(word) + "\x1b[0m");
    made += line;
    at = end;
  }
  return made;
}

}  // namespace zwang
