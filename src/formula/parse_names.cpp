// Resolution of names and calls in formulas.
#include <cmath>

#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/parser.h"
#include "src/formula/scope.h"
#include "src/formula/token.h"
#include "src/formula/vocabulary.h"

namespace zwang {

namespace {

std::string what_is_needed(unsigned bits) {
  if (bits & allow_quaternions) return "quaternions";
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

}  // namespace

std::vector<std::string> Parser::known_names() const {
  std::vector<std::string> names = {"t", "pi"};
  for (const auto& [name, entry] : scope_.scalars)
    if ((entry.needs & ~allowed_) == 0) names.push_back(name);
  if (allowed_ & allow_positions)
    for (const auto& [name, entry] : scope_.vectors) {
      if ((entry.needs & ~allowed_) != 0) continue;
      names.push_back(name);
      for (std::size_t i = 0; i < entry.position.size(); ++i) names.push_back(name + "." + "xyz"[i]);
    }
  if (outside_reductions())
    for (const auto& [name, value] : measures_->earlier) names.push_back(name);
  for (const FormulaFunction& function : functions) names.emplace_back(function.name);
  for (const std::string_view function : vector_functions) names.emplace_back(function);
  return names;
}

void Parser::require_allowed(const Token& token, unsigned needs) const {
  const unsigned missing = needs & ~allowed_;
  if (missing == 0) return;
  if (outside_reductions())
    fail(token, "'" + token.text + "' changes over time, a measure is one number per member",
         "a reduction of it, such as final(" + token.text + ") or maximum(" + token.text + ")");
  if (missing & allow_quaternions)
    fail(token, "the entries of a quaternion cannot be used here", "body points, or axes such as box.ez");
  fail(token, what_is_needed(missing) + " cannot be used here", what_is_allowed(allowed_));
}

Token Parser::dotted_name() {
  Token token = peek();
  ++next_;
  while (peek().text == "." && (peek(1).kind == TokenKind::name || peek(1).kind == TokenKind::number)) {
    token.text += "." + peek(1).text;
    next_ += 2;
  }
  return token;
}

Expr Parser::name() {
  if (const std::optional<Expr> measure = measure_name()) return *measure;
  Token token = dotted_name();
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
      const bool rate = (entry.needs & allow_velocities) != 0;
      fail(token, "'" + scalar->first + "' has no velocity",
           rate ? "a quantity without accelerations: body rates have no prime"
                : "a coordinate before the prime");
    }
    token.text += "'";
    require_allowed(token, entry.needs | allow_velocities);
    return *entry.rate;
  }
  const auto vector = scope_.vectors.find(token.text);
  if (vector != scope_.vectors.end())
    fail(token,
         "'" + token.text + "' is " +
             (vector->second.is_anchor  ? "an anchor"
              : vector->second.is_place ? "a point"
                                        : "a vector") +
             ", not a number",
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
  if (const FormulaFunction* function = find_function(word)) {
    std::vector<Expr> arguments;
    if (peek().text != ")") do
        arguments.push_back(sum());
      while (take(","));
    for (const Expr argument : arguments) may_be_missing(argument);
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
  } else if (contains(body_functions, word)) {
    result = body_call(word, token);
  } else if (contains(state_functions, word) || contains(condition_functions, word)) {
    result = condition_call(word, token);
  } else {
    const bool reduces = is_reduction(word);
    if (word == "probability") fail_on_probability(token);
    if (reduces && outside_reductions()) {
      --depth_;
      return reduction(token);
    }
    fail(token, reduces ? "'" + word + "' reduces over time" : "unknown function '" + word + "'",
         reduces ? "reductions only in [measure], and not inside one another"
                 : "a function of the formula language",
         reduces ? "" : suggestion(word, known_names()));
  }
  expect(")", "to close " + word + "(");
  --depth_;
  return result;
}

std::string Parser::condition_argument(const std::string& function) {
  if (peek().kind != TokenKind::name) unexpected("the name of a constraint inside " + function + "()");
  const Token token = dotted_name();
  if (function == "holding" || function == "broken" || function == "breaks")
    if (const auto link = scope_.links.find(token.text); link != scope_.links.end())
      return link->second.first_condition;
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
  const bool defined =
      (function != "kinetic" || scope_.kinetic) && (function != "potential" || scope_.potential);
  if (outside_reductions())
    fail(token, "'" + function + "' changes over time, a measure is one number per member",
         "a reduction of it, such as maximum(" + function + "(..))");
  if (!(allowed_ & allow_reactions) || !defined)
    fail(token, "'" + function + "' cannot be used here",
         "it stands only in [observe], [measure], [[event]], [[record]] and [time] stop");
  if (function == "kinetic") return *scope_.kinetic;
  if (function == "potential") return *scope_.potential;
  if (function == "logdensity") return *scope_.logdensity;
  if (function == "dissipated" && peek().text == ")") {
    if (!scope_.dissipated) fail(token, "nothing is dissipated here", "a constraint with friction or limit");
    return *scope_.dissipated;
  }
  const Token argument = peek();
  if (function == "reaction" && argument.kind == TokenKind::name && peek(1).text == ")")
    if (const auto link = scope_.links.find(argument.text); link != scope_.links.end()) {
      ++next_;
      return link->second.reaction;
    }
  const ConditionName& entry = scope_.conditions.find(condition_argument(function))->second;
  const auto mode = [&](const std::optional<Expr>& value, const char* key) {
    if (!value)
      fail(argument, "'" + argument.text + "' has no " + function + "()",
           std::string("a constraint with ") + key);
    return *value;
  };
  if (function == "friction") return mode(entry.friction, "friction");
  if (function == "slip") return mode(entry.slip, "friction");
  if (function == "sticking") return mode(entry.sticking, "friction");
  if (function == "slipping") return mode(entry.slipping, "friction");
  if (function == "holding") return mode(entry.holding, "limit");
  if (function == "broken") return mode(entry.broken, "limit and breaks = true");
  if (function == "dissipated") return mode(entry.dissipated, "friction or limit");
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
  if (peek().kind != TokenKind::name) unexpected("the name of a point or an anchor");
  const Token token = dotted_name();
  const VectorName& vector = find_vector(token);
  require_allowed(token, vector.needs);
  *name = token.text;
  if (is_anchor) *is_anchor = vector.is_anchor;
  if (position) *position = vector.position;
  if (peek().text != "'") return vector.position;
  if (!prime_allowed) unexpected("a position: this function takes no velocities");
  if (vector.velocity.empty()) unexpected("a vector without prime: '" + token.text + "' has no known rate");
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
      if (!scope_.vectors.find(first_name)->second.is_place)
        fail(token, "'" + first_name + "' is not a place, and has no speed",
             "a point, a body or a body point");
      components = scope_.vectors.find(first_name)->second.velocity;
    }
    const Expr length = pool_.apply(Op::sqrt, dot(components, components));
    if (function == "norm" && components == first_position && !first_is_anchor &&
        scope_.vectors.find(first_name)->second.is_place)
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
  for (const std::string& name : {first_name, second_name})
    if (!scope_.vectors.find(name)->second.is_place)
      fail(token, "'" + name + "' is not a place, and has no distance",
           "points, bodies, body points or anchors");
  std::vector<Expr> difference;
  for (std::size_t i = 0; i < first.size(); ++i) difference.push_back(pool_.subtract(first[i], second[i]));
  const Expr length = pool_.apply(Op::sqrt, dot(difference, difference));
  last_distance_ = {length, Distance{difference, first_is_anchor ? second_position : first_position}};
  return length;
}

