// Recognition of formulas of the same shape, and their text.
#include "src/emit/families.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "src/emit/shape.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

namespace zwang {

namespace {

// Fewer formulas of one shape are written out.
constexpr std::size_t smallest_family = 4;
// A sum of at least this many terms is computed by loops.
constexpr int long_sum = 12;

// The indices of one family as functions of the loop's counter j: constant, linear, or from a table.
class IndexText {
 public:
  std::string of(const std::vector<long>& values) {
    const long first = values.front(), step = values.size() > 1 ? values[1] - first : 0;
    bool linear = true;
    for (std::size_t i = 0; i < values.size(); ++i)
      linear = linear && values[i] == first + step * static_cast<long>(i);
    if (linear) return linear_text(step, first);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const long shift = first - columns_[c].front();
      bool same = true;
      for (std::size_t i = 0; i < values.size(); ++i) same = same && values[i] == columns_[c][i] + shift;
      if (same) return "a" + std::to_string(c) + shifted(shift);
    }
    columns_.push_back(values);
    return "a" + std::to_string(columns_.size() - 1);
  }

  // The lines that read the table.
  std::string text(Tables& tables, const std::string& margin) const {
    if (columns_.empty()) return "";
    std::vector<long> all;
    for (std::size_t i = 0; i < columns_.front().size(); ++i)
      for (const std::vector<long>& column : columns_) all.push_back(column[i]);
    const std::string name = tables.add(all);
    std::string lines;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      lines += margin + "const int a" + std::to_string(c) + " = " + name + "[" +
               linear_text(static_cast<long>(columns_.size()), static_cast<long>(c)) + "];\n";
    return lines;
  }

 private:
  static std::string shifted(long shift) {
    if (shift == 0) return "";
    return shift > 0 ? " + " + std::to_string(shift) : " - " + std::to_string(-shift);
  }
  static std::string linear_text(long step, long first) {
    if (step == 0) return std::to_string(first);
    const std::string multiple = step == 1 ? "j" : std::to_string(step) + " * j";
    return multiple + shifted(first);
  }

  std::vector<std::vector<long>> columns_;
};

// The body of a family: the formulas of its first member, with indices and numbers as functions of j.
struct FamilyBody {
  std::string indices;  // lines
  Block block;
};

FamilyBody family_body(const Expressions& pool, const Hoisted& hoisted, const std::vector<Output>& first,
                       const std::vector<const Shape*>& members, Tables& tables, int indent) {
  IndexText indices;
  Hoisted names = hoisted;
  const auto column = [&](const auto& pick) {
    std::vector<decltype(pick(*members.front()))> values;
    for (const Shape* member : members) values.push_back(pick(*member));
    return values;
  };
  for (std::size_t l = 0; l < members.front()->leaves.size(); ++l) {
    const Leaf& leaf = members.front()->leaves[l];
    if (!leaf.array.empty()) {
      names[leaf.node.id] =
          leaf.array + "[" + indices.of(column([l](const Shape& s) { return s.leaves[l].index; })) + "]";
      continue;
    }
    const std::vector<double> numbers = column([l](const Shape& s) { return s.leaves[l].number; });
    if (std::all_of(numbers.begin(), numbers.end(), [&](double x) { return x == numbers.front(); })) continue;
    names[leaf.node.id] = "R(" + tables.add(numbers) + "[j])";
  }
  std::vector<Output> outputs = first;
  std::size_t indexed = 0;
  for (Output& output : outputs) {
    const Place target = place_of(output.target);
    if (!target.index) continue;
    const std::size_t t = indexed++;
    output.target =
        target.array + "[" + indices.of(column([t](const Shape& s) { return s.targets[t]; })) + "]";
  }
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  return {indices.text(tables, margin), print_block(pool, names, {}, outputs, indent)};
}

// Repetitions with the same key, in the order of their first one.
std::vector<std::vector<std::size_t>> grouped(const std::vector<Shape>& shapes) {
  std::map<std::string, std::size_t> place;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto [it, is_new] = place.try_emplace(shapes[i].key, groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].push_back(i);
  }
  return groups;
}

std::string loop_head(std::size_t count, const std::string& margin) {
  return margin + "for (int j = 0; j < " + std::to_string(count) + "; ++j) {\n";
}

// Each repetition is computed by itself, those of a family in a loop, the others in straight-line code that
// shares common subexpressions.
class LoopWriter {
 public:
  LoopWriter(const Expressions& pool, Hoisted hoisted, Tables& tables, int indent)
      : pool_(pool),
        hoisted_(std::move(hoisted)),
        tables_(tables),
        indent_(indent),
        margin_(static_cast<std::size_t>(indent), ' ') {}

