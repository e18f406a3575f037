// Recursive-descent parser of the formula language. The grammar is here; names and calls are resolved in
// parse_names.cpp.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/scope.h"
#include "src/formula/token.h"

namespace zwang {

// Nested parentheses, calls and exponents: far more than any formula needs, far less than the stack allows.
inline constexpr int nesting_limit = 200;

class Parser {
 public:
  Parser(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
         const Source& source)
      : pool_(pool), scope_(scope), allowed_(allowed), source_(source), tokens_(tokenize(text, source)) {}

  Expr whole_expression() {
    const Expr result = sum();
    if (is_comparison(peek().text))
      fail(peek(), "a comparison has no place here",
           "one expression; comparisons stand only in require and stop");
    if (peek().kind != TokenKind::end) unexpected("an operator or the end of the formula");
    return result;
  }

  Condition whole_condition(bool strict_allowed) {
    Condition condition{};
    condition.left = side(condition.left_distance);
    const Token relation = peek();
    const std::string choices = strict_allowed ? "<, <=, > or >=" : "<=, >= or ==";
    if (!is_comparison(relation.text))
      fail(relation, "a condition needs a comparison", "left " + choices + " right");
    condition.comparison = comparison(relation, strict_allowed, choices);
    ++next_;
    condition.right = side(condition.right_distance);
    if (is_comparison(peek().text))
      fail(peek(), "a second comparison in one condition", "one comparison",
           "write two conditions for two comparisons");
    if (peek().kind != TokenKind::end) unexpected("an operator or the end of the formula");
    return condition;
  }

  // Formulas of [measure]: parse_measure.cpp.
  MeasureFormula whole_measure(const MeasureScope& measures);
  MeasureFormula whole_measure_condition(const MeasureScope& measures);
  ReducedFormula whole_event_pattern();

 private:
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  bool take(std::string_view symbol) {
    if (peek().kind != TokenKind::symbol || peek().text != symbol) return false;
    ++next_;
    return true;
  }
  static bool is_comparison(std::string_view text) {
    return text == "<=" || text == ">=" || text == "==" || text == "<" || text == ">" || text == "=" ||
           text == "!=";
  }

  [[noreturn]] void fail(const Token& token, const std::string& message, const std::string& expected,
                         const std::string& hint = "") const {
    const std::string found = token.kind == TokenKind::end ? "the end of the formula" : token.text;
    throw Error({.where = source_.locate(token.offset),
                 .message = source_.place + ": " + message,
                 .found = found,
                 .expected = expected,
                 .hint = hint});
  }
  [[noreturn]] void unexpected(const std::string& expected) const {
    std::string hint;
    if (peek().text == "**") hint = "powers are written with ^";
    // "1.0 m", "9.81 m/s^2"
    if (peek().kind == TokenKind::name && next_ > 0 && tokens_[next_ - 1].kind == TokenKind::number)
      hint = "products are written with *; units are not part of numbers, the table [units] has labels";
    fail(peek(), "the formula cannot go on like this", expected, hint);
  }

  void expect(std::string_view symbol, const std::string& why) {
    if (!take(symbol)) unexpected("'" + std::string(symbol) + "' " + why);
  }

  void deeper() {
    if (++depth_ > nesting_limit)
      fail(
          peek(), "the formula is nested too deeply",
          "at most " + std::to_string(nesting_limit) + " parentheses, calls or exponents inside one another");
  }

  Comparison comparison(const Token& token, bool strict_allowed, const std::string& choices) const {
    if (token.text == "<=") return Comparison::less_equal;
    if (token.text == ">=") return Comparison::greater_equal;
    if (token.text == "==" && !strict_allowed) return Comparison::equal;
    if (token.text == "<" && strict_allowed) return Comparison::less;
    if (token.text == ">" && strict_allowed) return Comparison::greater;
    std::string hint;
    if (token.text == "=") hint = strict_allowed ? "" : "an equation is written with ==";
    if (token.text == "<" || token.text == ">")
      hint = "a condition includes its boundary: write " + token.text + "=";
    if (token.text == "==") hint = "a stop condition is an inequality; an [[event]] watches for a root";
    fail(token, "not a comparison that can stand here", choices, hint);
  }

