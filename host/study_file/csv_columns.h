// Columns of numbers from CSV files: a header row, then one row per member. Each file is read once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zwang {

// Errors are thrown without a place and named for their line in the file; the caller knows where the study asks.
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
  // `file` is relative to the study's folder and may not leave it. Null where it failed before: one complaint is
  // enough.
  const CsvTable* open(const std::string& file);

 private:
  std::string folder_;
  std::map<std::string, CsvTable> tables_;
  std::set<std::string> failed_;
};

}  // namespace zwang
