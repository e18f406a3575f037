// The columns of CSV files that a study draws from, collected into one file beside the results. With it the
// study.toml among the results can be run again, wherever the folder is moved.
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
  // The name in text() of a column of a file.
  std::string name_of(const std::string& file, const std::string& column) const;
  // A header and one row per member. Numbers are written so that they read back as the same bits.
  std::string text() const;
  // The paths of the files, including the study's folder.
  std::vector<std::filesystem::path> paths() const;

 private:
  struct Column {
    std::string name;  // in text(): the column's own name unless it is taken
    std::filesystem::path file;
    const Distribution* source;
  };

  const Column* find(const std::filesystem::path& file, const std::string& column) const;
  std::string free_name(const std::string& wanted) const;

  const Study& study_;
  std::vector<Column> columns_;
};

}  // namespace zwang