  void write(const std::vector<std::vector<Output>>& repetitions) {
    std::vector<Shape> shapes;
    for (const auto& outputs : repetitions) shapes.push_back(shape_of(pool_, hoisted_, outputs));
    std::vector<Output> single;
    for (const std::vector<std::size_t>& group : grouped(shapes)) {
      if (group.size() < smallest_family) {
        for (const std::size_t i : group)
          single.insert(single.end(), repetitions[i].begin(), repetitions[i].end());
        continue;
      }
      const FamilyBody body =
          family_body(pool_, hoisted_, repetitions[group.front()], pick(shapes, group), tables_, indent_ + 2);
      text_ += loop_head(group.size(), margin_) + body.indices + body.block.text + margin_ + "}\n";
    }
    write_block(single);
  }

  // Replaces the long sums in the outputs by names.
  void write_sums(const std::vector<Output>& outputs) {
    std::vector<Expr> roots;
    for (const Output& output : outputs) roots.push_back(output.value);
    for (const Expr e : sums_of(roots)) write_sum(e);
  }

  std::string take() { return std::move(text_); }

 private:
  struct Term {
    bool negative = false;
    Expr value{};
  };

  static std::vector<const Shape*> pick(const std::vector<Shape>& shapes,
                                        const std::vector<std::size_t>& group) {
    std::vector<const Shape*> made;
    for (const std::size_t i : group) made.push_back(&shapes[i]);
    return made;
  }

  bool is_sum(Expr e) const {
    const Op op = pool_.node(e).op;
    return (op == Op::add || op == Op::subtract) && !hoisted_.contains(e.id);
  }

  // The long sums that are not terms of longer ones, ascending: a sum comes after those in its terms.
  std::vector<Expr> sums_of(const std::vector<Expr>& roots) const {
    std::unordered_map<std::uint32_t, int> terms;
    std::unordered_set<std::uint32_t> whole;
    for (const Expr root : roots) whole.insert(root.id);
    std::vector<Expr> sums;
    const std::vector<Expr> nodes = nodes_of(pool_, hoisted_, roots);
    for (const Expr e : nodes) {
      const Node& node = pool_.node(e);
      const bool sum = is_sum(e);
      const auto count = [&](int i) { return terms.at(node.arguments[static_cast<std::size_t>(i)].id); };
      terms[e.id] = sum ? std::min(count(0) + count(1), std::numeric_limits<int>::max() / 4) : 1;
      if (sum) continue;
      for (int i = 0; i < arity(node.op); ++i) whole.insert(node.arguments[static_cast<std::size_t>(i)].id);
    }
    for (const Expr e : nodes)
      if (is_sum(e) && whole.contains(e.id) && terms.at(e.id) >= long_sum) sums.push_back(e);
    return sums;
  }

  std::vector<Term> terms_of(Expr sum) const {
    std::vector<Term> found, waiting = {{false, sum}};
    while (!waiting.empty()) {
      const Term term = waiting.back();
      waiting.pop_back();
      const Node& node = pool_.node(term.value);
      if (is_sum(term.value)) {
        waiting.push_back({term.negative != (node.op == Op::subtract), node.arguments[1]});
        waiting.push_back({term.negative, node.arguments[0]});
      } else if (node.op == Op::negate && !hoisted_.contains(term.value.id)) {
        waiting.push_back({!term.negative, node.arguments[0]});
      } else {
        found.push_back(term);
      }
    }
    return found;
  }

  void write_sum(Expr sum) {
    const std::string name = "s" + std::to_string(sums_++);
    text_ += margin_ + "R " + name + " = R(0);\n";
    const std::vector<Term> terms = terms_of(sum);
    std::vector<Shape> shapes;
    for (const Term& term : terms) {
      shapes.push_back(shape_of(pool_, hoisted_, {{"", term.value}}));
      shapes.back().key += term.negative ? "-" : "+";
    }
    for (const std::vector<std::size_t>& group : grouped(shapes)) {
      const bool loop = group.size() >= smallest_family;
      const std::string margin = loop ? margin_ + "  " : margin_;
      for (const std::size_t i : group) {
        const auto members = loop ? pick(shapes, group) : std::vector<const Shape*>{&shapes[i]};
        const FamilyBody body = family_body(pool_, hoisted_, {{"", terms[i].value}}, members, tables_,
                                            static_cast<int>(margin.size()) + (loop ? 0 : 2));
        text_ += loop ? loop_head(group.size(), margin_) : margin_ + "{\n";
        text_ += body.indices + body.block.text + margin_ + "  " + name + " = " + name +
                 (terms[i].negative ? " - (" : " + (") + body.block.returned.front() + ");\n" + margin_ +
                 "}\n";
        if (loop) break;
      }
    }
    hoisted_[sum.id] = name;
  }

