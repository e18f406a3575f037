// Straight-line code for expressions, and its operation count.
#include "src/emit/text.h"
#include "src/expression/operation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <unordered_set>

namespace zwang {

namespace {

// Longer formulas are divided into named pieces.
constexpr std::size_t readable = 80;

// Operator precedence of a piece of text.
enum Strength { sum = 1, product = 2, factor = 3, atom = 4 };

struct Piece {
  std::string text;
  Strength strength = atom;
};

std::string at_least(const Piece& piece, Strength strength) {
  return piece.strength >= strength ? piece.text : "(" + piece.text + ")";
}

std::string_view function_name(Op op) {
  switch (op) {
    case Op::abs:
      return "absolute";
    case Op::floor:
      return "round_down";
    case Op::minimum:
      return "minimum";
    case Op::maximum:
      return "maximum";
    case Op::power:
      return "power";
    default:
      return name_of(op);
  }
}

using Arguments = std::array<const Piece*, 4>;

// Small integer exponents are emitted as products.
Piece power_piece(const Node& node, const Expressions& pool, const Arguments& a) {
  const Node& exponent = pool.node(node.arguments[1]);
  const bool whole = exponent.op == Op::constant && exponent.value == std::floor(exponent.value);
  if (whole && exponent.value == 2) return {"square(" + a[0]->text + ")"};
  if (whole && exponent.value == 3) return {"cube(" + a[0]->text + ")"};
  if (whole && exponent.value >= 4 && exponent.value <= 8)
    return {"whole_power<" + std::to_string(static_cast<int>(exponent.value)) + ">(" + a[0]->text + ")"};
  return {"power(" + a[0]->text + ", " + a[1]->text + ")"};
}

Piece piece_of(const Node& node, const Expressions& pool, const Arguments& a) {
  switch (node.op) {
    case Op::constant:
      return {literal(node.value), node.value < 0 && std::isinf(node.value) ? sum : atom};
    case Op::symbol:
      return {symbol_text(node.symbol)};
    case Op::add:
      return {at_least(*a[0], sum) + " + " + at_least(*a[1], product), sum};
    case Op::subtract:
      return {at_least(*a[0], sum) + " - " + at_least(*a[1], product), sum};
    case Op::multiply:
      return {at_least(*a[0], product) + " * " + at_least(*a[1], factor), product};
    case Op::divide:
      return {at_least(*a[0], product) + " / " + at_least(*a[1], factor), product};
    case Op::negate:
      return {"-" + at_least(*a[0], factor), sum};
    case Op::power:
      return power_piece(node, pool, a);
    default: {
      std::string text = std::string(function_name(node.op)) + "(";
      for (int i = 0; i < arity(node.op); ++i) text += (i ? ", " : "") + a[static_cast<std::size_t>(i)]->text;
      return {text + ")"};
    }
  }
}

// Nodes the roots depend on, ascending, without those below a hoisted node or accepted by `done`.
template <class Done>
std::vector<Expr> nodes_below(const Expressions& pool, const Hoisted& hoisted, const std::vector<Expr>& roots,
                              const Done& done) {
  std::unordered_set<std::uint32_t> seen;
  std::vector<Expr> waiting = roots, found;
  while (!waiting.empty()) {
    const Expr e = waiting.back();
    waiting.pop_back();
    if (done(e) || !seen.insert(e.id).second) continue;
    found.push_back(e);
    if (hoisted.contains(e.id)) continue;
    for (int i = 0; i < arity(pool.node(e).op); ++i)
      waiting.push_back(pool.node(e).arguments[static_cast<std::size_t>(i)]);
  }
  std::sort(found.begin(), found.end(), [](Expr a, Expr b) { return a.id < b.id; });
  return found;
}

class BlockPrinter {
 public:
  BlockPrinter(const Expressions& pool, const Hoisted& hoisted, int indent)
      : pool_(pool), hoisted_(hoisted), margin_(static_cast<std::size_t>(indent), ' ') {}

  Block print(const std::vector<Stage>& stages, const std::vector<Output>& outputs) {
    std::vector<Expr> roots;
    roots.reserve(outputs.size());
    for (const Output& output : outputs) roots.push_back(output.value);
    count_uses(roots);
    for (const Stage& stage : stages) print_stage(stage);
    print_values(roots);
    Block made;
    for (const Output& output : outputs) {
      const std::string& formula = pieces_.at(output.value.id).text;
      if (output.target.empty())
        made.returned.push_back(formula);
      else
        text_ += margin_ + output.target + " = " + formula + ";\n";
    }
    made.text = std::move(text_);
    return made;
  }

 private:
  // Counts the uses of each node; nodes without a use are not printed.
  void count_uses(const std::vector<Expr>& roots) {
    for (const Expr root : roots) ++uses_[root.id];
    for (const Expr e : nodes_of(pool_, hoisted_, roots)) {
      if (hoisted_.contains(e.id)) continue;
      for (int i = 0; i < arity(pool_.node(e).op); ++i)
        ++uses_[pool_.node(e).arguments[static_cast<std::size_t>(i)].id];
    }
  }

