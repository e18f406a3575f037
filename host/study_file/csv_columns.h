// Columns of numbers from CSV files: a header row, then one row per member. Each file is read only once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zwang {

// Errors name the line in the CSV file but have no location in the study; the caller adds that.
class CsvTable {
 public:
  CsvTable(std::string name, std::string text);
  CsvTable(const CsvTable&) = delete;  // its rows are views of its own text
  CsvTable& operator=(const CsvTable&) = delete;

  const std::vector<std::string>& header() const { return header_; }
  std::vector<double> column(const std::string& wanted) const;

 private:
  std::string name_, text_;
  std::vector<std::string> header_;
  std::vector<std::string_view> rows_;
};

class CsvFiles {
 public:
  explicit CsvFiles(const std::string& study_path);
  // `file` is relative to the study's folder and must lie inside it. Null if opening it failed before, so
  // that each error is reported once.
  const CsvTable* open(const std::string& file);

 private:
  std::string folder_;
  std::map<std::string, CsvTable> tables_;
  std::set<std::string> failed_;
};

}  // namespace zwang