  void write_block(const std::vector<Output>& outputs) {
    if (outputs.empty()) return;
    // In a scope of its own, because names of values start anew in every loop.
    const Block block = print_block(pool_, hoisted_, {}, outputs, indent_ + 2);
    text_ += margin_ + "{\n" + block.text;
    for (const std::string& formula : block.returned) text_ += margin_ + "  return " + formula + ";\n";
    text_ += margin_ + "}\n";
  }

  const Expressions& pool_;
  Hoisted hoisted_;
  Tables& tables_;
  int indent_;
  std::string margin_, text_;
  std::size_t sums_ = 0;
};

// Outputs with the same index in different arrays (f and f' of a condition) share subexpressions: one
// repetition.
std::vector<std::vector<Output>> repetitions_of(const std::vector<Output>& outputs) {
  std::vector<std::vector<Output>> made;
  std::map<long, std::vector<std::size_t>> by_index;
  for (const Output& output : outputs) {
    const Place place = place_of(output.target);
    if (!place.index) {
      made.push_back({output});
      continue;
    }
    std::vector<std::size_t>& known = by_index[*place.index];
    const auto free = std::find_if(known.begin(), known.end(), [&](std::size_t i) {
      return std::none_of(made[i].begin(), made[i].end(),
                          [&](const Output& other) { return place_of(other.target).array == place.array; });
    });
    if (free != known.end()) {
      made[*free].push_back(output);
    } else {
      known.push_back(made.size());
      made.push_back({output});
    }
  }
  return made;
}

// Values separated by commas, in lines of readable length.
template <class Number, class Text>
std::string listed(const std::vector<Number>& values, const Text& text) {
  std::string made;
  std::size_t line = 0;
  for (const Number& x : values) {
    const std::string value = text(x);
    if (line + value.size() > 100) line = 0;
    if (!made.empty()) made += line == 0 ? ",\n    " : ", ";
    line += value.size() + 2;
    made += value;
  }
  return made;
}

}  // namespace

std::string Tables::add(const std::vector<long>& integers) {
  const long largest = *std::max_element(integers.begin(), integers.end());
  return add_text(largest < 32768 ? "short" : "int", integers.size(),
                  listed(integers, [](long x) { return std::to_string(x); }));
}

std::string Tables::add(const std::vector<double>& numbers) {
  return add_text("double", numbers.size(), listed(numbers, [](double x) {
                    std::array<char, 32> digits{};
                    return std::string(digits.data(),
                                       std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr);
                  }));
}

std::string Tables::add_text(const std::string& type, std::size_t size, const std::string& list) {
  const auto [known, is_new] =
      names_.try_emplace(type + list, "model_table_" + std::to_string(names_.size()));
  if (is_new)
    text_ += "ZWANG_TABLE " + type + " " + known->second + "[" + std::to_string(size) + "] = {\n    " + list +
             "};\n";
  return known->second;
}

std::string rolled_text(const Expressions& pool, Hoisted hoisted, const std::vector<Output>& outputs,
                        Tables& tables, int indent) {
  LoopWriter writer(pool, std::move(hoisted), tables, indent);
  writer.write_sums(outputs);
  writer.write(repetitions_of(outputs));
  return writer.take();
}

CaseFamilies case_families(const Expressions& pool, const Hoisted& hoisted,
                           const std::vector<std::vector<Output>>& cases, Tables& tables, int indent) {
  std::vector<Shape> shapes;
  for (const auto& outputs : cases) shapes.push_back(shape_of(pool, hoisted, outputs));
  CaseFamilies made;
  made.body.resize(cases.size());
  made.slot.resize(cases.size());
  for (const std::vector<std::size_t>& group : grouped(shapes)) {
    std::vector<const Shape*> members;
    for (const std::size_t i : group) {
      made.body[i] = static_cast<long>(made.bodies.size());
      made.slot[i] = static_cast<long>(members.size());
      members.push_back(&shapes[i]);
    }
    const FamilyBody body = family_body(pool, hoisted, cases[group.front()], members, tables, indent);
    made.bodies.push_back(
        {body.indices + body.block.text, body.block.returned.empty() ? "" : body.block.returned.front()});
  }
  return made;
}

}  // namespace zwang
