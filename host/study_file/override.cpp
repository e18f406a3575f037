// Applies --set path.to.key=value: replaces or adds one value of the document.
#include <charconv>

#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

[[noreturn]] void fail_at(const std::string& path, const std::string& message, const std::string& found,
                          const std::string& expected, const std::string& hint = "") {
  throw Error({.where = {"--set", 0, 0},
               .message = printable(path) + ": " + message,
               .found = found,
               .expected = expected,
               .hint = hint});
}

constexpr std::size_t depth_limit = 16;

struct Assignment {
  std::string path;                   // as written
  std::vector<std::string> segments;  // of the path
  Value value;
};

std::string_view trimmed_value(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Splits at dots; a segment in quotes may contain dots and equality signs. Returns the offset after the '='.
std::size_t split_path(const std::string& text, std::vector<std::string>& segments) {
  constexpr const char* form = "path.to.key=value";
  std::string segment;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        segment += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.' || c == '=') {
      segments.emplace_back(trimmed_value(segment));
      if (segments.back().empty()) fail_at(text, "an empty name in the path", "", form);
      if (c == '=') return at + 1;
      if (segments.size() >= depth_limit) fail_at(text, "the path is too long", "", form);
      segment.clear();
    } else {
      segment += c;
    }
  }
  if (quote != 0) fail_at(text, "a quote is not closed", std::string(1, quote), form);
  fail_at(text, "there is no '='", "", form);
}

// Text that is not a TOML value is taken as a string, so that formulas need no quotes.
Assignment read_assignment(const std::string& text) {
  Assignment made;
  const std::size_t value_at = split_path(text, made.segments);
  made.path = trimmed_value(std::string_view(text).substr(0, value_at - 1));
  const std::string value(trimmed_value(std::string_view(text).substr(value_at)));
  if (std::optional<Value> parsed = parse_value(value)) {
    made.value = std::move(*parsed);
  } else {
    made.value.kind = Value::Kind::string;
    made.value.text = value;
  }
  return made;
}

void forget_marks(Value& value) {
  value.mark = {};
  for (Value& item : value.items) forget_marks(item);
  for (Entry& entry : value.entries) {
    entry.mark = {};
    forget_marks(entry.value);
  }
}

// An entry of an array, by its number from 0 or by its `name`.
Value& array_item(Value& array, const std::string& segment, const std::string& path) {
  for (Value& item : array.items) {
    const Entry* name = item.find("name");
    if (name && name->value.kind == Value::Kind::string && name->value.text == segment) return item;
  }
  std::size_t index = 0;
  const auto [end, code] = std::from_chars(segment.data(), segment.data() + segment.size(), index);
  if (code == std::errc{} && end == segment.data() + segment.size() && index < array.items.size())
    return array.items[index];
  std::vector<std::string> names;
  for (const Value& item : array.items)
    if (const Entry* name = item.find("name")) names.push_back(printable(name->value.text));
  const std::size_t count = array.items.size();
  const std::string numbers = count == 0   ? "nothing: the list is empty"
                              : count == 1 ? "0"
                                           : "a number from 0 to " + std::to_string(count - 1);
  fail_at(path, "there is no entry '" + printable(segment) + "'", "",
          names.empty() ? numbers : numbers + ", or one of: " + list_text(names, "and"),
          suggestion(segment, names));
}

// One step along the path; a missing key is added.
Value& step(Value& here, const std::string& segment, const std::string& path) {
  if (here.kind == Value::Kind::array) return array_item(here, segment, path);
  if (here.kind != Value::Kind::table)
    fail_at(path, "the path continues below a value that is not a table", shown(here),
            "a path to a key of the study");
  if (Entry* entry = here.find(segment)) return entry->value;
  here.entries.push_back({segment, {}, {}});
  here.entries.back().value.set_path = path;
  return here.entries.back().value;
}

}  // namespace

void Document::set(const std::string& assignment) {
  Assignment wanted = read_assignment(assignment);
  Value* here = &root_;
  for (const std::string& segment : wanted.segments) here = &step(*here, segment, wanted.path);
  forget_marks(wanted.value);
  wanted.value.set_path = wanted.path;
  *here = std::move(wanted.value);
}

}  // namespace zwang
