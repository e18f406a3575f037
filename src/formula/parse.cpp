// Entry points of the parser, and the grammar of measures.
#include "src/formula/parse.h"

#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/formula/parser.h"
#include "src/formula/token.h"
#include "src/formula/vocabulary.h"

namespace zwang {

void Parser::event_argument(MeasureFormula& measure) {
  const Token token = peek();
  const auto* it = std::find_if(std::begin(patterns), std::end(patterns),
                                [&](const PatternName& p) { return p.name == token.text; });
  const bool sizes = measure.reduction == Reduction::total || measure.reduction == Reduction::maximum;
  if (it == std::end(patterns) || peek(1).text != "(" || (it->pattern == EventPattern::impulse) != sizes)
    fail(token, "not something this reduction can count",
         sizes ? "impulse(c)" : "shock(c), release(c), contact(c), accumulation(c) or event(name)");
  next_ += 2;
  measure.pattern = it->pattern;
  if (it->pattern != EventPattern::watched) {
    measure.name = condition_argument(token.text);
  } else {
    const Token name = peek();
    ++next_;
    if (!contains(scope_.events, name.text))
      fail(name, "there is no event '" + name.text + "'",
           scope_.events.empty() ? "the name of an [[event]]; this study has none"
                                 : "one of: " + list_text(scope_.events, "or"),
           suggestion(name.text, scope_.events));
    measure.name = name.text;
  }
  expect(")", "to close " + token.text + "(");
}

MeasureFormula Parser::whole_measure() {
  const Token token = peek();
  const auto* it = std::find_if(std::begin(reductions), std::end(reductions),
                                [&](const ReductionName& r) { return r.name == token.text; });
  if (it == std::end(reductions) || peek(1).text != "(") {
    std::vector<std::string> names;
    for (const ReductionName& r : reductions) names.emplace_back(r.name);
    fail(token, "a measure reduces over time",
         "one of " + list_text(names, "or") + " as the outermost function",
         token.kind == TokenKind::name ? suggestion(token.text, names) : "");
  }
  next_ += 2;
  MeasureFormula measure{.reduction = it->reduction};
  const Reduction r = measure.reduction;
  const bool of_impulse = r == Reduction::maximum && peek().text == "impulse" && peek(1).text == "(";
  if (r == Reduction::count || r == Reduction::first || r == Reduction::last || r == Reduction::total ||
      r == Reduction::at || of_impulse)
    event_argument(measure);
  if (r == Reduction::at) expect(",", "and the expression to evaluate there");
  if (measure.pattern == EventPattern::none || r == Reduction::at) measure.value = sum();
  expect(")", "to close " + token.text + "(");
  if (peek().kind != TokenKind::end) unexpected("the end: a measure is one reduction and nothing around it");
  return measure;
}

Expr parse_expression(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                      const Source& source) {
  return Parser(pool, text, scope, allowed, source).whole_expression();
}

Condition parse_condition(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                          const Source& source, bool strict_allowed) {
  return Parser(pool, text, scope, allowed, source).whole_condition(strict_allowed);
}

MeasureFormula parse_measure(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                             const Source& source) {
  return Parser(pool, text, scope, allowed, source).whole_measure();
}

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool is_reserved(std::string_view name) {
  return name == "t" || name == "pi" || find_function(name) || contains(vector_functions, name) ||
         contains(state_functions, name) || contains(condition_functions, name);
}

}  // namespace zwang
