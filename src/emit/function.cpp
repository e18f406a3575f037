// Text of one function: signature, cases, tables.
#include "src/emit/function.h"
#include "src/expression/expression.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace zwang {

namespace {

constexpr std::size_t line_limit = 110;
// More zeros than this in one array are written by a loop.
constexpr std::size_t zeros_written_out = 16;
// The arguments whose types are free where a function reads by index.
const std::map<std::string, std::string> types_by_index = {
    {"k", "Constants"}, {"q", "Positions"}, {"v", "Velocities"}, {"z", "States"}};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// True if the code, apart from comments, uses a name.
bool uses_name(const std::string& code, const std::string& name) {
  std::size_t line = 0;
  while (line < code.size()) {
    const std::size_t line_end = std::min(code.find('\n', line), code.size());
    const std::size_t end = std::min(code.find("//", line), line_end);
    for (std::size_t at = code.find(name, line); at < end; at = code.find(name, at + 1)) {
      const std::size_t after = at + name.size();
      if ((at == 0 || !is_word(code[at - 1])) && (after >= code.size() || !is_word(code[after]))) return true;
    }
    line = line_end + 1;
  }
  return false;
}

// Arguments that the body does not use stay unnamed.
std::string signature(const Function& function, const std::string& linkage, const std::string& body) {
  const std::string head = "  " + linkage + " static " + function.result + " " + function.name + "(";
  std::string text = head;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < function.arguments.size(); ++i) {
    const auto& [type, name] = function.arguments[i];
    std::string argument = type;
    argument += uses_name(body, name) ? " " + name : " /*" + name + "*/";
    argument += i + 1 < function.arguments.size() ? "," : ") {";
    if (text.size() - line_start + 1 + argument.size() > line_limit) {
      text += "\n";
      line_start = text.size();
      text += std::string(6, ' ') + argument;
    } else {
      text += (i > 0 ? " " : "") + argument;
    }
  }
  return text + "\n";
}

std::string whole_text(const Function& function, const std::string& linkage, const std::string& body) {
  Function typed = function;
  std::string types = "class R";
  for (Argument& argument : typed.arguments) {
    const auto type = types_by_index.find(argument.name);
    if (!function.reads_by_index || type == types_by_index.end()) continue;
    argument.type = type->second;
    types += ", class " + argument.type;
  }
  return "  // " + function.comment + "\n  template <" + types + ">\n" + signature(typed, linkage, body) +
         body + "  }\n";
}

std::string zeros_text(const FunctionCase& made, const std::string& margin) {
  if (made.zeroed.empty()) return "";
  return margin + "for (int n = 0; n < " + std::to_string(made.zeroed_length) + "; ++n) " + made.zeroed +
         "[n] = R(0);\n";
}

std::string case_text(const Expressions& pool, const Hoisted& hoisted, const FunctionCase& made, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  const Block block = print_block(pool, hoisted, made.stages, made.outputs, indent);
  std::string text = made.before + zeros_text(made, margin) + block.text;
  for (const std::string& formula : block.returned)
    text.append(margin).append("return ").append(formula).append(";\n");
  return text;
}

// Cases with the same code share it; cases equal to `otherwise` are left to the default.
std::string switch_text(const Expressions& pool, const Hoisted& hoisted, const Function& function) {
  const bool returns = function.result != "void";
  const std::string fallback = returns ? "return " + literal(function.otherwise) + ";\n" : "break;\n";
  std::vector<std::pair<std::string, std::vector<std::size_t>>> bodies;
  for (std::size_t i = 0; i < function.cases.size(); ++i) {
    const std::string body = case_text(pool, hoisted, function.cases[i], 8);
    if (body == std::string(8, ' ') + fallback || body.empty()) continue;
    const auto same =
        std::find_if(bodies.begin(), bodies.end(), [&](const auto& known) { return known.first == body; });
    if (same != bodies.end())
      same->second.push_back(i);
    else
      bodies.push_back({body, {i}});
  }
  if (bodies.empty()) return returns ? "    " + fallback : "";
  std::string text = "    switch (" + function.chosen_by + ") {\n";
  for (const auto& [body, numbers] : bodies) {
    const bool one_line = returns && std::count(body.begin(), body.end(), '\n') == 1;
    for (const std::size_t i : numbers) {
      const bool last = i == numbers.back() && !one_line;
      text += "      case " + std::to_string(i) + (last ? ": {\n" : ":\n");
    }
    text += body;
    if (!one_line) text += (returns ? "" : "        break;\n") + std::string("      }\n");
  }
  return text + "      default:\n        " + fallback + "    }\n";
}

