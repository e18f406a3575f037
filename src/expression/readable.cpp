// Collects every expression as a sum of terms, each a number times powers of factors, and prints it.
#include "src/expression/readable.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/expression/operation.h"

namespace zwang {

namespace {

// Sums of more terms and products of more factors are treated as one factor and cut.
constexpr std::size_t term_limit = 100;

struct Factor {
  std::string text;  // names it, and is what is printed
  bool sum = false;  // needs parentheses
  double exponent = 1;
};

struct Term {
  double coefficient = 1;
  std::vector<Factor> factors;
};

using Sum = std::vector<Term>;  // empty: 0

std::string number_of(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.15g", value);
  return text.data();
}

class Reading {
 public:
  Reading(const Expressions& pool, const SymbolNamer& name, Notation notation, std::size_t limit)
      : pool_(pool), name_(name), latex_(notation == Notation::latex), limit_(limit) {}

  std::string text_of(Expr root) {
    for (const Expr e : pool_.reachable({root})) sums_.emplace(e.id, limited(sum_of(pool_.node(e))));
    return cut(print(sums_.at(root.id)));
  }

 private:
  // --- Collecting ------------------------------------------------------------------------------------------

  Sum sum_of(const Node& node) {
    const auto argument = [&](std::size_t k) -> const Sum& { return sums_.at(node.arguments[k].id); };
    switch (node.op) {
      case Op::constant:
        return node.value == 0 ? Sum{} : Sum{{node.value, {}}};
      case Op::symbol:
        return atom(latex_ ? latex_name(name_(node.symbol)) : name_(node.symbol));
      case Op::add:
        return added(argument(0), argument(1), 1);
      case Op::subtract:
        return added(argument(0), argument(1), -1);
      case Op::negate:
        return added({}, argument(0), -1);
      case Op::multiply:
        return product(argument(0), argument(1), 1);
      case Op::divide:
        return product(argument(0), argument(1), -1);
      case Op::power:
        return power(node, argument(0));
      default:
        return atom(call(node));
    }
  }

  static Sum atom(std::string text) { return {{1, {{std::move(text), false, 1}}}}; }

  Sum limited(Sum sum) const {
    const bool short_terms = std::all_of(sum.begin(), sum.end(),
                                         [](const Term& term) { return term.factors.size() <= term_limit; });
    if (sum.size() <= term_limit && short_terms) return sum;
    return atom("(" + cut(print(sum)) + ")");
  }

  static Sum added(const Sum& a, const Sum& b, double sign) {
    Sum made = a;
    for (Term term : b) {
      term.coefficient *= sign;
      const auto same =
          std::find_if(made.begin(), made.end(), [&](const Term& other) { return alike(other, term); });
      if (same == made.end())
        made.push_back(std::move(term));
      else
        same->coefficient += term.coefficient;
    }
    std::erase_if(made, [](const Term& term) { return term.coefficient == 0; });
    return made;
  }

  static bool alike(const Term& a, const Term& b) {
    return a.factors.size() == b.factors.size() &&
           std::all_of(a.factors.begin(), a.factors.end(), [&](const Factor& factor) {
             return std::any_of(b.factors.begin(), b.factors.end(), [&](const Factor& other) {
               return other.text == factor.text && other.exponent == factor.exponent;
             });
           });
  }

  // A sum as one term: itself, or a factor in parentheses with a common number and sign taken out of it.
  Term as_term(const Sum& sum) const {
    if (sum.size() == 1) return sum.front();
    const double size = std::abs(sum.front().coefficient);
    const bool common = std::all_of(sum.begin(), sum.end(),
                                    [&](const Term& term) { return std::abs(term.coefficient) == size; });
    // The first term is positive, so that a - b and b - a are the same factor up to its sign.
    const bool negative = sum.front().coefficient < 0;
    const double taken = (common ? size : 1) * (negative ? -1 : 1);
    Sum rest = sum;
    for (Term& term : rest) term.coefficient /= taken;
    return {taken, {{print(rest), true, 1}}};
  }

