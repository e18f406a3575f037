// Loops in place of straight-line code, for long systems. Formulas that differ only in the indices and
// numbers they contain (rod i between points i and i + 1) are a family: their text is written once, as the
// body of a loop, and the indices that are not linear in the loop's counter come from a table. The length of
// the text, and with it the compiler's work, then depends on the number of different formulas and not on the
// number of bodies.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "src/emit/text.h"
#include "src/expression/expression.h"

namespace zwang {

// Tables of a model; equal ones are one. They precede its struct, because device code has no constant arrays
// in a class.
class Tables {
 public:
  // Both return the name of the table.
  std::string add(const std::vector<long>& integers);
  std::string add(const std::vector<double>& numbers);
  const std::string& text() const { return text_; }

 private:
  std::string add_text(const std::string& type, std::size_t size, const std::string& list);

  std::string text_;
  std::map<std::string, std::string> names_;  // by type and content
};

// The code that computes the outputs, with loops over families. Long sums are loops of their own; outputs
// without an index are computed last. `hoisted` gets the names of the sums.
std::string rolled_text(const Expressions& pool, Hoisted hoisted, const std::vector<Output>& outputs,
                        Tables& tables, int indent);

// One block of code for each family of cases, and which of them computes case i.
struct CaseFamilies {
  struct Body {
    std::string text;      // lines; the number of the case within the family is j
    std::string returned;  // the formula to return, if any
  };
  std::vector<Body> bodies;
  std::vector<long> body;  // by case
  std::vector<long> slot;  // by case: j
};

CaseFamilies case_families(const Expressions& pool, const Hoisted& hoisted,
                           const std::vector<std::vector<Output>>& cases, Tables& tables, int indent);

}  // namespace zwang
