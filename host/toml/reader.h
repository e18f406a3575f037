// Typed access to a study's document. A wrong key, type or number is recorded with its location, and reading
// continues.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/toml/document.h"
#include "src/base/error.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"

namespace zwang {

// A value and the text that names it in messages: "constraint 'cable', require".
struct Field {
  const Value* value = nullptr;  // absent when null
  std::string place;
  explicit operator bool() const { return value != nullptr; }
};

class Reader {
 public:
  explicit Reader(const Document& document) : document_(document) {}

  const Document& document() const { return document_; }
  const std::vector<Problem>& problems() const { return problems_; }
  // Throws Error if any problem was reported.
  void finish() const;

  // Records a problem. The message is preceded by the name of the field; "found" is the value itself unless
  // the caller gives another text.
  void report(const Field& field, const std::string& message, const std::string& expected,
              const std::string& hint = "");
  void report_found(const Field& field, const std::string& message, const std::string& found,
                    const std::string& expected, const std::string& hint = "");
  void report(const Location& where, const std::string& message, const std::string& found,
              const std::string& expected, const std::string& hint = "");
  void collect(const Error& error);

  // A child of a value. A value set by --set is named by the path given there.
  static Field child(const Field& parent, const Value& value, const std::string& name);

  // The value; nothing, after reporting it, if it is of another type or out of range.
  std::optional<std::string> string(const Field& field, const std::string& expected);
  std::optional<std::string> choice(const Field& field, const std::vector<std::string>& words);
  std::optional<bool> boolean(const Field& field);
  std::optional<long long> integer(const Field& field, long long least, long long most);
  // The entries of an array, named "position entry 2" and so on.
  std::optional<std::vector<Field>> array(const Field& field, const std::string& expected);

  // For the formula parser: maps characters of the string's value to locations in the file.
  Source source(const Field& field) const;

 private:
  const Document& document_;
  std::vector<Problem> problems_;
  std::size_t left_out_ = 0;
};

// One table of the study. Reports unknown keys and gives access to the others.
class Table {
 public:
  Table(Reader& reader, const Field& field, std::vector<std::string> known);

  bool ok() const { return table_ != nullptr; }
  Field operator[](std::string_view key) const;
  // Reports a missing key.
  Field require(std::string_view key, const std::string& expected) const;

 private:
  Reader& reader_;
  Field field_;
  const Value* table_ = nullptr;
};

// "parameter 'g'", or the path given to --set.
std::string named_place(const std::string& kind, const Entry& entry);
// A table that may appear once ("[time]"), or an absent field.
Field single_table(Reader& reader, const std::string& key);
// The tables of [[key]], named "point 'load'", or "point number 2" if the name is missing.
std::vector<Field> repeated_table(Reader& reader, const std::string& key);

}  // namespace zwang
