// Text of the recurrences for the Taylor terms of the motion.
#include "src/emit/taylor_series.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "src/emit/rewrite.h"
#include "src/expression/operation.h"

namespace zwang {

namespace {

// The term of the series that a piece of text computes. For the time itself the first term is t, the second
// h, and all others are zero.
enum class TermPosition { first, second, later };

constexpr Symbol step_length{SymbolKind::time, 2};
constexpr std::uint32_t first_memory = 16;  // symbols of stored terms, after those of the time

constexpr double longest_power = 8;

class SeriesWriter {
 public:
  SeriesWriter(Expressions& pool, const Hoisted& hoisted) : pool_(pool), constant_(pool), names_(hoisted) {
    names_[pool_.symbol(step_length).id] = "h";
  }

  EmittedSeries write(const std::vector<Expr>& rates);

 private:
  std::string find_products(const std::vector<Expr>& rates);
  std::string case_text(TermPosition term, const std::vector<Expr>& rates);

  bool is_constant(Expr e) { return constant_(e); }
  bool is_product(Expr e) const { return results_.contains(e.id); }
  std::string memory(std::size_t i) const { return "s.u[" + std::to_string(i) + "]"; }
  std::size_t new_memory() { return memories_++; }
  std::size_t memory_of(Expr argument);
  std::optional<int> whole_power(const Node& node) const;

  // The term of a formula, as an expression of the terms of the state and of the stored terms.
  Expr term_of(Expr e, TermPosition term);
  // True if all terms but the first two are zero.
  bool is_affine(Expr e) { return pool_.is_zero(term_of(e, TermPosition::later)); }
  std::string remember(Expr argument, TermPosition term);
  std::string product_text(Expr e, TermPosition term);
  std::string sum_text(std::size_t a, std::size_t b, bool a_affine, bool b_affine, std::size_t into,
                       TermPosition term);