  void print_stage(const Stage& stage) {
    std::vector<Expr> wanted;
    for (Expr e : stage.values) {
      // A formula may use a value without its sign.
      if (!uses_.contains(e.id) && pool_.node(e).op == Op::negate) e = pool_.node(e).arguments[0];
      if (uses_.contains(e.id)) wanted.push_back(e);
    }
    std::string before = std::move(text_);
    text_.clear();
    print_values(wanted);
    if (!text_.empty() && !stage.comment.empty()) before += margin_ + "// " + stage.comment + "\n";
    text_ = before + text_;
  }

  void print_values(const std::vector<Expr>& values) {
    for (const Expr e :
         nodes_below(pool_, hoisted_, values, [this](Expr x) { return pieces_.contains(x.id); }))
      print_node(e);
  }

  void print_node(Expr e) {
    const auto constant = hoisted_.find(e.id);
    if (constant != hoisted_.end()) {
      pieces_[e.id] = {constant->second};
      return;
    }
    const Node& node = pool_.node(e);
    Piece piece = formula(node);
    while (piece.text.size() > readable && shorten(node)) piece = formula(node);
    pieces_[e.id] = std::move(piece);
    if (arity(node.op) == 0) return;
    // The negation of a name gets no name of its own.
    if (node.op == Op::negate && !in_place_.contains(node.arguments[0].id)) return;
    in_place_.insert(e.id);
    if (uses_.at(e.id) > 1) name(e);
  }

  Piece formula(const Node& node) const {
    Arguments arguments{};
    for (int i = 0; i < arity(node.op); ++i) {
      const auto k = static_cast<std::size_t>(i);
      arguments[k] = &pieces_.at(node.arguments[k].id);
    }
    return piece_of(node, pool_, arguments);
  }

  // Names the longest argument that is still written in place; false when there is none.
  bool shorten(const Node& node) {
    Expr longest{};
    std::size_t length = 0;
    for (int i = 0; i < arity(node.op); ++i) {
      const Expr e = node.arguments[static_cast<std::size_t>(i)];
      if (!in_place_.contains(e.id) || pieces_.at(e.id).text.size() <= length) continue;
      longest = e;
      length = pieces_.at(e.id).text.size();
    }
    if (length > 0) name(longest);
    return length > 0;
  }

  void name(Expr e) {
    const std::string made = "x" + std::to_string(names_++);
    text_ += margin_ + "const R " + made + " = " + pieces_.at(e.id).text + ";\n";
    pieces_[e.id] = {made};
    in_place_.erase(e.id);
  }

  const Expressions& pool_;
  const Hoisted& hoisted_;
  std::string margin_;
  std::unordered_map<std::uint32_t, int> uses_;
  std::unordered_map<std::uint32_t, Piece> pieces_;  // the current text of a node
  std::unordered_set<std::uint32_t> in_place_;       // nodes whose piece is a whole formula
  std::string text_;
  int names_ = 0;
};

}  // namespace

std::string symbol_text(const Symbol& symbol) {
  const std::string index = "[" + std::to_string(symbol.index) + "]";
  switch (symbol.kind) {
    case SymbolKind::parameter:
      return "k" + index;
    case SymbolKind::coordinate:
      return "q" + index;
    case SymbolKind::velocity:
      return "v" + index;
    case SymbolKind::auxiliary:
      return "z" + index;
    case SymbolKind::multiplier:
      return "lambda" + index;
    case SymbolKind::closed:
      return "held" + index;
    case SymbolKind::reduction:
      return "results" + index;
    default:
      return symbol == dependent_share ? "dependent<R>()" : "t";
  }
}

std::vector<Expr> nodes_of(const Expressions& pool, const Hoisted& hoisted, const std::vector<Expr>& roots) {
  return nodes_below(pool, hoisted, roots, [](Expr) { return false; });
}

std::string literal(double value) {
  if (std::isnan(value)) return "missing<R>()";
  if (std::isinf(value)) return value > 0 ? "infinity<R>()" : "-infinity<R>()";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  // As an integer, a long literal would not fit its type and -0 would lose its sign.
  const bool integer = text.find_first_of(".e") == std::string::npos;
  if (integer && (text.size() > 9 || text == "-0")) text += ".0";
  return "R(" + text + ")";
}

Block print_block(const Expressions& pool, const Hoisted& hoisted, const std::vector<Stage>& stages,
                  const std::vector<Output>& outputs, int indent) {
  return BlockPrinter(pool, hoisted, indent).print(stages, outputs);
}

Operations count_operations(const Expressions& pool, const Hoisted& hoisted, const std::vector<Expr>& roots) {
  Operations count;
  for (const Expr e : nodes_of(pool, hoisted, roots)) {
    const Op op = pool.node(e).op;
    if (arity(op) == 0 || hoisted.contains(e.id) || op == Op::negate) continue;
    if (op == Op::add || op == Op::subtract)
      ++count.sums;
    else if (op == Op::multiply || (op == Op::power && pool.is_constant(pool.node(e).arguments[1], 2)))
      ++count.products;
    else if (op == Op::divide)
      ++count.divisions;
    else if (op == Op::if_less)
      ++count.selects;
    else
      ++count.functions;
  }
  return count;
}

}  // namespace zwang
