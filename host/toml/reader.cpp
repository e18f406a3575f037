// Typed access to values of the document, with collected errors.
#include "host/toml/reader.h"

#include <algorithm>
#include <cmath>

#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

// Problems beyond this number are only counted.
constexpr std::size_t problem_limit = 50;

std::string join(const std::string& place, const std::string& name) {
  if (place.empty()) return name;
  return place + (place.ends_with(']') ? " " : ", ") + name;
}

}  // namespace

void Reader::finish() const {
  if (problems_.empty()) return;
  std::vector<Problem> all = problems_;
  if (left_out_ > 0) {
    const auto last = std::max_element(all.begin(), all.end(), [](const Problem& a, const Problem& b) {
      return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
    });
    all.push_back({.where = last->where, .message = "and " + std::to_string(left_out_) + " more problems"});
  }
  throw Error(std::move(all));
}

void Reader::report(const Location& where, const std::string& message, const std::string& found,
                    const std::string& expected, const std::string& hint) {
  if (problems_.size() >= problem_limit) {
    ++left_out_;
    return;
  }
  problems_.push_back({where, message, found, expected, hint});
}

void Reader::report_found(const Field& field, const std::string& message, const std::string& found,
                          const std::string& expected, const std::string& hint) {
  report(document_.locate(field.value->mark), field.place + ": " + message, found, expected, hint);
}

void Reader::report(const Field& field, const std::string& message, const std::string& expected,
                    const std::string& hint) {
  report_found(field, message, shown(*field.value), expected, hint);
}

void Reader::collect(const Error& error) {
  for (const Problem& p : error.problems()) report(p.where, p.message, p.found, p.expected, p.hint);
}

Field Reader::child(const Field& parent, const Value& value, const std::string& name) {
  return {&value, value.set_path.empty() ? join(parent.place, name) : value.set_path};
}

std::optional<std::string> Reader::string(const Field& field, const std::string& expected) {
  if (field.value->kind == Value::Kind::string) return field.value->text;
  report(field, "not a string", expected);
  return {};
}

std::optional<std::string> Reader::choice(const Field& field, const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words) quoted.push_back("\"" + word + "\"");
  const std::string expected = list_text(quoted, "or");
  std::optional<std::string> word = string(field, expected);
  if (!word || std::find(words.begin(), words.end(), *word) != words.end()) return word;
  report(field, "not one of the choices", expected, suggestion(*word, words));
  return {};
}

std::optional<bool> Reader::boolean(const Field& field) {
  if (field.value->kind == Value::Kind::boolean) return field.value->integer != 0;
  report(field, "neither true nor false", "true or false");
  return {};
}

std::optional<long long> Reader::integer(const Field& field, long long least, long long most) {
  const Value& value = *field.value;
  const std::string expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  // In TOML 1e6 is a real number; it is accepted as a whole number.
  const bool whole = value.kind == Value::Kind::integer ||
                     (value.kind == Value::Kind::real && std::abs(value.number) <= 0x1p53 &&
                      value.number == std::floor(value.number));
  if (!whole) {
    report(field, "not a whole number", expected);
    return {};
  }
  const long long number =
      value.kind == Value::Kind::integer ? value.integer : static_cast<long long>(value.number);
  if (number >= least && number <= most) return number;
  report(field, "out of range", expected);
  return {};
}

std::optional<std::vector<Field>> Reader::array(const Field& field, const std::string& expected) {
  if (field.value->kind != Value::Kind::array) {
    report(field, "not an array", expected);
    return {};
  }
  std::vector<Field> fields;
  for (std::size_t i = 0; i < field.value->items.size(); ++i) {
    const Value& item = field.value->items[i];
    // Entries are named after the array: "point 'load', position entry 2".
    fields.push_back(
        {&item, item.set_path.empty() ? field.place + " entry " + std::to_string(i + 1) : item.set_path});
  }
  return fields;
}

Source Reader::source(const Field& field) const {
  return {field.place,
          [this, value = field.value](std::size_t offset) { return document_.locate(*value, offset); }};
}

Table::Table(Reader& reader, const Field& field, std::vector<std::string> known)
    : reader_(reader), field_(field) {
  if (!field) return;
  if (field.value->kind != Value::Kind::table) {
    reader.report(field, "not a table", "a table with " + list_text(known, "and"));
    return;
  }
  table_ = field.value;
  for (const Entry& entry : table_->entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::string& path = entry.value.set_path;
    const std::string place = path.empty() ? field.place : path;
    reader.report(reader.document().locate(entry.mark),
                  (place.empty() ? "" : place + ": ") + "unknown key '" + printable(entry.key) + "'", "",
                  "one of: " + list_text(known, "and"), suggestion(entry.key, known));
  }
}

Field Table::operator[](std::string_view key) const {
  const Entry* entry = table_ ? table_->find(key) : nullptr;
  if (!entry) return {};
  return Reader::child(field_, entry->value, entry->key);
}

Field Table::require(std::string_view key, const std::string& expected) const {
  Field field = (*this)[key];
  if (!field && table_) reader_.report_found(field_, "'" + std::string(key) + "' is missing", "", expected);
  return field;
}

std::string named_place(const std::string& kind, const Entry& entry) {
  return entry.value.set_path.empty() ? kind + " '" + printable(entry.key) + "'" : entry.value.set_path;
}

Field single_table(Reader& reader, const std::string& key) {
  const Entry* entry = reader.document().root().find(key);
  if (!entry) return {};
  const Value& value = entry->value;
  Field field{&value, value.set_path.empty() ? "[" + key + "]" : value.set_path};
  if (value.kind == Value::Kind::table) return field;
  reader.report(
      {&value, value.set_path.empty() ? key : value.set_path}, "not a table",
      value.kind == Value::Kind::array ? "[" + key + "], once, with single brackets" : "[" + key + "]");
  return {};
}

std::vector<Field> repeated_table(Reader& reader, const std::string& key) {
  const Entry* entry = reader.document().root().find(key);
  if (!entry) return {};
  const Value& value = entry->value;
  const std::string expected = "[[" + key + "]], once for each " + key + ", with double brackets";
  if (value.kind != Value::Kind::array) {
    reader.report({&value, value.set_path.empty() ? key : value.set_path}, "not a list of tables", expected);
    return {};
  }
  std::vector<Field> fields;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const Value& item = value.items[i];
    const Entry* name = item.kind == Value::Kind::table ? item.find("name") : nullptr;
    const bool named = name && name->value.kind == Value::Kind::string;
    const Field field{&item, named ? key + " '" + printable(name->value.text) + "'"
                                   : key + " number " + std::to_string(i + 1)};
    if (item.kind == Value::Kind::table)
      fields.push_back(field);
    else
      reader.report(field, "not a table", expected);
  }
  return fields;
}

}  // namespace zwang
