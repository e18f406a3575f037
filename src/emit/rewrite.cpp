// Rearrangement of formulas: constant factors, common factors, shared denominators.
#include "src/emit/rewrite.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace zwang {

bool ParameterOnly::operator()(Expr e) {
  while (known_.size() < pool_.size()) {
    const Node& node = pool_.node({static_cast<std::uint32_t>(known_.size())});
    bool only = node.op != Op::symbol || node.symbol.kind == SymbolKind::parameter;
    for (int i = 0; i < arity(node.op); ++i)
      only = only && known_[node.arguments[static_cast<std::size_t>(i)].id];
    known_.push_back(only);
  }
  return known_[e.id] != 0;
}

namespace {

// Operations of one or two instructions.
bool is_short(const Expressions& pool, const Node& node) {
  switch (node.op) {
    case Op::symbol:
    case Op::constant:
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::negate:
    case Op::abs:
    case Op::sign:
    case Op::minimum:
    case Op::maximum:
    case Op::if_less:
      return true;
    case Op::power:
      return pool.is_constant(node.arguments[1], 2) || pool.is_constant(node.arguments[1], 3);
    default:
      return false;
  }
}

}  // namespace

TimeOnly::TimeOnly(const Expressions& pool) {
  for (std::uint32_t id = 0; id < pool.size(); ++id) {
    const Node& node = pool.node({id});
    Kind kind = Kind::constant;
    if (node.op == Op::symbol && node.symbol != Symbol{SymbolKind::time, 0})
      kind = node.symbol.kind == SymbolKind::parameter ? Kind::constant : Kind::other;
    else if (node.op == Op::symbol)
      kind = Kind::sum;
    bool pure = true;
    for (int i = 0; i < arity(node.op); ++i) {
      const Kind part = known_[node.arguments[static_cast<std::size_t>(i)].id];
      pure = pure && part != Kind::other;
      kind = std::max(kind, part);
    }
    if (kind == Kind::sum && !is_short(pool, node)) kind = Kind::work;
    known_.push_back(pure ? kind : Kind::other);
  }
}

namespace {

// Every formula of a system that is emitted.
template <class Visit>
void visit_formulas(System& system, const Visit& visit) {
  const auto visit_list = [&](std::vector<Expr>& list) {
    for (Expr& e : list) visit(e);
  };
  const auto visit_optional = [&](std::optional<Expr>& e) {
    if (e) visit(*e);
  };
  for (MassEntry& entry : system.mass) visit(entry.value);
  visit_list(system.applied);
  visit_list(system.rates);
  visit(system.power);
  visit(system.kinetic_energy);
  visit(system.energy);
  for (Constraint& constraint : system.constraints) {
    for (Expr* e :
         {&constraint.value, &constraint.rate, &constraint.rest, &constraint.reach, &constraint.restitution})
      visit(*e);
    visit_list(constraint.row);
    visit_optional(constraint.radius);
    visit_optional(constraint.from);
    visit_optional(constraint.until);
  }
  for (ImpulseFormula& impulse : system.impulses) {
    visit(impulse.at);
    visit_list(impulse.amounts);
  }
  for (Friction& friction : system.frictions) {
    visit(friction.cone);
    visit(friction.cone_static);
    visit_list(friction.drag);
  }
  for (Transition& transition : system.transitions) visit(transition.value);
  for (WatchFormula& watch : system.watches) visit(watch.value);
  visit_optional(system.stop);
  for (NamedExpr& observable : system.observables) visit(observable.value);
  for (RecordFormula& record : system.records) {
    visit(record.every);
    visit(record.phase);
    visit(record.from);
    for (NamedExpr& value : record.values) visit(value.value);
  }
  // Measures are evaluated once per member, so their formulas stay as they are.
  for (ReductionFormula& formula : system.reductions) visit(formula.value);
  visit_list(system.integrands);
  for (Turn& turn : system.turns) {
    visit(turn.rate);
    visit(turn.longest);
  }
  visit_list(system.kinks);
  visit_list(system.branches);
}

// Sums of more terms than this are not searched for common factors, since that search is quadratic. Products
// of more factors are not expanded, since shared products written out can grow without bound.
constexpr std::size_t searched_terms = 64, searched_factors = 32;

// number * factor * core; the factor depends on parameters alone, the core changes along the motion.
struct Term {
  double number = 1;
  Expr factor, core;
};

class Rewriter {
 public:
  Rewriter(Expressions& pool, const std::vector<Expr>& roots)
      : pool_(pool), constant_(pool), one_(pool.one()) {
    const std::vector<Expr> nodes = pool.reachable(roots);
    for (const Expr e : nodes) note_uses(pool.node(e));
    for (const Expr root : roots) whole_sums_.insert(root.id);
    for (const Expr e : nodes) terms_[e.id] = normal(term_of(e));
  }

