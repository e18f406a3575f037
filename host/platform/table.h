// A table of aligned text columns for the terminal.
#pragma once

#include <string>
#include <vector>

namespace zwang {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Columns of numbers are aligned right, others left, separated by two blanks; every line begins with
  // `indent`.
  std::string text(const std::string& indent = "  ") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Seven significant digits; "-" for NaN.
std::string short_number(double value);

}  // namespace zwang
