// Selection of the constants and time-dependent values that functions share.
#include "src/emit/share.h"

#include <algorithm>

#include "src/emit/rewrite.h"
#include "src/emit/text.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

namespace zwang {

namespace {

using Formulas = std::vector<Expr>;

// A step keeps these values for all its stages, and their text is inlined about a dozen times.
constexpr std::size_t most_drives = 8;

// The largest subexpressions of a kind that are worth sharing: the arguments of nodes of another kind, and
// the formulas themselves. Ascending.
template <class Kind, class Worth>
Formulas largest_parts(const Expressions& pool, const Formulas& roots, const Kind& is_kind,
                       const Worth& is_worth) {
  std::vector<char> wanted(pool.size(), 0);
  const auto want = [&](Expr e) { wanted[e.id] = wanted[e.id] || is_worth(e); };
  for (const Expr e : roots) want(e);
  for (const Expr e : pool.reachable(roots)) {
    if (is_kind(e)) continue;
    for (int i = 0; i < arity(pool.node(e).op); ++i)
      want(pool.node(e).arguments[static_cast<std::size_t>(i)]);
  }
  Formulas found;
  for (std::uint32_t id = 0; id < wanted.size(); ++id)
    if (wanted[id]) found.push_back({id});
  return found;
}

std::string entry(const char* array, std::size_t i) {
  return std::string(array) + "[" + std::to_string(i) + "]";
}

}  // namespace

bool is_motion(const Function& function) {
  return function.role == FunctionRole::motion || function.role == FunctionRole::free_motion;
}

Shared::Shared(const System& system, const std::vector<Function>& functions)
    : system_(system), pool_(*system.pool) {
  share_constants(functions);
  name_branches();
  in_motion_ = constants_;
  share_drive(functions);
}

std::size_t Shared::first_mode() const { return system_.parameters.size() + constant_.size(); }

std::size_t Shared::first_branch() const { return first_mode() + system_.modes; }

void Shared::share_constants(const std::vector<Function>& functions) {
  Formulas roots;
  for (const Function& function : functions) {
    // Used at events only: not worth a register at every step.
    if (function.role == FunctionRole::event_scales) continue;
    for (const FunctionCase& made : function.cases)
      for (const Output& output : made.outputs) roots.push_back(output.value);
  }
  ParameterOnly constant(pool_);
  // A minus sign costs nothing: values are shared without it.
  const auto is_constant = [&](Expr e) { return constant(e) && pool_.node(e).op != Op::negate; };
  constant_ = largest_parts(pool_, roots, is_constant,
                            [&](Expr e) { return is_constant(e) && arity(pool_.node(e).op) > 0; });
  for (std::size_t i = 0; i < constant_.size(); ++i)
    constants_[constant_[i].id] = entry("k", system_.parameters.size() + i);
}

void Shared::name_branches() {
  for (std::size_t i = 0; i < system_.modes; ++i)
    constants_[pool_.symbol(SymbolKind::mode, i).id] = entry("k", first_mode() + i);
  for (std::size_t i = 0; i < system_.branches.size(); ++i)
    constants_[pool_.symbol(SymbolKind::branch, i).id] = entry("k", first_branch() + i);
}

void Shared::share_drive(const std::vector<Function>& functions) {
  Formulas roots;
  for (const Function& function : functions) {
    if (!is_motion(function)) continue;
    for (const FunctionCase& part : function.cases)
      for (const Output& output : part.outputs) roots.push_back(output.value);
  }
  const TimeOnly timed(pool_);
  Formulas parts = largest_parts(
      pool_, roots, [&](Expr e) { return timed(e); }, [&](Expr e) { return timed.is_work(e); });
  if (parts.size() > most_drives) return;
  drive_ = std::move(parts);
  for (std::size_t i = 0; i < drive_.size(); ++i) in_motion_[drive_[i].id] = entry("w", i);
}

Hoisted Shared::parameter_names() const {
  Hoisted given;
  for (std::size_t i = 0; i < system_.parameters.size(); ++i)
    given[pool_.symbol(SymbolKind::parameter, i).id] = entry("p", i);
  return given;
}

Function Shared::make_constants() const {
  Formulas constants;
  for (std::size_t i = 0; i < system_.parameters.size(); ++i)
    constants.push_back(pool_.symbol(SymbolKind::parameter, i));
  constants.insert(constants.end(), constant_.begin(), constant_.end());
  FunctionCase made;
  append_array(made, "k", constants);
  return {"the member's constants: its parameters, and what is made of them alone",
          "void",
          "make_constants",
          {{"const R*", "p"}, {"R*", "k"}},
          {made}};
}

std::string Shared::make_drive() const {
  FunctionCase made;
  append_array(made, "w", drive_);
  Function drive{"what the time alone decides in the motion",
                 "void",
                 "drive",
                 {{"const R*", "k"}, {"R", "t"}, {"R*", "w"}},
                 {made}};
  drive.role = FunctionRole::in_steps;
  return function_text(pool_, constants_, drive);
}

}  // namespace zwang