  Expr operator()(Expr e) { return value(terms_.at(e.id)); }

 private:
  static bool is_sum(Op op) { return op == Op::add || op == Op::subtract; }

  // A sum that is used only once, as a term of a longer sum, is merged into it; otherwise it stays whole.
  void note_uses(const Node& node) {
    if (node.op == Op::divide) ++divisions_[node.arguments[1].id];
    for (std::size_t i = 0; i < static_cast<std::size_t>(arity(node.op)); ++i) {
      const std::uint32_t used = node.arguments[i].id;
      if (!is_sum(node.op) || !parts_.insert(used).second) whole_sums_.insert(used);
    }
  }

  Expr value(const Term& term) {
    const Expr constant = pool_.multiply(pool_.constant(std::abs(term.number)), term.factor);
    const Expr size = pool_.multiply(constant, term.core);
    return term.number < 0 ? pool_.negate(size) : size;
  }

  // Moves a constant core into the factor, and a number from the factor into the number.
  Term normal(Term term) {
    if (term.core != one_ && constant_(term.core))
      term = {term.number, pool_.multiply(term.factor, term.core), one_};
    const Node& node = pool_.node(term.factor);
    const double number = term.number * node.value;
    if (node.op == Op::constant && std::isnormal(number)) term = {number, one_, term.core};
    return term;
  }

  Term term_of(Expr e);
  Term product(const Term& a, const Term& b);
  Term quotient(const Term& a, const Term& b, bool shared);
  Term power(const Term& base, const Term& exponent, Expr original);

  std::vector<Term> flattened(Expr e) const;
  Term sum(const std::vector<Term>& terms);
  Term sum_of_cores(std::vector<Term> terms);
  Term signed_sum(const std::vector<Term>& terms);
  std::vector<Expr> multiplicands(Expr core) const;
  std::optional<Expr> most_frequent(const std::vector<Term>& terms) const;

