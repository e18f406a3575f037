// Typed access to a study's document. A wrong key, type or number is noted with its place, and reading goes on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/study_file/document.h"
#include "src/base/error.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"

namespace zwang {

// A value and the words that name its place in messages: "constraint 'cable', require".
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
  // Throws Error when anything was noted.
  void finish() const;

  // `message` is preceded by the place; what was found is the value itself, unless the caller knows better.
  void complain(const Field& field, const std::string& message, const std::string& expected,
                const std::string& hint = "");
  void complain_found(const Field& field, const std::string& message, const std::string& found,
                      const std::string& expected, const std::string& hint = "");
  void complain(const Location& where, const std::string& message, const std::string& found,
                const std::string& expected, const std::string& hint = "");
  void collect(const Error& error);

  // The children of a value; a value put there by --set is named by the path that put it there.
  static Field child(const Field& parent, const Value& value, const std::string& name);

  // Nothing, after a complaint, when the value is of another type or out of range.
  std::optional<std::string> string(const Field& field, const std::string& expected);
  std::optional<std::string> choice(const Field& field, const std::vector<std::string>& words);
  std::optional<bool> boolean(const Field& field);
  std::optional<long long> integer(const Field& field, long long least, long long most);
  // The entries of an array, named "position entry 2" and so on.
  std::optional<std::vector<Field>> array(const Field& field, const std::string& expected);

  // For the formula parser: characters of the string's value as places in the file.
  Source source(const Field& field) const;

 private:
  const Document& document_;
  std::vector<Problem> problems_;
  std::size_t left_out_ = 0;
};

// One table of the study: complains about keys it does not know, hands out the others.
class Table {
 public:
  Table(Reader& reader, const Field& field, std::vector<std::string> known);

  bool ok() const { return table_ != nullptr; }
  Field operator[](std::string_view key) const;
  // Complains when the key is absent.
  Field require(std::string_view key, const std::string& expected) const;

 private:
  Reader& reader_;
  Field field_;
  const Value* table_ = nullptr;
};

// "parameter 'g'", or the path by which --set put it there.
std::string named_place(const std::string& kind, const Entry& entry);
// A table that stands once ("[time]"), or an absent field.
Field single_table(Reader& reader, const std::string& key);
// The tables of [[key]], named "point 'load'", or "point number 2" where the name is missing.
std::vector<Field> repeated_table(Reader& reader, const std::string& key);

}  // namespace zwang
