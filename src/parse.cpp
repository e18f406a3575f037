#include "src/parse.h"

#include <algorithm>
#include <cmath>

#include "src/token.h"

namespace zwang {

namespace {

// Parentheses, calls and exponents inside one another; far beyond any formula, far below the stack.
constexpr int nesting_limit = 200;

struct Function {
  std::string_view name;
  Op op;
  int least, most;  // number of arguments; most = -1: any number
};

constexpr Function functions[] = {
    {"sin", Op::sin, 1, 1},     {"cos", Op::cos, 1, 1},      {"tan", Op::tan, 1, 1},
    {"asin", Op::asin, 1, 1},   {"acos", Op::acos, 1, 1},    {"atan", Op::atan, 1, 1},
    {"sinh", Op::sinh, 1, 1},   {"cosh", Op::cosh, 1, 1},    {"tanh", Op::tanh, 1, 1},
    {"exp", Op::exp, 1, 1},     {"log", Op::log, 1, 1},      {"sqrt", Op::sqrt, 1, 1},
    {"abs", Op::abs, 1, 1},     {"sign", Op::sign, 1, 1},    {"floor", Op::floor, 1, 1},
    {"atan2", Op::atan2, 2, 2}, {"min", Op::minimum, 2, -1}, {"max", Op::maximum, 2, -1},
    {"hypot", Op::hypot, 2, 2}, {"wrap", Op::wrap, 2, 2},
};

constexpr std::string_view vector_functions[] = {"distance", "dot", "norm", "speed"};
constexpr std::string_view state_functions[] = {"kinetic", "potential", "logdensity"};
constexpr std::string_view condition_functions[] = {"multiplier", "reaction", "value", "open", "closed"};

struct ReductionName {
  std::string_view name;
  Reduction reduction;
};
constexpr ReductionName reductions[] = {
    {"initial", Reduction::initial}, {"final", Reduction::final}, {"minimum", Reduction::minimum},
    {"maximum", Reduction::maximum}, {"mean", Reduction::mean},   {"integral", Reduction::integral},
    {"count", Reduction::count},     {"first", Reduction::first}, {"last", Reduction::last},
    {"total", Reduction::total},     {"at", Reduction::at}};

struct PatternName {
  std::string_view name;
  EventPattern pattern;
};
constexpr PatternName patterns[] = {
    {"shock", EventPattern::shock},     {"release", EventPattern::release},
    {"contact", EventPattern::contact}, {"accumulation", EventPattern::accumulation},
    {"impulse", EventPattern::impulse}, {"event", EventPattern::watched}};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

const Function* find_function(std::string_view name) {
  const auto* it = std::find_if(std::begin(functions), std::end(functions),
                                [name](const Function& f) { return f.name == name; });
  return it == std::end(functions) ? nullptr : it;
}

std::string what_is_needed(unsigned bits) {
  if (bits & allow_velocities) return "velocities";
  if (bits & allow_positions) return "coordinates";
  if (bits & allow_auxiliaries) return "auxiliary states";
  if (bits & allow_time) return "the time t";
  if (bits & allow_parameters) return "parameters";
  return "reactions";
}

std::string what_is_allowed(unsigned bits) {
  std::vector<std::string> words = {"numbers"};
  if (bits & allow_parameters) words.emplace_back("parameters");
  if (bits & allow_time) words.emplace_back("t");
  if (bits & allow_positions) words.emplace_back("coordinates");
  if (bits & allow_velocities) words.emplace_back("velocities");
  if (bits & allow_auxiliaries) words.emplace_back("auxiliary states");
  return "only " + list_text(words) + " here";
}

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

  MeasureFormula whole_measure();

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
    const bool power = peek().text == "**";
    fail(peek(), "the formula cannot go on like this", expected, power ? "powers are written with ^" : "");
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

  // One side of a condition; remembers when it is distance(a,b) or norm(a) as a whole.
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

  // -x^2 is -(x^2): signs bind looser than the power.
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
  void require_allowed(const Token& token, unsigned needs) const;
  std::vector<std::string> known_names() const;
  std::string condition_argument(const std::string& function);
  void event_argument(MeasureFormula& measure);

