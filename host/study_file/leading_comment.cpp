// Splits the leading comment of a study into lines and paragraphs.
#include "host/study_file/leading_comment.h"

#include <algorithm>
#include <sstream>

namespace zwang {

std::string leading_comment(std::string_view text) {
  std::string made;
  std::size_t at = 0;
  while (at < text.size() && (text[at] == '#' || text[at] == '\n')) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (text[at] != '#' && !made.empty()) break;
    if (text[at] == '#') {
      std::size_t begin = at + 1;
      if (begin < end && text[begin] == ' ') ++begin;
      made += std::string(text.substr(begin, end - begin)) + "\n";
    }
    at = end + 1;
  }
  return made;
}

std::string source_comment(std::string_view text) {
  std::istringstream lines(leading_comment(text));
  std::string made;
  bool first = true, source = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      first = source = false;
      continue;
    }
    if (line.starts_with("Topic:")) continue;
    source = source || line.starts_with("Source:");
    if (first || source) made += line + "\n";
  }
  return made;
}

std::string comment_line(std::string_view text, std::string_view word) {
  std::istringstream lines(leading_comment(text));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(word)) {
      const std::size_t begin = line.find_first_not_of(' ', word.size());
      return begin == std::string::npos ? "" : line.substr(begin);
    }
  return "";
}

}  // namespace zwang
