// The names a formula may use, what each of them stands for, and the place of a formula in the study.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/expression/expression.h"

namespace zwang {

// The kinds of names that a formula may use. Bits: each place in the study allows some of them.
enum Allowed : unsigned {
  allow_nothing = 0,
  allow_time = 1,
  allow_parameters = 2,
  allow_positions = 4,   // coordinates, points, anchors
  allow_velocities = 8,  // primes
  allow_auxiliaries = 16,
  allow_reactions =
      32,  // multiplier(c), reaction(c), value(c), open(c), closed(c), friction(c), kinetic() ...
  allow_quaternions = 64,  // box.q0 .. box.q3
};

struct ScalarName {
  Expr value;
  std::optional<Expr> rate;  // the value with a prime; absent: a prime is an error
  unsigned needs = 0;        // bits of Allowed
};

// A point, an anchor, a body or a point of one; or a vector of a body, such as an axis.
struct VectorName {
  std::vector<Expr> position, velocity;  // equally long: 1, 2 or 3; no velocity: a prime is an error
  bool is_anchor = false;
  bool is_place = true;               // false: a direction or another vector that is no place
  unsigned needs = allow_positions;   // bits of Allowed
  std::optional<Expr> rotation = {};  // of a body: the angle of its orientation
};

// The values of multiplier(c), reaction(c), ... for a condition c, in [observe] and [measure].
struct ConditionName {
  Expr multiplier, reaction, value, open, closed;
  // Of a contact with friction: friction(c), slip(c), sticking(c), slipping(c). Of a bounded condition:
  // holding(c), broken(c). Of both: dissipated(c).
  std::optional<Expr> friction = {}, slip = {}, sticking = {}, slipping = {}, holding = {}, broken = {},
                      dissipated = {};
  bool breaks = false;  // it is gone for good once its multiplier reaches the limit
};

// A link of several conditions: reaction(link) is the size of its force. holding(link), broken(link) and breaks(link)
// are those of its first condition.
struct LinkName {
  Expr reaction;
  std::string first_condition;
};

struct Scope {
  std::map<std::string, ScalarName, std::less<>> scalars;
  std::map<std::string, VectorName, std::less<>> vectors;
  std::map<std::string, ConditionName, std::less<>> conditions;
  std::map<std::string, LinkName, std::less<>> links = {};
  std::vector<std::string> events;  // names of [[event]]
  std::optional<Expr> kinetic = {}, potential = {}, logdensity = {}, dissipated = {};
};

struct ReducedFormula;

// What a formula in [measure] may use besides numbers and parameters.
struct MeasureScope {
  // The symbol of a reduction. The same reduction has the same symbol.
  std::function<Expr(const ReducedFormula&)> reduce;
  std::map<std::string, Expr, std::less<>> earlier;  // measures defined before, by name
  std::vector<std::string> later;                    // names of this one and those that follow
  unsigned allowed_inside = allow_nothing;           // what a reduction may reduce: bits of Allowed
  std::map<std::string, std::vector<std::string>, std::less<>> records;  // [[record]]: names of their values
};

// The place of a formula in the study, for error messages.
struct Source {
  std::string place;  // "constraint 'cable', require"
  // Location of the character `offset` of the text.
  std::function<Location(std::size_t offset)> locate = [](std::size_t offset) {
    return Location{"", 1, static_cast<int>(offset) + 1};
  };
};

}  // namespace zwang