// A branch for each family of cases. Tables state which branch computes a case, and its number in the family.
std::string rolled_switch_text(const Expressions& pool, const Hoisted& hoisted, const Function& function,
                               Tables& tables) {
  const bool returns = function.result != "void";
  const std::string fallback = returns ? "return " + literal(function.otherwise) + ";\n" : "";
  if (function.cases.empty()) return returns ? "    " + fallback : "";
  std::vector<std::vector<Output>> cases;
  for (const FunctionCase& made : function.cases) cases.push_back(made.outputs);
  CaseFamilies families = case_families(pool, hoisted, cases, tables, 6);
  const std::string& i = function.chosen_by;
  std::vector<long> all(cases.size());
  for (std::size_t n = 0; n < all.size(); ++n) all[n] = static_cast<long>(n);
  const std::string slot = families.slot == all ? i : tables.add(families.slot) + "[" + i + "]";
  const std::string which = families.bodies.size() == 1 ? "" : tables.add(families.body) + "[" + i + "]";
  const auto zeroed = std::find_if(function.cases.begin(), function.cases.end(),
                                   [](const FunctionCase& made) { return !made.zeroed.empty(); });
  std::string text = zeroed == function.cases.end() ? "" : zeros_text(*zeroed, "    ");
  if (!which.empty()) text += "    const int family = " + which + ";\n";
  for (std::size_t b = 0; b < families.bodies.size(); ++b) {
    const CaseFamilies::Body& body = families.bodies[b];
    const std::string code =
        body.text + (body.returned.empty() ? "" : "      return " + body.returned + ";\n");
    text += which.empty() ? "    {\n" : "    if (family == " + std::to_string(b) + ") {\n";
    if (uses_name(code, "j")) text += "      const int j = " + slot + ";\n";
    text += code + "    }\n";
  }
  return text + (returns && !which.empty() ? "    " + fallback : "");
}

}  // namespace

FunctionCase fill_array(const Expressions& pool, const std::string& array, const std::vector<Expr>& values) {
  FunctionCase made;
  const auto zeros = static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [&](Expr e) { return pool.is_zero(e); }));
  if (zeros > zeros_written_out) {
    made.zeroed = array;
    made.zeroed_length = values.size();
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (made.zeroed.empty() || !pool.is_zero(values[i]))
      made.outputs.push_back({array + "[" + std::to_string(i) + "]", values[i]});
  return made;
}

void append_array(FunctionCase& made, const std::string& array, const std::vector<Expr>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    made.outputs.push_back({array + "[" + std::to_string(i) + "]", values[i]});
}

std::string function_text(const Expressions& pool, const Hoisted& hoisted, const Function& function) {
  std::string body;
  if (!function.chosen_by.empty())
    body = switch_text(pool, hoisted, function);
  else
    for (const FunctionCase& made : function.cases) body += case_text(pool, hoisted, made, 4);
  const char* linkage = function.role == FunctionRole::at_events ? "ZWANG_DEVICE" : "ZWANG_HOT";
  return whole_text(function, linkage, body);
}

std::string rolled_function_text(const Expressions& pool, const Hoisted& hoisted, const Function& function,
                                 Tables& tables) {
  std::string body;
  if (!function.chosen_by.empty()) {
    body = rolled_switch_text(pool, hoisted, function, tables);
  } else {
    for (const FunctionCase& made : function.cases)
      body += made.before + zeros_text(made, "    ") + rolled_text(pool, hoisted, made.outputs, tables, 4);
  }
  // Not inlined: a step calls the motion a dozen times, and arrays this long are in memory anyway.
  const char* linkage = function.role == FunctionRole::at_events ? "ZWANG_DEVICE" : "ZWANG_COLD";
  return whole_text(function, linkage, body);
}

std::string table_text(const std::string& type, const std::string& name, const std::vector<int>& values) {
  const auto number = [&](int value) {
    return type == "bool" ? std::string(value ? "true" : "false") : std::to_string(value);
  };
  std::map<int, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < values.size(); ++i) places[values[i]].push_back(i);
  // The most frequent value is the default.
  int usual = 0;
  for (const auto& [value, list] : places)
    if (list.size() > (places.contains(usual) ? places.at(usual).size() : 0)) usual = value;
  const bool constant = places.size() <= 1;
  std::string text = "  ZWANG_CONSTANT static constexpr " + type + " " + name +
                     (constant ? "(int) { return " : "(int i) {\n    switch (i) {\n");
  if (constant) return text + number(usual) + "; }\n";
  for (const auto& [value, list] : places) {
    if (value == usual) continue;
    for (const std::size_t i : list) text += "      case " + std::to_string(i) + ":\n";
    text += "        return " + number(value) + ";\n";
  }
  return text + "      default:\n        return " + number(usual) + ";\n    }\n  }\n";
}

}  // namespace zwang