  Expressions& pool_;
  ParameterOnly constant_;
  Hoisted names_;
  std::vector<Expr> products_;  // everything but sums and multiples, ascending
  // For each of them: the index of its stored terms. Powers store their intermediate powers just before; the
  // sine and cosine of one argument are stored side by side.
  std::unordered_map<std::uint32_t, std::size_t> results_;
  std::unordered_map<std::uint32_t, std::size_t> turns_;      // argument of sin and cos -> index of the sine
  std::unordered_map<std::uint32_t, std::size_t> arguments_;  // formula -> index of its stored terms
  std::unordered_map<std::uint32_t, Expr> terms_[3];
  // In the current case.
  std::unordered_set<std::uint32_t> remembered_;
  std::unordered_set<std::size_t> turned_;
  std::size_t memories_ = 0;
  EmittedSeries made_;
};

std::optional<int> SeriesWriter::whole_power(const Node& node) const {
  const Node& exponent = pool_.node(node.arguments[1]);
  if (exponent.op != Op::constant || exponent.value != std::floor(exponent.value)) return {};
  if (std::abs(exponent.value) > longest_power || exponent.value == 0) return {};
  return static_cast<int>(exponent.value);
}

std::size_t SeriesWriter::memory_of(Expr argument) {
  if (const auto known = results_.find(argument.id); known != results_.end()) return known->second;
  const auto [place, fresh] = arguments_.try_emplace(argument.id, 0);
  if (fresh) place->second = new_memory();
  return place->second;
}

// Assigns storage to every product; returns the name of a function without a series, if any.
std::string SeriesWriter::find_products(const std::vector<Expr>& rates) {
  for (const Expr e : pool_.reachable(rates)) {
    const Node& node = pool_.node(e);
    if (is_constant(e) || node.op == Op::symbol) continue;
    const Expr a = node.arguments[0], b = node.arguments[1];
    switch (node.op) {
      case Op::add:
      case Op::subtract:
      case Op::negate:
        continue;
      case Op::multiply:
        if (is_constant(a) || is_constant(b)) continue;
        memory_of(a);
        memory_of(b);
        results_[e.id] = new_memory();
        break;
      case Op::divide:
        if (is_constant(b)) continue;
        memory_of(a);
        memory_of(b);
        results_[e.id] = new_memory();
        break;
      case Op::power: {
        const std::optional<int> exponent = whole_power(node);
        if (!exponent) return "a power of the state that is no whole number up to 8";
        memory_of(a);
        memories_ += static_cast<std::size_t>(std::abs(*exponent)) + 1;
        results_[e.id] = memories_ - 1;
        break;
      }
      case Op::sin:
      case Op::cos: {
        memory_of(a);
        const auto [pair, fresh] = turns_.try_emplace(a.id, memories_);
        if (fresh) memories_ += 2;
        results_[e.id] = pair->second + (node.op == Op::cos ? 1 : 0);
        break;
      }
      case Op::exp:
      case Op::sqrt:
        memory_of(a);
        results_[e.id] = new_memory();
        break;
      default:
        return std::string(name_of(node.op)) + "()";
    }
    products_.push_back(e);
  }
  // A name for the current term of each.
  for (const auto& [id, place] : results_) {
    const Expr name = pool_.symbol(SymbolKind::time, first_memory + place);
    names_[name.id] = memory(place) + "[d]";
  }
  return {};
}

Expr SeriesWriter::term_of(Expr root, TermPosition term) {
  auto& known = terms_[static_cast<int>(term)];
  if (const auto found = known.find(root.id); found != known.end()) return found->second;
  for (const Expr e : pool_.reachable({root})) {
    if (known.contains(e.id)) continue;
    const Node node = pool_.node(e);
    Expr made = pool_.zero();
    if (is_constant(e)) {
      if (term == TermPosition::first) made = e;
    } else if (is_product(e)) {
      made = pool_.symbol(SymbolKind::time, first_memory + results_.at(e.id));
    } else if (node.op == Op::symbol) {
      const bool time = node.symbol == Symbol{SymbolKind::time, 0};
      if (!time || term == TermPosition::first) made = e;
      if (time && term == TermPosition::second) made = pool_.symbol(step_length);
    } else if (node.op == Op::negate) {
      made = pool_.negate(known.at(node.arguments[0].id));
    } else {
      const Expr a = node.arguments[0], b = node.arguments[1];
      const bool scaled = node.op == Op::multiply || node.op == Op::divide;
      const bool left = scaled && node.op == Op::multiply && is_constant(a);  // a constant times b
      const Expr rest = known.at(left ? b.id : a.id);
      if (!scaled)
        made = pool_.apply(node.op, rest, known.at(b.id));
      else if (!pool_.is_zero(rest))
        made = left ? pool_.multiply(a, rest) : pool_.apply(node.op, rest, b);
    }
    known.emplace(e.id, made);
  }
  return known.at(root.id);
}

std::string SeriesWriter::remember(Expr argument, TermPosition term) {
  if (is_product(argument) || !remembered_.insert(argument.id).second) return {};
  const std::string target = memory(memory_of(argument)) + "[d]";
  const Block block = print_block(pool_, names_, {}, {{target, term_of(argument, term)}}, 6);
  const bool one_line = std::count(block.text.begin(), block.text.end(), '\n') == 1;
  return one_line ? block.text : "      {\n" + block.text + "      }\n";
}

// The current term of a product of two series.
std::string SeriesWriter::sum_text(std::size_t a, std::size_t b, bool a_affine, bool b_affine,
                                   std::size_t into, TermPosition term) {
  const std::string head = "      " + memory(into) + "[d] = ";
  if (a == b) return head + "square_term<d>(" + memory(a) + ");\n";
  if (term == TermPosition::first) return head + memory(a) + "[0] * " + memory(b) + "[0];\n";
  const bool swap = !a_affine && b_affine;
  const std::string both = "(" + memory(swap ? b : a) + ", " + memory(swap ? a : b) + ");\n";
  return head + (a_affine || b_affine ? "affine_product_term<d>" : "product_term<d>") + both;
}

std::string SeriesWriter::product_text(Expr e, TermPosition term) {
  const Node node = pool_.node(e);
  const Expr a = node.arguments[0], b = node.arguments[1];
  const std::size_t mine = results_.at(e.id);
  const bool first = term == TermPosition::first;
  std::string text = remember(a, term);
  const std::string from = memory(memory_of(a)), to = memory(mine);
  switch (node.op) {
    case Op::multiply:
      text += remember(b, term);
      return text + sum_text(memory_of(a), memory_of(b), is_affine(a), is_affine(b), mine, term);
    case Op::divide:
      text += remember(b, term);
      return text + "      " + to + "[d] = quotient_term<d>(" + from + "[d], " + memory(memory_of(b)) + ", " +
             to + ");\n";
    case Op::power: {
      const int exponent = *whole_power(node), size = std::abs(exponent);
      // x^2, x^3, ... are stored before the result; for a negative exponent the result is 1 divided by the
      // last.
      std::size_t last = memory_of(a), place = mine - static_cast<std::size_t>(size);
      for (int power = 2; power <= size; ++power, ++place) {
        const std::size_t into = power == size && exponent > 0 ? mine : place;
        text += sum_text(last, memory_of(a), power == 2 && is_affine(a), is_affine(a), into, term);
        last = into;
      }
      if (exponent == 1) return text + "      " + to + "[d] = " + from + "[d];\n";
      if (exponent < 0)
        text += "      " + to + "[d] = quotient_term<d>(R(" + (first ? "1" : "0") + "), " + memory(last) +
                ", " + to + ");\n";
      return text;
    }
    case Op::sin:
    case Op::cos: {
      const std::size_t sine = turns_.at(a.id);
      const std::string pair = memory(sine) + ", " + memory(sine + 1);
      if (!turned_.insert(sine).second) return text;
      if (first)
        return text + "      sine_and_cosine(" + from + "[0], " + memory(sine) + "[0], " + memory(sine + 1) +
               "[0]);\n";
      return text + "      " + (is_affine(a) ? "even_turn_term<d>(" : "turn_term<d>(") + from + ", " + pair +
             ");\n";
    }
    case Op::exp:
      if (first) return text + "      " + to + "[0] = exp(" + from + "[0]);\n";
      return text + "      " + to + "[d] = " + (is_affine(a) ? "even_growth_term<d>(" : "growth_term<d>(") +
             from + ", " + to + ");\n";
    default:
      if (first) return text + "      " + to + "[0] = sqrt(" + from + "[0]);\n";
      return text + "      " + to + "[d] = root_term<d>(" + from + "[d], " + to + ");\n";
  }
}

std::string SeriesWriter::case_text(TermPosition term, const std::vector<Expr>& rates) {
  remembered_.clear();
  turned_.clear();
  std::string text;
  for (const Expr e : products_) text += product_text(e, term);
  std::vector<Output> outputs;
  for (std::size_t m = 0; m < rates.size(); ++m)
    outputs.push_back({"rate[" + std::to_string(m) + "]", term_of(rates[m], term)});
  return text + print_block(pool_, names_, {}, outputs, 6).text;
}

EmittedSeries SeriesWriter::write(const std::vector<Expr>& rates) {
  made_.obstacle = find_products(rates);
  if (!made_.obstacle.empty()) return made_;
  std::vector<Expr> later;
  for (const Expr e : rates) later.push_back(term_of(e, TermPosition::later));
  for (const Expr e : products_) {
    const Node& node = pool_.node(e);
    const bool even = is_affine(node.arguments[0]);
    const bool function =
        node.op == Op::sin || node.op == Op::cos || node.op == Op::exp || node.op == Op::sqrt;
    if (even && (function || node.op == Op::multiply))
      made_.linear += 2;
    else
      made_.sums += node.op == Op::power ? std::max(1, std::abs(*whole_power(node)) - 1) : 1;
  }
  made_.linear += count_operations(pool_, names_, later).total();
  made_.text =
      "// Terms of degree d of the rates of v, z, integrals and work with no condition held, as power series "
      "in the time over a\n"
      "// step h, from those of q, v, z. What products need of earlier terms stands in s.u.\n"
      "struct Series {\n"
      "  static constexpr int memories = " +
      std::to_string(memories_) +
      ";\n"
      "  template <int d, class S, class R>\n"
      "  ZWANG_HOT static void rates(const R* k, R t, R h, const R* q, const R* v, const R* z, S& s, R* "
      "rate) {\n"
      "    if constexpr (d == 0) {\n" +
      case_text(TermPosition::first, rates) + "    } else if constexpr (d == 1) {\n" +
      case_text(TermPosition::second, rates) + "    } else {\n" + case_text(TermPosition::later, rates) +
      "    }\n"
      "  }\n"
      "};\n";
  return made_;
}

}  // namespace

EmittedSeries emit_series(Expressions& pool, const Hoisted& hoisted, const std::vector<Expr>& rates) {
  return SeriesWriter(pool, hoisted).write(rates);
}

}  // namespace zwang