  Expressions& pool_;
  const Scope& scope_;
  unsigned allowed_;
  const Source& source_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
  std::optional<std::pair<Expr, Distance>> last_distance_;
};

std::vector<std::string> Parser::known_names() const {
  std::vector<std::string> names = {"t", "pi"};
  for (const auto& [name, entry] : scope_.scalars)
    if ((entry.needs & ~allowed_) == 0) names.push_back(name);
  if (allowed_ & allow_positions)
    for (const auto& [name, entry] : scope_.vectors) {
      names.push_back(name);
      for (std::size_t i = 0; i < entry.position.size(); ++i) names.push_back(name + "." + "xyz"[i]);
    }
  for (const Function& function : functions) names.emplace_back(function.name);
  for (const std::string_view function : vector_functions) names.emplace_back(function);
  return names;
}

void Parser::require_allowed(const Token& token, unsigned needs) const {
  const unsigned missing = needs & ~allowed_;
  if (missing == 0) return;
  fail(token, what_is_needed(missing) + " cannot be used here", what_is_allowed(allowed_));
}

Expr Parser::name() {
  Token token = peek();
  ++next_;
  if (peek().text == "." && peek(1).kind == TokenKind::name) {
    token.text += "." + peek(1).text;
    next_ += 2;
  }
  const bool primed = take("'");
  if (primed && peek().text == "'")
    fail(peek(), "second derivatives are not known here", "one prime: " + token.text + "' is its velocity");
  if (token.text == "pi" || token.text == "t") {
    if (primed) fail(token, "'" + token.text + "' has no velocity", "a coordinate before the prime");
    if (token.text == "pi") return pool_.constant(M_PI);
    require_allowed(token, allow_time);
    return pool_.time();
  }
  const auto scalar = scope_.scalars.find(token.text);
  if (scalar != scope_.scalars.end()) {
    const ScalarName& entry = scalar->second;
    require_allowed(token, entry.needs);
    if (!primed) return entry.value;
    if (!entry.rate) {
      token.text += "'";
      fail(token, "'" + scalar->first + "' has no velocity", "a coordinate before the prime");
    }
    token.text += "'";
    require_allowed(token, entry.needs | allow_velocities);
    return *entry.rate;
  }
  const auto vector = scope_.vectors.find(token.text);
  if (vector != scope_.vectors.end())
    fail(token,
         "'" + token.text + "' is " + (vector->second.is_anchor ? "an anchor" : "a point") + ", not a number",
         "one of its coordinates, or the whole inside distance, dot, norm or speed",
         "write " + token.text + ".x");
  if (find_function(token.text) || contains(vector_functions, token.text) ||
      contains(condition_functions, token.text) || contains(state_functions, token.text))
    fail(token, "'" + token.text + "' is a function", token.text + "(...)");
  fail(token, "unknown name '" + token.text + "'", "a name defined in this study",
       suggestion(token.text, known_names()));
}

Expr Parser::call() {
  const Token token = peek();
  const std::string& word = token.text;
  next_ += 2;  // name and '('
  deeper();
  Expr result{};
  if (const Function* function = find_function(word)) {
    std::vector<Expr> arguments;
    if (peek().text != ")") do
        arguments.push_back(sum());
      while (take(","));
    const int count = static_cast<int>(arguments.size());
    if (count < function->least || (function->most >= 0 && count > function->most)) {
      const std::string wanted = function->most < 0 ? "at least " + std::to_string(function->least)
                                                    : std::to_string(function->least);
      Token whole = token;
      whole.text = word + " with " + std::to_string(count) + (count == 1 ? " argument" : " arguments");
      fail(whole, "wrong number of arguments", wanted + (function->least == 1 ? " argument" : " arguments"));
    }
    result = function->least == 1 ? pool_.apply(function->op, arguments[0])
                                  : pool_.apply(function->op, arguments[0], arguments[1]);
    for (std::size_t i = 2; i < arguments.size(); ++i)
      result = pool_.apply(function->op, result, arguments[i]);
  } else if (contains(vector_functions, word)) {
    result = vector_call(word, token);
  } else if (contains(state_functions, word) || contains(condition_functions, word)) {
    result = condition_call(word, token);
  } else {
    const bool reduces = std::any_of(std::begin(reductions), std::end(reductions),
                                     [&](const ReductionName& r) { return r.name == word; });
    fail(token, reduces ? "'" + word + "' reduces over time" : "unknown function '" + word + "'",
         reduces ? "reductions only as the outermost function of a [measure]"
                 : "a function of the formula language",
         reduces ? "" : suggestion(word, known_names()));
  }
  expect(")", "to close " + word + "(");
  --depth_;
  return result;
}

std::string Parser::condition_argument(const std::string& function) {
  const Token token = peek();
  if (token.kind != TokenKind::name) unexpected("the name of a constraint inside " + function + "()");
  ++next_;
  if (!scope_.conditions.contains(token.text)) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : scope_.conditions) names.push_back(name);
    fail(token, "there is no constraint '" + token.text + "'",
         names.empty() ? "the name of a [[constraint]]; this study has none"
                       : "one of: " + list_text(names, "or"),
         suggestion(token.text, names));
  }
  return token.text;
}