// angle(u, v) between two vectors, and rotation(box), the angle of a body's orientation.
Expr Parser::body_call(const std::string& function, const Token& token) {
  std::string first_name, second_name;
  const std::vector<Expr> u = vector_argument(&first_name, true);
  if (function == "rotation") {
    const std::optional<Expr>& rotation = scope_.vectors.find(first_name)->second.rotation;
    if (!rotation) fail(token, "'" + first_name + "' has no orientation", "the name of a [[body]]");
    return *rotation;
  }
  expect(",", "and a second vector in angle()");
  const std::vector<Expr> v = vector_argument(&second_name, true);
  if (u.size() != v.size() || u.size() < 2)
    fail(token, "angle() of '" + first_name + "' and '" + second_name + "'",
         "two vectors of the same dimension, 2 or 3");
  const auto product = [&](std::size_t i, std::size_t j) {
    return pool_.subtract(pool_.multiply(u[i], v[j]), pool_.multiply(u[j], v[i]));
  };
  Expr across = pool_.apply(Op::abs, product(0, 1)), along = pool_.zero();
  if (u.size() == 3)
    across =
        pool_.apply(Op::sqrt, pool_.add(pool_.add(pool_.square(product(1, 2)), pool_.square(product(2, 0))),
                                        pool_.square(product(0, 1))));
  for (std::size_t k = 0; k < u.size(); ++k) along = pool_.add(along, pool_.multiply(u[k], v[k]));
  return pool_.apply(Op::atan2, across, along);
}

}  // namespace zwang