  Expressions& pool_;
  ParameterOnly constant_;
  Expr one_;
  std::unordered_map<std::uint32_t, int> divisions_;  // how many quotients have this denominator
  std::unordered_set<std::uint32_t> parts_;           // nodes that are terms of a sum
  std::unordered_set<std::uint32_t> whole_sums_;      // nodes that are more than one term of one sum
  std::unordered_map<std::uint32_t, Term> terms_;     // by original node
  // Sums built, by their signed terms with the oldest positive; true: built with all signs inverted.
  std::map<std::vector<std::int64_t>, bool> sums_;
};

Term Rewriter::term_of(Expr e) {
  const Node node = pool_.node(e);  // a copy: building new nodes moves the pool's storage
  if (arity(node.op) == 0) return constant_(e) ? Term{1, e, one_} : Term{1, one_, e};
  std::array<Term, 4> a{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(arity(node.op)); ++i)
    a[i] = terms_.at(node.arguments[i].id);
  switch (node.op) {
    case Op::negate:
      return {-a[0].number, a[0].factor, a[0].core};
    case Op::add:
    case Op::subtract:
      if (whole_sums_.contains(e.id)) return sum(flattened(e));
      if (node.op == Op::subtract) a[1].number = -a[1].number;
      return signed_sum({a[0], a[1]});
    case Op::multiply:
      return product(a[0], a[1]);
    case Op::divide:
      return quotient(a[0], a[1], divisions_.at(node.arguments[1].id) > 1);
    case Op::power:
      return power(a[0], a[1], node.arguments[1]);
    default: {
      std::array<Expr, 4> values{};
      for (std::size_t i = 0; i < static_cast<std::size_t>(arity(node.op)); ++i) values[i] = value(a[i]);
      return {1, one_, pool_.apply(node.op, values)};
    }
  }
}

Term Rewriter::product(const Term& a, const Term& b) {
  const double number = a.number * b.number;
  if (!std::isnormal(number)) return {1, one_, pool_.multiply(value(a), value(b))};
  const bool equal = a.core == b.core && a.core != one_;
  return {number, pool_.multiply(a.factor, b.factor),
          equal ? pool_.square(a.core) : pool_.multiply(a.core, b.core)};
}

// A division costs several products: one for each denominator is enough.
Term Rewriter::quotient(const Term& a, const Term& b, bool shared) {
  const double number = a.number / b.number;
  if (!std::isnormal(number)) return {1, one_, pool_.divide(value(a), value(b))};
  const Expr factor = pool_.divide(a.factor, b.factor);
  if (b.core == one_) return {number, factor, a.core};
  if (shared) return {number, factor, pool_.multiply(a.core, pool_.divide(one_, b.core))};
  if (a.core != one_) return {number, factor, pool_.divide(a.core, b.core)};
  const Expr above = pool_.multiply(pool_.constant(std::abs(number)), factor);
  return {number < 0 ? -1.0 : 1.0, one_, pool_.divide(above, b.core)};
}

Term Rewriter::power(const Term& base, const Term& exponent, Expr original) {
  const double n = pool_.is_constant(original) ? pool_.node(original).value : std::nan("");
  const bool whole = n == std::floor(n), half = 2 * n == std::floor(2 * n);
  if (!half || n == 0 || std::abs(n) > 8)
    return {1, one_, pool_.apply(Op::power, value(base), value(exponent))};
  // The root's odd powers are the half-integer powers, up to the sign of a zero.
  const bool odd = whole && std::fmod(n, 2) != 0;
  const Term size{std::abs(base.number), base.factor, base.core};
  const Expr x = whole ? value(size) : pool_.apply(Op::sqrt, value(base));
  const Expr raised = pool_.apply(Op::power, x, pool_.constant(std::abs(whole ? n : 2 * n)));
  return {odd && base.number < 0 ? -1.0 : 1.0, one_, n > 0 ? raised : pool_.divide(one_, raised)};
}

// The terms of a whole sum, first to last.
std::vector<Term> Rewriter::flattened(Expr e) const {
  std::vector<Term> list;
  std::vector<std::pair<Expr, double>> waiting = {{e, 1.0}};
  while (!waiting.empty()) {
    const auto [x, sign] = waiting.back();
    waiting.pop_back();
    const Node& node = pool_.node(x);
    // Sums that other formulas use stay whole.
    if (is_sum(node.op) && (x == e || !whole_sums_.contains(x.id))) {
      waiting.push_back({node.arguments[1], node.op == Op::add ? sign : -sign});
      waiting.push_back({node.arguments[0], sign});
    } else {
      list.push_back(terms_.at(x.id));
      list.back().number *= sign;
    }
  }
  return list;
}

// f a + f b = f (a + b): terms with the same constants are collected.
Term Rewriter::sum(const std::vector<Term>& terms) {
  std::map<std::tuple<double, std::uint32_t, bool>, std::size_t> places;
  std::vector<std::vector<Term>> groups;
  for (const Term& term : terms) {
    const std::tuple key{std::abs(term.number), term.factor.id, term.core == one_};
    const auto [it, fresh] = places.emplace(key, groups.size());
    if (fresh) groups.emplace_back();
    groups[it->second].push_back(term);
  }
  std::vector<Term> sums;
  for (const std::vector<Term>& group : groups) {
    const double number = std::abs(group.front().number);
    std::vector<Term> cores = group;
    for (Term& core : cores) core = {std::copysign(1.0, core.number), one_, core.core};
    const Term inner = normal(sum_of_cores(cores));
    sums.push_back(product({number, group.front().factor, one_}, inner));
  }
  return sums.size() == 1 ? sums.front() : signed_sum(sums);
}

std::vector<Expr> Rewriter::multiplicands(Expr core) const {
  std::vector<Expr> list, waiting = {core};
  while (!waiting.empty()) {
    const Expr e = waiting.back();
    waiting.pop_back();
    const Node& node = pool_.node(e);
    const bool square = node.op == Op::power && pool_.is_constant(node.arguments[1], 2);
    const bool small = list.size() + waiting.size() < searched_factors;
    if (small && square) {
      list.insert(list.end(), 2, node.arguments[0]);
    } else if (small && node.op == Op::multiply) {
      waiting.push_back(node.arguments[1]);
      waiting.push_back(node.arguments[0]);
    } else {
      list.push_back(e);
    }
  }
  return list;
}

// The multiplicand that most terms share, if any two do.
std::optional<Expr> Rewriter::most_frequent(const std::vector<Term>& terms) const {
  std::vector<std::pair<Expr, int>> counts;
  for (const Term& term : terms) {
    std::unordered_set<std::uint32_t> seen;
    for (const Expr e : multiplicands(term.core)) {
      if (e == one_ || !seen.insert(e.id).second) continue;
      const auto known =
          std::find_if(counts.begin(), counts.end(), [e](const auto& c) { return c.first == e; });
      if (known == counts.end())
        counts.push_back({e, 1});
      else
        ++known->second;
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end() || most->second < 2) return std::nullopt;
  return most->first;
}

// x a + x b = x (a + b), the most frequent x first. The terms are +-core.
Term Rewriter::sum_of_cores(std::vector<Term> terms) {
  while (terms.size() > 1 && terms.size() <= searched_terms) {
    const std::optional<Expr> common = most_frequent(terms);
    if (!common) break;
    std::vector<Term> inside, left;
    std::size_t first = terms.size();
    for (const Term& term : terms) {
      std::vector<Expr> list = multiplicands(term.core);
      const auto found = std::find(list.begin(), list.end(), *common);
      if (found == list.end()) {
        left.push_back(term);
        continue;
      }
      first = std::min(first, left.size());
      list.erase(found);
      Term rest{term.number, one_, one_};
      for (const Expr e : list) rest = product(rest, {1, one_, e});
      inside.push_back(rest);
    }
    const Term made = product({1, one_, *common}, normal(sum_of_cores(inside)));
    left.insert(left.begin() + static_cast<std::ptrdiff_t>(first), made);
    terms = left;
  }
  return signed_sum(terms);
}

// a - b and b - a differ in sign only: the one built first represents both.
Term Rewriter::signed_sum(const std::vector<Term>& terms) {
  std::vector<std::int64_t> parts;  // nodes, with the sign of the term
  for (const Term& term : terms) {
    const Expr size = value({std::abs(term.number), term.factor, term.core});
    if (!pool_.is_zero(size)) parts.push_back(std::int64_t{size.id} * (term.number < 0 ? -1 : 1));
  }
  if (parts.empty()) return {1, one_, pool_.zero()};
  double sign = 1;
  const auto turn = [&] {
    for (std::int64_t& part : parts) part = -part;
    sign = -sign;
  };
  if (std::all_of(parts.begin(), parts.end(), [](std::int64_t part) { return part < 0; })) turn();
  std::vector<std::int64_t> key = parts;
  std::sort(key.begin(), key.end(), [](auto a, auto b) { return std::abs(a) < std::abs(b); });
  const bool turned = key.front() < 0;
  if (turned)
    for (std::int64_t& part : key) part = -part;
  if (sums_.emplace(key, turned).first->second != turned) turn();
  // Begin with a positive term.
  const auto positive = std::find_if(parts.begin(), parts.end(), [](std::int64_t part) { return part > 0; });
  std::rotate(parts.begin(), positive, positive + 1);
  Expr total = pool_.zero();
  for (const std::int64_t part : parts) {
    const Expr e{static_cast<std::uint32_t>(std::abs(part))};
    total = part < 0 ? pool_.subtract(total, e) : pool_.add(total, e);
  }
  return {sign, one_, total};
}

}  // namespace

System rearranged(const System& system) {
  System made = system;
  made.pool = std::make_shared<Expressions>(*system.pool);
  std::vector<Expr> roots;
  visit_formulas(made, [&](const Expr& e) { roots.push_back(e); });
  Rewriter rewrite(*made.pool, roots);
  visit_formulas(made, [&](Expr& e) { e = rewrite(e); });
  return made;
}

}  // namespace zwang