  Sum product(const Sum& a, const Sum& b, double exponent) const {
    if (a.empty()) return {};
    if (b.empty()) return atom(cut(print(a)) + "/0");
    // A number times a sum stays a sum.
    if (b.size() == 1 && b.front().factors.empty()) {
      Sum made = a;
      for (Term& term : made)
        term.coefficient *= exponent > 0 ? b.front().coefficient : 1 / b.front().coefficient;
      if (a.size() == 1 || std::abs(b.front().coefficient) == 1) return made;
    }
    Term made = as_term(a);
    const Term other = as_term(b);
    made.coefficient *= exponent > 0 ? other.coefficient : 1 / other.coefficient;
    for (const Factor& factor : other.factors) multiply(made, factor, exponent);
    return {made};
  }

  static void multiply(Term& term, const Factor& factor, double exponent) {
    const auto same = std::find_if(term.factors.begin(), term.factors.end(),
                                   [&](const Factor& other) { return other.text == factor.text; });
    if (same == term.factors.end()) {
      term.factors.push_back({factor.text, factor.sum, factor.exponent * exponent});
      return;
    }
    same->exponent += factor.exponent * exponent;
    if (same->exponent == 0) term.factors.erase(same);
  }

  Sum power(const Node& node, const Sum& base) const {
    const Node& exponent = pool_.node(node.arguments[1]);
    if (exponent.op == Op::constant && exponent.value == std::floor(exponent.value) && !base.empty()) {
      Term made = as_term(base);
      made.coefficient = std::pow(made.coefficient, exponent.value);
      for (Factor& factor : made.factors) factor.exponent *= exponent.value;
      return {made};
    }
    const std::string above = print(sums_.at(node.arguments[1].id));
    const bool plain = base.size() == 1 && base.front().coefficient == 1 &&
                       base.front().factors.size() == 1 && base.front().factors.front().exponent == 1 &&
                       !base.front().factors.front().sum;
    const std::string below = plain ? print(base) : parentheses(print(base));
    return atom(latex_ ? below + "^{" + above + "}"
                       : below + "^" + (simple(above) ? above : "(" + above + ")"));
  }

  static bool simple(const std::string& text) {
    return std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '.'; });
  }

  std::string call(const Node& node) const {
    std::string arguments;
    for (int k = 0; k < arity(node.op); ++k)
      arguments += (k ? ", " : "") + cut(print(sums_.at(node.arguments[static_cast<std::size_t>(k)].id)));
    const std::string name(name_of(node.op));
    if (!latex_) return name + "(" + arguments + ")";
    if (node.op == Op::sqrt) return "\\sqrt{" + arguments + "}";
    if (node.op == Op::abs) return "\\left|" + arguments + "\\right|";
    const bool known = node.op == Op::sin || node.op == Op::cos || node.op == Op::tan ||
                       node.op == Op::sinh || node.op == Op::cosh || node.op == Op::tanh ||
                       node.op == Op::exp || node.op == Op::log || node.op == Op::minimum ||
                       node.op == Op::maximum;
    return (known ? "\\" + name : "\\operatorname{" + latex_text(name) + "}") + parentheses(arguments);
  }

  // --- Printing --------------------------------------------------------------------------------------------

  std::string parentheses(const std::string& text) const {
    return latex_ ? "\\left(" + text + "\\right)" : "(" + text + ")";
  }

  std::string factor_text(const Factor& factor) const {
    const double exponent = std::abs(factor.exponent);
    const std::string base = factor.sum ? parentheses(factor.text) : factor.text;
    if (exponent == 1) return base;
    // A power of a call or of a power needs parentheses in LaTeX only where it already has an exponent.
    const bool nested = factor.text.find('^') != std::string::npos && !factor.sum;
    return (nested ? parentheses(base) : base) +
           (latex_ ? "^{" + number_of(exponent) + "}" : "^" + number_of(exponent));
  }

