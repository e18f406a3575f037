// Reads CSV files and their columns, and refuses paths outside the study's folder.
#include "host/study_file/csv_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr std::size_t size_limit = std::size_t{1} << 30;  // bytes

[[noreturn]] void fail(const std::string& message, const std::string& found, const std::string& expected,
                       const std::string& hint = "") {
  throw Error({.message = message, .found = found, .expected = expected, .hint = hint});
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t comma = row.find(',');
    cells.push_back(trimmed(row.substr(0, comma)));
    if (comma == std::string_view::npos) return cells;
    row.remove_prefix(comma + 1);
  }
}

std::string read_whole(const std::filesystem::path& path, const std::string& name) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code))
    fail("there is no file '" + name + "'", printable(path.string()),
         "a CSV file, relative to the folder of the study");
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (code || size > size_limit)
    fail("the file '" + name + "' is too large", "", "at most " + std::to_string(size_limit) + " bytes");
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(text.data(), static_cast<std::streamsize>(size)))
    fail("the file '" + name + "' cannot be read", printable(path.string()), "a readable CSV file");
  return text;
}

// A symbolic link inside the study's folder must not point outside of it either.
void reject_links_to_outside(const std::filesystem::path& folder, const std::filesystem::path& path,
                             const std::string& name) {
  std::error_code code;
  const std::filesystem::path home = std::filesystem::canonical(folder.empty() ? "." : folder, code);
  const std::filesystem::path there = code ? path : std::filesystem::canonical(home / path, code);
  if (code) return;  // the file does not exist: read_whole() reports it
  const std::filesystem::path within = there.lexically_relative(home);
  if (within.empty() || *within.begin() == "..")
    fail("a link that leads outside the folder of the study", "\"" + printable(name) + "\"",
         "a file that lies in the folder of the study");
}

}  // namespace

CsvTable::CsvTable(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  std::string_view rest = text_;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    rows_.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  while (!rows_.empty() && trimmed(rows_.back()).empty()) rows_.pop_back();
  if (rows_.empty())
    fail("the file '" + printable(name_) + "' is empty", "", "a header row with the columns' names");
  for (const std::string_view cell : cells_of(rows_.front())) header_.emplace_back(cell);
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    const std::size_t width = cells_of(rows_[i]).size();
    if (width != header_.size())
      fail("line " + std::to_string(i + 1) + " of '" + printable(name_) +
               "' does not have as many cells as the header",
           std::to_string(width) + (width == 1 ? " cell" : " cells"), std::to_string(header_.size()));
  }
}

std::vector<double> CsvTable::column(const std::string& wanted) const {
  const auto it = std::find(header_.begin(), header_.end(), wanted);
  if (it == header_.end())
    fail("'" + printable(name_) + "' has no such column", "\"" + printable(wanted) + "\"",
         "one of: " + printable(list_text(header_, "and")), suggestion(wanted, header_));
  if (std::find(it + 1, header_.end(), wanted) != header_.end())
    fail("'" + printable(name_) + "' has two columns of that name", "\"" + printable(wanted) + "\"",
         "a different name for every column");
  const auto index = static_cast<std::size_t>(it - header_.begin());
  std::vector<double> values;
  values.reserve(rows_.size() - 1);
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    const std::string_view cell = cells_of(rows_[i])[index];
    double value = 0;
    const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (code != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value))
      fail("line " + std::to_string(i + 1) + " of '" + printable(name_) + "' has no number in this column",
           cell.empty() ? "an empty cell" : printable(cell), "a finite number such as 0.5 or 1e-3");
    values.push_back(value);
  }
  return values;
}

CsvFiles::CsvFiles(const std::string& study_path)
    : folder_(std::filesystem::path(study_path).parent_path().string()) {}

const CsvTable* CsvFiles::open(const std::string& file) {
  const auto known = tables_.find(file);
  if (known != tables_.end()) return &known->second;
  if (!failed_.insert(file).second) return nullptr;
  const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  if (file.find('\0') != std::string::npos || path.empty() || path.is_absolute() || *path.begin() == "..")
    fail("a file outside the folder of the study", "\"" + printable(file) + "\"",
         "a path relative to the study that stays in its folder");
  reject_links_to_outside(folder_, path, file);
  const CsvTable& table =
      tables_.try_emplace(file, file, read_whole(std::filesystem::path(folder_) / path, printable(file)))
          .first->second;
  failed_.erase(file);
  return &table;
}

}  // namespace zwang
