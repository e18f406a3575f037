// The derived equations in LaTeX: mass matrix, forces, constraints with their rates and rows.
#include <fmt/format.h>

#include "host/inspect/write_explain.h"
#include "host/study/study.h"
#include "src/expression/expression.h"
#include "src/expression/readable.h"
#include "src/system/system.h"

namespace zwang {

namespace {

std::string in_latex(const System& system, Expr e) {
  constexpr std::size_t limit = 2000;
  return readable_text(*system.pool, e, system.namer(), Notation::latex, limit);
}

std::string constraint_latex(const System& system, const Constraint& constraint) {
  const std::string letter = constraint.holonomic ? "f" : "g";
  const std::string index = fmt::format("_{{\\mathrm{{{}}}}}", latex_text(constraint.name));
  std::string text = fmt::format("{}{} &= {} {}\\\\\n", letter, index, in_latex(system, constraint.value),
                                 constraint.equation ? "= 0" : "\\le 0");
  if (constraint.holonomic)
    text += fmt::format("\\dot{{f}}{} &= {}\\\\\n", index, in_latex(system, constraint.rate));
  // f'' = A a + c, written out with the accelerations.
  text += fmt::format("{}{} &= ", constraint.holonomic ? "\\ddot{f}" : "\\dot{g}", index);
  for (std::size_t k = 0; k < constraint.columns.size(); ++k)
    text += fmt::format("{}\\left({}\\right)\\ddot{{{}}}", k > 0 ? " + " : "",
                        in_latex(system, constraint.row[k]),
                        latex_name(system.coordinates[constraint.columns[k]]));
  if (!system.pool->is_zero(constraint.rest)) text += " + " + in_latex(system, constraint.rest);
  return text + "\\\\\n";
}

}  // namespace

std::string explain_latex(const Study& study) {
  const System& system = *study.system;
  std::string text = fmt::format(
      "% {}, written by zwang explain --latex; needs amsmath.\n% M a = Q - A^T lambda\n", study.name);
  text += "\\begin{align*}\n";
  for (const MassEntry& entry : system.mass)
    text += fmt::format("M_{{{},{}}} &= {}\\\\\n", latex_name(system.coordinates[entry.row]),
                        latex_name(system.coordinates[entry.column]), in_latex(system, entry.value));
  for (std::size_t i = 0; i < system.size(); ++i)
    text += fmt::format("Q_{{{}}} &= {}\\\\\n", latex_name(system.coordinates[i]),
                        in_latex(system, system.applied[i]));
  for (const Constraint& constraint : system.constraints) text += constraint_latex(system, constraint);
  // No line break after the last row.
  text.erase(text.size() - 3);
  return text + "\n\\end{align*}\n";
}

}  // namespace zwang
