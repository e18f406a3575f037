#include "host/study_document.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

namespace zwang {

namespace {

// A study needs three tables inside one another; toml++ builds and destroys them recursively and counts brackets but
// not the dots of a key, so that a.a.a.a... would overflow the stack.
constexpr int bracket_limit = 32;
constexpr int dot_limit = 16;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

Location location_of_byte(const std::string& text, const std::string& file, std::size_t byte) {
  Location where{file, 1, 1};
  for (std::size_t i = text.starts_with("\xEF\xBB\xBF") ? 3 : 0; i < byte; ++i) {
    if (text[i] == '\n') {
      ++where.line;
      where.column = 1;
    } else if (!continues_character(text[i])) {
      ++where.column;
    }
  }
  return where;
}

// One past the string that begins at `at`, or npos when it does not end.
std::size_t end_of_string(const std::string& text, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool triple = text.compare(at, 3, three) == 0;
  for (at += triple ? 3 : 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (!triple && text[at] == '\n') {
      return std::string::npos;
    } else if (!triple && text[at] == quote) {
      return at + 1;
    } else if (triple && text.compare(at, 3, three) == 0) {
      // Up to two quotes may stand before the closing three.
      for (at += 3; at < text.size() && text[at] == quote;) ++at;
      return at;
    }
  }
  return std::string::npos;
}

void refuse_deep_nesting(const std::string& text, const std::string& file) {
  int brackets = 0, dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(text, at);
      if (end == std::string::npos) return;  // not TOML; toml++ says it better
      at = end - 1;
    } else if (c == '#') {
      while (at + 1 < text.size() && text[at + 1] != '\n') ++at;
    } else if (c == '.') {
      ++dots;
    } else if (std::string_view("[]{}=,\n").find(c) != std::string_view::npos) {
      dots = 0;
      if (c == '[' || c == '{') ++brackets;
      if ((c == ']' || c == '}') && brackets > 0) --brackets;
    }
    if (brackets > bracket_limit || dots > dot_limit)
      throw Error({.where = location_of_byte(text, file, at),
                   .message = "tables or arrays are nested too deeply",
                   .expected = "at most " + std::to_string(bracket_limit) +
                               " brackets inside one another and " + std::to_string(dot_limit) +
                               " dots in a key"});
  }
}

// toml++ says "Error while parsing PART: expected WHAT, saw THIS"; the same in our form.
Problem syntax_problem(const toml::parse_error& error, const std::string& file) {
  const auto begin = error.source().begin;
  Problem problem{.where = {file, static_cast<int>(begin.line), static_cast<int>(begin.column)},
                  .message = "not valid TOML"};
  std::string text(error.description());
  const std::string_view opening = "Error while parsing ";
  if (text.starts_with(opening)) {
    const std::size_t colon = std::min(text.find(": "), text.size());
    problem.message += " (" + text.substr(opening.size(), colon - opening.size()) + ")";
    text = text.substr(std::min(colon + 2, text.size()));
  }
  const std::size_t saw = text.rfind(", saw ");
  if (text.starts_with("expected ") && saw != std::string::npos) {
    problem.expected = text.substr(9, saw - 9);
    problem.found = text.substr(saw + 6);
    if (problem.found == "'\\n'" || problem.found == "'\\r'") problem.found = "the end of the line";
  } else if (text == "encountered end-of-file") {
    problem.found = "the end of the file";
    problem.expected = "the rest of it";
  } else if (text.starts_with("unescaped control characters")) {
    problem.found = "the end of the line, or another control character";
    problem.expected = "the closing quote";
    problem.hint = "text of several lines stands in three quotes";
  } else if (text.ends_with("invalid utf-8 sequence")) {
    problem.message += ": the text is not UTF-8";
  } else {
    problem.message += ": " + text;
  }
  if (text.starts_with("cannot redefine existing"))
    problem.hint = "every key and [table] stands once; tables that repeat have two brackets: [[point]]";
  return problem;
}

Mark mark_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

// Copies toml++'s tree; its depth has been limited.
class Converter {
 public:
  Value convert(const toml::node& node) {
    if (++count_ > Document::value_limit)
      throw Error({.message = "too many values",
                   .expected = "at most " + std::to_string(Document::value_limit) + " values in one study"});
    Value made;
    made.mark = mark_of(node.source());
    switch (node.type()) {
      case toml::node_type::table:
        table(*node.as_table(), made);
        break;
      case toml::node_type::array:
        made.kind = Value::Kind::array;
        for (const toml::node& item : *node.as_array()) made.items.push_back(convert(item));
        break;
      case toml::node_type::string:
        made.kind = Value::Kind::string;
        made.text = node.as_string()->get();
        break;
      case toml::node_type::integer:
        made.kind = Value::Kind::integer;
        made.integer = node.as_integer()->get();
        made.number = static_cast<double>(made.integer);
        break;
      case toml::node_type::floating_point:
        made.kind = Value::Kind::real;
        made.number = node.as_floating_point()->get();
        break;
      case toml::node_type::boolean:
        made.kind = Value::Kind::boolean;
        made.integer = node.as_boolean()->get() ? 1 : 0;
        break;
      default:
        made.kind = Value::Kind::date;
    }
    return made;
  }