  // One side of a condition. `distance` is set when the whole side is distance(a,b) or norm(a).
  Expr side(std::optional<Distance>& distance) {
    last_distance_.reset();
    std::size_t open = 0;
    while (peek(open).text == "(") ++open;
    const std::string& word = peek(open).text;
    const bool call = word == "distance" || word == "norm";
    const Expr result = sum();
    if (call && last_distance_ && last_distance_->first == result) distance = last_distance_->second;
    return result;
  }

  Expr sum() {
    Expr left = product();
    for (;;) {
      if (take("+"))
        left = pool_.add(left, product());
      else if (take("-"))
        left = pool_.subtract(left, product());
      else
        return left;
    }
  }

  Expr product() {
    Expr left = signed_power();
    for (;;) {
      if (take("*"))
        left = pool_.multiply(left, signed_power());
      else if (take("/"))
        left = pool_.divide(left, signed_power());
      else
        return left;
    }
  }

  // -x^2 is -(x^2): a sign has lower precedence than a power.
  Expr signed_power() {
    bool negative = false;
    for (;;) {
      if (take("-"))
        negative = !negative;
      else if (!take("+"))
        break;
    }
    const Expr value = power();
    return negative ? pool_.negate(value) : value;
  }

  Expr power() {
    const Expr base = atom();
    if (!take("^")) return base;
    deeper();
    const Expr exponent = signed_power();  // to the right: a^b^c = a^(b^c)
    --depth_;
    may_be_missing(base);
    may_be_missing(exponent);
    return pool_.apply(Op::power, base, exponent);
  }

  Expr atom() {
    const Token token = peek();
    if (token.kind == TokenKind::number) {
      ++next_;
      return pool_.constant(token.value);
    }
    if (take("(")) {
      deeper();
      const Expr inner = sum();
      expect(")", "to close the parenthesis");
      --depth_;
      return inner;
    }
    if (token.kind == TokenKind::name) return peek(1).text == "(" ? call() : name();
    unexpected("a number, a name or '('");
  }

  Expr name();
  Expr call();
  Expr condition_call(const std::string& function, const Token& token);
  Expr vector_call(const std::string& function, const Token& token);
  std::vector<Expr> vector_argument(std::string* name, bool prime_allowed, bool* is_anchor = nullptr,
                                    std::vector<Expr>* position = nullptr);
  const VectorName& find_vector(const Token& token) const;
  Expr body_call(const std::string& function, const Token& token);
  // A name with its parts after dots, such as box.corner.x or hinge.1, as one token.
  Token dotted_name();
  void require_allowed(const Token& token, unsigned needs) const;
  std::vector<std::string> known_names() const;
  std::string condition_argument(const std::string& function);

  // --- Formulas of [measure] (parse_measure.cpp) ---
  struct Truth {
    Expr holds, undecided;
  };
  bool outside_reductions() const { return measures_ && !reducing_; }
  void event_argument(ReducedFormula& reduced);
  void require_mode(const Token& token, const std::string& pattern, EventPattern kind) const;
  Expr reduction(const Token& token);
  std::optional<Expr> record_reduction(const Token& token);
  // The value of a measure by name, if the next token is one.
  std::optional<Expr> measure_name();
  Truth any_of_conditions();
  Truth all_of_conditions();
  Truth negated_condition();
  Truth comparison_of_measures();
  bool opens_condition() const;
  [[noreturn]] void fail_on_probability(const Token& token) const;
  Expr present(Expr e);
  Expr unless_missing(Expr value);

  Expressions& pool_;
  const Scope& scope_;
  unsigned allowed_;
  const Source& source_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
  std::optional<std::pair<Expr, Distance>> last_distance_;

  // In a measure: what is missing (NaN) makes the result missing. Functions such as min, and simplifications
  // such as x - x = 0, lose a NaN among their operands, so operands that may be one are listed here.
  void may_be_missing(Expr e) {
    if (outside_reductions() && !pool_.is_constant(e) &&
        std::find(operands_.begin(), operands_.end(), e) == operands_.end())
      operands_.push_back(e);
  }
  const MeasureScope* measures_ = nullptr;
  bool reducing_ = false;  // inside a reduction
  std::vector<Expr> operands_;
};

}  // namespace zwang
