// Names with a fixed meaning in formulas: functions, reductions, event patterns.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "kernels/base/layout.h"
#include "src/expression/operation.h"

namespace zwang {

struct FormulaFunction {
  std::string_view name;
  Op op;
  int least, most;  // number of arguments; most = -1: any number
};

inline constexpr FormulaFunction functions[] = {
    {"sin", Op::sin, 1, 1},     {"cos", Op::cos, 1, 1},      {"tan", Op::tan, 1, 1},
    {"asin", Op::asin, 1, 1},   {"acos", Op::acos, 1, 1},    {"atan", Op::atan, 1, 1},
    {"sinh", Op::sinh, 1, 1},   {"cosh", Op::cosh, 1, 1},    {"tanh", Op::tanh, 1, 1},
    {"exp", Op::exp, 1, 1},     {"log", Op::log, 1, 1},      {"sqrt", Op::sqrt, 1, 1},
    {"abs", Op::abs, 1, 1},     {"sign", Op::sign, 1, 1},    {"floor", Op::floor, 1, 1},
    {"atan2", Op::atan2, 2, 2}, {"min", Op::minimum, 2, -1}, {"max", Op::maximum, 2, -1},
    {"hypot", Op::hypot, 2, 2}, {"wrap", Op::wrap, 2, 2},
};

inline constexpr std::string_view vector_functions[] = {"distance", "dot", "norm", "speed"};
// Studies without bodies may use these words as names: they are not reserved.
inline constexpr std::string_view body_functions[] = {"angle", "rotation"};
inline constexpr std::string_view state_functions[] = {"kinetic", "potential", "logdensity"};
// Those of friction and bounds came later than studies that use such words as names: they are not reserved.
inline constexpr std::string_view reserved_condition_functions[] = {"multiplier", "reaction", "value", "open",
                                                                    "closed"};
inline constexpr std::string_view condition_functions[] = {"multiplier", "reaction", "value",  "open",
                                                           "closed",     "friction", "slip",   "sticking",
                                                           "slipping",   "holding",  "broken", "dissipated"};

struct ReductionName {
  std::string_view name;
  Reduction reduction;
};
inline constexpr ReductionName reductions[] = {
    {"initial", Reduction::initial}, {"final", Reduction::final}, {"minimum", Reduction::minimum},
    {"maximum", Reduction::maximum}, {"mean", Reduction::mean},   {"integral", Reduction::integral},
    {"count", Reduction::count},     {"first", Reduction::first}, {"last", Reduction::last},
    {"total", Reduction::total},     {"at", Reduction::at}};

// Reductions over the rows of a record: of its values, of whole rows.
inline constexpr ReductionName record_reductions[] = {
    {"count", Reduction::record_count},     {"first", Reduction::record_first},
    {"last", Reduction::record_last},       {"mean", Reduction::record_mean},
    {"minimum", Reduction::record_minimum}, {"maximum", Reduction::record_maximum},
    {"std", Reduction::record_std},         {"period", Reduction::record_period},
    {"label", Reduction::record_label}};

inline bool is_reduction(std::string_view name) {
  const auto called = [name](const ReductionName& reduction) { return reduction.name == name; };
  return std::any_of(std::begin(reductions), std::end(reductions), called) ||
         std::any_of(std::begin(record_reductions), std::end(record_reductions), called);
}

struct PatternName {
  std::string_view name;
  EventPattern pattern;
};
inline constexpr PatternName patterns[] = {{"shock", EventPattern::shock},
                                           {"release", EventPattern::release},
                                           {"contact", EventPattern::contact},
                                           {"accumulation", EventPattern::accumulation},
                                           {"impulse", EventPattern::impulse},
                                           {"event", EventPattern::watched},
                                           {"slides", EventPattern::slides},
                                           {"sticks", EventPattern::sticks},
                                           {"reverses", EventPattern::reverses},
                                           {"yields", EventPattern::yields},
                                           {"locks", EventPattern::locks},
                                           {"breaks", EventPattern::breaks},
                                           {"friction_impulse", EventPattern::friction_impulse}};

// Patterns that refer to sizes of impulses, not to instants.
inline bool is_of_impulse(EventPattern pattern) {
  return pattern == EventPattern::impulse || pattern == EventPattern::friction_impulse;
}

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

inline const FormulaFunction* find_function(std::string_view name) {
  const auto* it = std::find_if(std::begin(functions), std::end(functions),
                                [name](const FormulaFunction& f) { return f.name == name; });
  return it == std::end(functions) ? nullptr : it;
}

}  // namespace zwang
