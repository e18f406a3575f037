// Parses TOML with toml++ and copies the result into Value trees.
#include "host/toml/document.h"

// toml++ asserts properties that malformed input does not have ("[[[point]]"), and with NDEBUG it lets clang
// assume them. The checks after its assertions report the mistake properly, so the assertions are disabled
// here. No other file includes toml++.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>

#include "host/toml/raw_text.h"

namespace zwang {

namespace {

// Converts toml++'s "Error while parsing PART: expected WHAT, saw THIS" into a Problem.
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
    problem.found = printable(text.substr(saw + 6));
    if (problem.found == "'\\n'" || problem.found == "'\\r'") problem.found = "the end of the line";
  } else if (text == "encountered end-of-file") {
    problem.found = "the end of the file";
    problem.expected = "the rest of the value";
  } else if (text.starts_with("unescaped control characters")) {
    problem.found = "the end of the line, or another control character";
    problem.expected = "the closing quote";
    problem.hint = "write text of several lines in triple quotes";
  } else if (text.ends_with("invalid utf-8 sequence")) {
    problem.message += ": the text is not UTF-8";
  } else {
    problem.message += ": " + text;
  }
  if (text.starts_with("cannot redefine existing"))
    problem.hint =
        "every key and [table] may appear once; tables that repeat have double brackets: [[point]]";
  return problem;
}

Mark mark_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

// Copies toml++'s tree by recursion; reject_unsafe_text() has limited its depth.
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
  reject_unsafe_text(text, file);
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
                 .hint = "put many numbers into a CSV file and draw them with { file = ..., column = ... }"});
  root_ = parse_document(text_, file_);
}

Location Document::locate(const Mark& mark) const {
  if (mark.line == 0) return {"--set", 0, 0};
  return {file_, mark.line, mark.column};
}

Location Document::locate(const Value& string, std::size_t offset) const {
  if (string.mark.line == 0) return {"--set", 0, 0};
  std::size_t at = first_byte(text_);
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
