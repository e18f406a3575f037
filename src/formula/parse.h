// The study's formula language: text to expressions, with errors that point at the character.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/expression/expression.h"

namespace zwang {

// What a name in a formula may be. Bits, so that a place in the study can say what it allows.
enum Allowed : unsigned {
  allow_nothing = 0,
  allow_time = 1,
  allow_parameters = 2,
  allow_positions = 4,   // coordinates, points, anchors
  allow_velocities = 8,  // primes
  allow_auxiliaries = 16,
  allow_reactions = 32,  // multiplier(c), reaction(c), value(c), open(c), closed(c), kinetic(), potential()
};

struct ScalarName {
  Expr value;
  std::optional<Expr> rate;  // what a prime means; absent: a prime is an error
  unsigned needs = 0;        // bits of Allowed
};

// A point or an anchor.
struct VectorName {
  std::vector<Expr> position, velocity;  // equally long: 1, 2 or 3
  bool is_anchor = false;
};

// What the functions of a condition's name mean in [observe] and [measure].
struct ConditionName {
  Expr multiplier, reaction, value, open, closed;
};

struct Scope {
  std::map<std::string, ScalarName, std::less<>> scalars;
  std::map<std::string, VectorName, std::less<>> vectors;
  std::map<std::string, ConditionName, std::less<>> conditions;
  std::vector<std::string> events;  // names of [[event]]
  std::optional<Expr> kinetic = {}, potential = {}, logdensity = {};
};

// Where a formula stands: for the error messages.
struct Source {
  std::string place;  // "constraint 'cable', require"
  // Location of the character `offset` of the text.
  std::function<Location(std::size_t offset)> locate = [](std::size_t offset) {
    return Location{"", 1, static_cast<int>(offset) + 1};
  };
};

// distance(a,b) or norm(a), recognised when it is one whole side of a condition.
struct Distance {
  std::vector<Expr> difference;  // components of a - b
  std::vector<Expr> first_end;   // the coordinates of a (or of b when a is an anchor): where the tension acts
};

enum class Comparison { less_equal, greater_equal, equal, less, greater };

struct Condition {
  Comparison comparison;
  Expr left, right;
  std::optional<Distance> left_distance, right_distance;
};

struct MeasureFormula {
  Reduction reduction;
  EventPattern pattern = EventPattern::none;
  std::string name{};  // the condition or the watched event
  Expr value{};        // what is reduced, or evaluated at the event
};

Expr parse_expression(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                      const Source& source);
// `stop` also takes the strict comparisons.
Condition parse_condition(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                          const Source& source, bool strict_allowed);
MeasureFormula parse_measure(Expressions& pool, const std::string& text, const Scope& scope, unsigned allowed,
                             const Source& source);

bool is_reserved(std::string_view name);  // function names, t, pi
bool is_name(std::string_view text);      // [A-Za-z_][A-Za-z0-9_]*

}  // namespace zwang
