// Aligned columns of text for the terminal.
#pragma once

#include <string>
#include <vector>

namespace zwang {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Numbers to the right, words to the left, two blanks between; every line indented.
  std::string text(const std::string& indent = "  ") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Seven significant digits: enough to read, short enough to align.
std::string short_number(double value);

}  // namespace zwang