  // Without its sign.
  std::string term_text(const Term& term) const {
    const double size = std::abs(term.coefficient);
    std::vector<std::string> above, below;
    for (const Factor& factor : term.factors)
      (factor.exponent > 0 ? above : below).push_back(factor_text(factor));
    if (size != 1 || above.empty()) above.insert(above.begin(), number_of(size));
    const auto joined_by = [](const std::vector<std::string>& list, const char* sign) {
      std::string text;
      for (const std::string& word : list) text += (text.empty() ? "" : sign) + word;
      return text;
    };
    if (latex_) {
      if (below.empty()) return joined_by(above, "\\,");
      return "\\frac{" + joined_by(above, "\\,") + "}{" + joined_by(below, "\\,") + "}";
    }
    if (below.empty()) return joined_by(above, "*");
    return joined_by(above, "*") + "/" +
           (below.size() == 1 ? below.front() : "(" + joined_by(below, "*") + ")");
  }

  std::string print(const Sum& sum) const {
    if (sum.empty()) return "0";
    std::string text;
    for (const Term& term : sum) {
      const bool negative = term.coefficient < 0;
      text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
      text += only_a_sum(sum) ? term.factors.front().text : term_text(term);
      if (text.size() > 4 * limit_) return text.substr(0, 4 * limit_) + "...";
    }
    return text;
  }

  // A single sum without a number before it is printed without parentheses.
  static bool only_a_sum(const Sum& sum) {
    return sum.size() == 1 && sum.front().coefficient == 1 && sum.front().factors.size() == 1 &&
           sum.front().factors.front().sum && sum.front().factors.front().exponent == 1;
  }

  std::string cut(const std::string& text) const {
    return text.size() > limit_ ? text.substr(0, limit_) + "..." : text;
  }

  const Expressions& pool_;
  const SymbolNamer& name_;
  bool latex_;
  std::size_t limit_;
  std::unordered_map<std::uint32_t, Sum> sums_;
};

constexpr std::array<const char*, 25> greek = {
    "alpha",  "beta", "gamma", "delta", "epsilon", "zeta", "eta",   "theta", "kappa",
    "lambda", "mu",   "nu",    "xi",    "pi",      "rho",  "sigma", "tau",   "phi",
    "chi",    "psi",  "omega", "Gamma", "Delta",   "Phi",  "Omega"};

// One word of a name, without dots and primes: x, phi, v0, mass.
std::string latex_word(const std::string& word) {
  const std::size_t digits = word.find_last_not_of("0123456789") + 1;
  const std::string letters = word.substr(0, digits), number = word.substr(digits);
  std::string made = letters;
  if (std::find(greek.begin(), greek.end(), letters) != greek.end())
    made = "\\" + letters;
  else if (letters.size() > 1)
    made = "\\mathrm{" + latex_text(letters) + "}";
  return number.empty() || letters.empty() ? made + number : made + "_{" + number + "}";
}

}  // namespace

std::string latex_text(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (std::string_view("#$%&_{}").find(c) != std::string_view::npos)
      made += std::string("\\") + c;
    else if (c == '\\')
      made += "\\textbackslash{}";
    else if (c == '^' || c == '~')
      made += std::string("\\") + c + "{}";
    else
      made += c;
  }
  return made;
}

std::string latex_name(const std::string& name) {
  const bool dotted = name.ends_with('\'');
  const std::string plain = dotted ? name.substr(0, name.size() - 1) : name;
  const std::size_t at = plain.rfind('.');
  std::string letter = latex_word(at == std::string::npos ? plain : plain.substr(at + 1));
  if (dotted) letter = "\\dot{" + letter + "}";
  return at == std::string::npos ? letter : letter + "_{\\mathrm{" + latex_text(plain.substr(0, at)) + "}}";
}

std::string readable_text(const Expressions& pool, Expr e, const SymbolNamer& name, Notation notation,
                          std::size_t limit) {
  return Reading(pool, name, notation, limit).text_of(e);
}

}  // namespace zwang
