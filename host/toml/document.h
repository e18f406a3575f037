// A TOML document as a tree in the order of the file, with the location of every value.
//
// toml++ parses the text. Its tree is copied into this smaller one because its tables are sorted by key,
// while the parameters of a study are read in the order of the file, and because --set inserts values here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"

namespace zwang {

// The start of an item in the text: line and column from 1, columns in characters. Line 0: set by --set.
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
  std::string set_path;        // the path given to --set, if it set this value

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

  // Throws Error if the text is not TOML, too large or too deeply nested.
  Document(std::string text, std::string file);

  // Applies "path.to.key=value". Throws Error if the path does not exist and cannot be added.
  void set(const std::string& assignment);

  const Value& root() const { return root_; }
  Value& root() { return root_; }
  const std::string& text() const { return text_; }
  const std::string& file() const { return file_; }

  Location locate(const Mark& mark) const;
  // The location in the file of character `offset` of a string's value.
  Location locate(const Value& string, std::size_t offset) const;

 private:
  std::string text_, file_;
  Value root_;
};

// Parses a single TOML value; nothing if the text is not one.
std::optional<Value> parse_value(const std::string& text);

// A value as text for messages.
std::string shown(const Value& value);

}  // namespace zwang
