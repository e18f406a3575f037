// Layout of text tables: column widths in characters, alignment by content.
#include "host/platform/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zwang {

namespace {

// The width in characters, not bytes: names and units may be UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_numeric(const std::string& text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text == "-" ||
                           text == "nan" || (text.size() > 1 && text[0] == '-'));
}

}  // namespace

std::string TextTable::text(const std::string& indent) const {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t r = 0; r < rows_.size(); ++r)
    for (std::size_t c = 0; c < rows_[r].size(); ++c) {
      if (c == widths.size()) {
        widths.push_back(0);
        right.push_back(true);
      }
      widths[c] = std::max(widths[c], width(rows_[r][c]));
      if (r > 0 && !is_numeric(rows_[r][c])) right[c] = false;
    }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line = indent;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - width(row[c]), ' ');
      line += (c ? "  " : "") + (right[c] ? blanks + row[c] : row[c] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  if (value == 0) return "0";
  return fmt::format("{:.7g}", value);
}

}  // namespace zwang