 private:
  void table(const toml::table& table, Value& made) {
    for (const auto& [key, node] : table)
      made.entries.push_back({std::string(key.str()), mark_of(key.source()), convert(node)});
    std::sort(made.entries.begin(), made.entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.mark.line, a.mark.column) < std::pair(b.mark.line, b.mark.column);
    });
  }

  std::size_t count_ = 0;
};

Value parse_document(const std::string& text, const std::string& file) {
  refuse_deep_nesting(text, file);
  try {
    return Converter().convert(toml::parse(std::string_view(text)));
  } catch (const toml::parse_error& error) {
    throw Error(syntax_problem(error, file));
  } catch (const Error& error) {
    Problem problem = error.problems().front();
    problem.where.file = file;
    throw Error(problem);
  }
}

// Bytes that a character written as \uXXXX takes in UTF-8.
std::size_t utf8_length(unsigned long code) {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

// The byte of the file behind byte `offset` of the string that is written from `at` on. toml++ has accepted the string,
// so it is well formed.
std::size_t written_byte(const std::string& text, std::size_t at, std::size_t offset) {
  const char quote = text[at];
  const bool basic = quote == '"';
  const bool triple = text.compare(at, 3, std::string(3, quote)) == 0;
  at += triple ? 3 : 1;
  // A line break right after the opening quotes is not part of the string.
  if (triple && text.compare(at, 2, "\r\n") == 0)
    at += 2;
  else if (triple && text[at] == '\n')
    at += 1;
  for (std::size_t decoded = 0; at < text.size();) {
    std::size_t raw = 1, made = 1;
    if (basic && text[at] == '\\' && at + 1 < text.size()) {
      const char kind = text[at + 1];
      raw = kind == 'u' ? 6 : kind == 'U' ? 10 : 2;
      if (raw > 2) made = utf8_length(std::strtoul(text.substr(at + 2, raw - 2).c_str(), nullptr, 16));
      // A backslash at the end of a line swallows all white space up to the next character.
      if (std::string_view(" \t\r\n").find(kind) != std::string_view::npos) {
        raw = std::min(text.find_first_not_of(" \t\r\n", at + 1), text.size()) - at;
        made = 0;
      }
    } else if (text.compare(at, 2, "\r\n") == 0) {
      raw = 2;  // read as one line feed
    }
    if (decoded + made > offset) return at;  // the closing quote stands for the end
    decoded += made;
    at += raw;
  }
  return at;
}

}  // namespace

const Entry* Value::find(std::string_view key) const {
  const auto it =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return it == entries.end() ? nullptr : &*it;
}

Entry* Value::find(std::string_view key) {
  return const_cast<Entry*>(static_cast<const Value*>(this)->find(key));
}

Document::Document(std::string text, std::string file) : text_(std::move(text)), file_(std::move(file)) {
  if (text_.size() > size_limit)
    throw Error({.where = {file_, 0, 0},
                 .message = "the study is too large",
                 .found = std::to_string(text_.size()) + " bytes",
                 .expected = "at most " + std::to_string(size_limit) + " bytes",
                 .hint = "many numbers belong into a CSV file, drawn with { file = ..., column = ... }"});
  root_ = parse_document(text_, file_);
}

Location Document::locate(const Mark& mark) const {
  if (mark.line == 0) return {"--set", 0, 0};
  return {file_, mark.line, mark.column};
}

Location Document::locate(const Value& string, std::size_t offset) const {
  if (string.mark.line == 0) return {"--set", 0, 0};
  std::size_t at = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (int line = 1; line < string.mark.line; ++line) at = text_.find('\n', at) + 1;
  for (int column = 1; column < string.mark.column; ++column)
    for (++at; at < text_.size() && continues_character(text_[at]);) ++at;
  return location_of_byte(text_, file_, written_byte(text_, at, offset));
}

std::optional<Value> parse_value(const std::string& text) {
  try {
    Value whole = parse_document("value = " + text + "\n", "");
    if (whole.entries.size() != 1) return {};
    return std::move(whole.entries.front().value);
  } catch (const Error&) {
    return {};
  }
}

std::string printable(std::string_view text) {
  constexpr std::size_t limit = 60;
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i >= limit && !continues_character(text[i])) return made + "...";
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n')
      made += "\\n";
    else if (c < 0x20 || c == 0x7f)
      made += "\\" + std::to_string(int{c});
    else
      made += text[i];
  }
  return made;
}

std::string shown(const Value& value) {
  switch (value.kind) {
    case Value::Kind::string:
      return "\"" + printable(value.text) + "\"";
    case Value::Kind::integer:
      return std::to_string(value.integer);
    case Value::Kind::real:
      return number_text(value.number);
    case Value::Kind::boolean:
      return value.integer != 0 ? "true" : "false";
    case Value::Kind::array:
      return value.items.empty() ? "an empty array" : "an array";
    case Value::Kind::table:
      return value.entries.empty() ? "an empty table" : "a table";
    default:
      return "a date or time";
  }
}

}  // namespace zwang
