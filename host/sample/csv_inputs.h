// The columns of CSV files that a study draws from, gathered into one file beside the results: with it the study among
// them runs again wherever the folder is taken.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/study/study.h"

namespace zwang {

constexpr const char* csv_inputs_name = "inputs.csv";

class CsvInputs {
 public:
  // The study must outlive it.
  explicit CsvInputs(const Study& study);
  explicit CsvInputs(Study&&) = delete;

  bool empty() const { return columns_.empty(); }
  // Under which name the column of that file stands in the text.
  std::string name_of(const std::string& file, const std::string& column) const;
  // A header, and a row for each member; numbers read back as the same bits.
  std::string text() const;
  // The files, as the study finds them.
  std::vector<std::filesystem::path> paths() const;

 private:
  struct Column {
    std::string name;  // in the text: that of the file's column while it is free
    std::filesystem::path file;
    const Distribution* source;
  };

  const Column* find(const std::filesystem::path& file, const std::string& column) const;
  std::string free_name(const std::string& wanted) const;

  const Study& study_;
  std::vector<Column> columns_;
};

}  // namespace zwang
