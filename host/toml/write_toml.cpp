// Writes Value trees as TOML text.
#include "host/toml/write_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "src/base/error.h"

namespace zwang {

namespace {

using Kind = Value::Kind;

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      made += std::string("\\") + c;
    else if (c == '\n')
      made += "\\n";
    else if (c == '\t')
      made += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      made += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      made += c;
  }
  return made + "\"";
}

std::string key_text(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return bare ? key : quoted(key);
}

// A real number must not look like a whole number: in TOML 2 and 2.0 have different types.
std::string real_text(double number) {
  const std::string text = number_text(number);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string inline_text(const Value& value) {
  std::string list;
  switch (value.kind) {
    case Kind::string:
      return quoted(value.text);
    case Kind::integer:
      return std::to_string(value.integer);
    case Kind::real:
      return real_text(value.number);
    case Kind::boolean:
      return value.integer != 0 ? "true" : "false";
    case Kind::array:
      for (const Value& item : value.items) list += (list.empty() ? "" : ", ") + inline_text(item);
      return "[" + list + "]";
    case Kind::table:
      for (const Entry& entry : value.entries)
        list += (list.empty() ? "" : ", ") + key_text(entry.key) + " = " + inline_text(entry.value);
      return list.empty() ? "{}" : "{ " + list + " }";
    default:
      // No key of a study accepts a date, so the study was rejected when it was read.
      assert(false);
      return "";
  }
}

std::string line(const std::string& key, const Value& value) {
  return key + " = " + inline_text(value) + "\n";
}

bool is_list_of_tables(const Value& value) {
  return value.kind == Kind::array && !value.items.empty() &&
         std::all_of(value.items.begin(), value.items.end(),
                     [](const Value& item) { return item.kind == Kind::table; });
}

// With `spread`, nested tables are written as dotted keys: histogram.height = { bins = 60 } is easier to read
// than all histograms on one line. A distribution in [parameters] stays on one line.
std::string body(const Value& table, bool spread) {
  std::string text;
  for (const Entry& entry : table.entries) {
    const std::string key = key_text(entry.key);
    if (!spread || entry.value.kind != Kind::table || entry.value.entries.empty()) {
      text += line(key, entry.value);
      continue;
    }
    for (const Entry& inner : entry.value.entries) text += line(key + "." + key_text(inner.key), inner.value);
  }
  return text;
}

}  // namespace

std::string toml_value_text(const Value& value) { return inline_text(value); }

std::string toml_text(const Value& root) {
  // Values that are not tables come first; after a table header they would belong to that table.
  std::string text;
  for (const Entry& entry : root.entries)
    if (entry.value.kind != Kind::table && !is_list_of_tables(entry.value))
      text += line(key_text(entry.key), entry.value);
  for (const Entry& entry : root.entries) {
    const std::string key = key_text(entry.key);
    if (entry.value.kind == Kind::table) {
      text += "\n[" + key + "]\n" + body(entry.value, entry.key != "parameters");
    } else if (is_list_of_tables(entry.value)) {
      for (const Value& item : entry.value.items) text += "\n[[" + key + "]]\n" + body(item, false);
    }
  }
  return text;
}

}  // namespace zwang
