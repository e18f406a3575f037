// A TOML document as a tree in the order of the file, every value with its place.
//
// toml++ parses; what it makes is copied into this smaller tree, because its tables are sorted by key while a study's
// parameters are read in the order they are written, and because the values of --set are put in place here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/study_file/raw_text.h"
#include "src/base/error.h"

namespace zwang {

// Where something begins in the text: line and column from 1, columns in characters. Line 0: it came with --set.
struct Mark {
  int line = 0, column = 0;
};

struct Entry;

struct Value {
  enum class Kind { string, integer, real, boolean, date, array, table };
  Kind kind = Kind::table;
  Mark mark;
  long long integer = 0;       // of an integer; 0 or 1 of a boolean
  double number = 0;           // of an integer or a real
  std::string text;            // of a string
  std::vector<Value> items;    // of an array
  std::vector<Entry> entries;  // of a table
  std::string set_path;        // the path by which --set put it here

  bool is_number() const { return kind == Kind::integer || kind == Kind::real; }
  const Entry* find(std::string_view key) const;  // in a table
  Entry* find(std::string_view key);
};

struct Entry {
  std::string key;
  Mark mark;
  Value value;
};

class Document {
 public:
  static constexpr std::size_t size_limit = std::size_t{16} << 20;  // bytes
  static constexpr std::size_t value_limit = 1'000'000;

  // Throws Error where the text is not TOML, or is too large or too deep to be a study.
  Document(std::string text, std::string file);

  // "path.to.key=value". Throws Error when the path leads nowhere.
  void set(const std::string& assignment);

  const Value& root() const { return root_; }
  const std::string& text() const { return text_; }
  const std::string& file() const { return file_; }

  Location locate(const Mark& mark) const;
  // The character of the file that the character `offset` of a string's value was written as.
  Location locate(const Value& string, std::size_t offset) const;

 private:
  std::string text_, file_;
  Value root_;
};

// A TOML value by itself, or nothing when the text is not one.
std::optional<Value> parse_value(const std::string& text);

// A value as it may have been written.
std::string shown(const Value& value);

}  // namespace zwang
