// One member function of the emitted model: its signature, its cases, its lines.
#pragma once

#include <string>
#include <vector>

#include "src/emit/families.h"
#include "src/emit/text.h"
#include "src/expression/expression.h"

namespace zwang {

struct Argument {
  std::string type, name;
};

// The arguments of all functions of the state.
inline const std::vector<Argument> state_arguments = {
    {"const R*", "k"}, {"R", "t"}, {"const R*", "q"}, {"const R*", "v"}, {"const R*", "z"}};

// One block of straight-line code.
struct FunctionCase {
  std::vector<Stage> stages{};
  std::vector<Output> outputs{};
  std::string zeroed{};  // an array to fill with zeros first, its length given
  std::size_t zeroed_length = 0;
  std::string before{};  // lines ahead of it all
};

// When the kernels call a function.
enum class FunctionRole {
  at_events,
  in_steps,      // at every step, or inside it at output times
  motion,        // the same; rates and multipliers with conditions held
  free_motion,   // the same; rates with none held
  event_scales,  // inlined into steps, evaluated at events only: its constants are not kept in registers
};

struct Function {
  std::string comment;
  std::string result;  // "void" or "R"
  std::string name;
  std::vector<Argument> arguments;
  std::vector<FunctionCase> cases;
  std::string
      chosen_by{};       // the int argument that picks the case; empty: all are executed, one after the other
  double otherwise = 0;  // result beyond the cases
  FunctionRole role = FunctionRole::at_events;
  // k, q, v and z may be anything with an operator[] besides arrays: numbers with rounding scales are then made of the
  // entries that are read.
  bool reads_by_index = false;
};

// Assigns `array[i]` for every value; where many are zero, a loop clears the array and only the others are
// written.
FunctionCase fill_array(const Expressions& pool, const std::string& array, const std::vector<Expr>& values);
// More outputs for the same case.
void append_array(FunctionCase& made, const std::string& array, const std::vector<Expr>& values);

std::string function_text(const Expressions& pool, const Hoisted& hoisted, const Function& function);
// The same with loops over formulas of the same shape (src/emit/families.h).
std::string rolled_function_text(const Expressions& pool, const Hoisted& hoisted, const Function& function,
                                 Tables& tables);

// A table of integers or booleans as a function of its index: device code has no constant arrays in a class.
std::string table_text(const std::string& type, const std::string& name, const std::vector<int>& values);

}  // namespace zwang