Expr Parser::condition_call(const std::string& function, const Token& token) {
  if (!(allowed_ & allow_reactions))
    fail(token, "'" + function + "' cannot be used here", "it stands only in [observe] and [measure]");
  if (function == "kinetic") return *scope_.kinetic;
  if (function == "potential") return *scope_.potential;
  if (function == "logdensity")
    fail(token, "logdensity() is not available yet", "another observable",
         "the density along the flow comes with a later version");
  const ConditionName& entry = scope_.conditions.find(condition_argument(function))->second;
  if (function == "multiplier") return entry.multiplier;
  if (function == "reaction") return entry.reaction;
  if (function == "value") return entry.value;
  return function == "open" ? entry.open : entry.closed;
}

const VectorName& Parser::find_vector(const Token& token) const {
  const auto it = scope_.vectors.find(token.text);
  if (it != scope_.vectors.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& [name, entry] : scope_.vectors) names.push_back(name);
  fail(token, "'" + token.text + "' is not a point or an anchor",
       names.empty() ? "the name of a [[point]] or [[anchor]]" : "one of: " + list_text(names, "or"),
       suggestion(token.text, names));
}

std::vector<Expr> Parser::vector_argument(std::string* name, bool prime_allowed, bool* is_anchor,
                                          std::vector<Expr>* position) {
  const Token token = peek();
  if (token.kind != TokenKind::name) unexpected("the name of a point or an anchor");
  ++next_;
  const VectorName& vector = find_vector(token);
  require_allowed(token, allow_positions);
  *name = token.text;
  if (is_anchor) *is_anchor = vector.is_anchor;
  if (position) *position = vector.position;
  if (peek().text != "'") return vector.position;
  if (!prime_allowed) unexpected("a position: this function takes no velocities");
  ++next_;
  require_allowed(token, allow_velocities);
  return vector.velocity;
}

Expr Parser::vector_call(const std::string& function, const Token& token) {
  const auto dot = [&](const std::vector<Expr>& a, const std::vector<Expr>& b) {
    Expr total = pool_.zero();
    for (std::size_t i = 0; i < a.size(); ++i)
      total = pool_.add(total, a[i] == b[i] ? pool_.square(a[i]) : pool_.multiply(a[i], b[i]));
    return total;
  };
  std::string first_name, second_name;
  bool first_is_anchor = false;
  std::vector<Expr> first_position;
  const bool primes = function == "dot" || function == "norm";
  const std::vector<Expr> first = vector_argument(&first_name, primes, &first_is_anchor, &first_position);
  if (function == "norm" || function == "speed") {
    std::vector<Expr> components = first;
    if (function == "speed") {
      require_allowed(token, allow_velocities);
      components = scope_.vectors.find(first_name)->second.velocity;
    }
    const Expr length = pool_.apply(Op::sqrt, dot(components, components));
    if (function == "norm" && components == first_position && !first_is_anchor)
      last_distance_ = {length, Distance{components, first_position}};
    return length;
  }
  expect(",", "and a second point in " + function + "()");
  std::vector<Expr> second_position;
  const std::vector<Expr> second = vector_argument(&second_name, primes, nullptr, &second_position);
  if (first.size() != second.size()) {
    Token whole = token;
    whole.text = first_name + " has " + std::to_string(first.size()) + " coordinates, " + second_name +
                 " has " + std::to_string(second.size());
    fail(whole, "points of different dimensions in " + function, "two points of the same dimension");
  }
  if (function == "dot") return dot(first, second);
  std::vector<Expr> difference;
  for (std::size_t i = 0; i < first.size(); ++i) difference.push_back(pool_.subtract(first[i], second[i]));
  const Expr length = pool_.apply(Op::sqrt, dot(difference, difference));
  last_distance_ = {length, Distance{difference, first_is_anchor ? second_position : first_position}};
  return length;
}

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

}  // namespace

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
