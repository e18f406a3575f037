// Accelerations where contacts have friction or multipliers are bounded: which contacts stick, slip or open and which
// bounded rows hold or yield [friction-6] [limit-2].
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/laws/least_constraint.h"
#include "src/laws/mode_problem.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

struct ModeQuestion {
  std::vector<std::size_t> rows;    // equations, bounded rows at s = 0, inequalities with f = 0 and f' = 0
  std::vector<std::size_t> leaves;  // conditions that must not hold: they have reached their cone or bound
  std::vector<std::size_t> rests;   // conditions whose slip or rate has come to zero
  std::vector<std::size_t> hopping = {};  // contacts whose bound does not count: their hops are left out
  std::vector<std::size_t> slides = {};   // contacts whose slip goes on as in State::modes where s = 0
  bool continued = false;  // in the middle of a motion: contacts that slip (State::modes) go on where s = 0
  double tolerance = 0;    // as of least_constraint()
  double rest_speed = 0;   // slip up to rest_speed times its scale counts as zero
  double margin = 0;       // IntegratorSettings::painleve_margin
};

// The modes of a contact or bounded row in force, by condition.
struct FoundMode {
  std::size_t condition = 0;
  ElementMode mode;
};

struct FrictionConstraint : LeastConstraint {
  std::vector<FoundMode> modes;  // of contacts with friction and of bounded rows
  ModeProblem problem;
  ModeSolution solution;
};

// Whether a contact has friction for this member: mu = 0 is no friction.
bool has_friction(const Equations& equations, std::size_t friction, const State& state);
std::optional<std::size_t> friction_of(const System& system, std::size_t condition);
std::optional<std::size_t> bound_of(const System& system, std::size_t condition);

// The contact-space problem of `question.rows`.
ModeProblem mode_problem(const Equations& equations, const State& state, const Sizes& sizes,
                         const Dynamics& dynamics, const ModeQuestion& question);

FrictionConstraint friction_constraint(const Equations& equations, const State& state, const Sizes& sizes,
                                       const ModeQuestion& question);

// Of the contacts that slip while the rows of `set` hold.
std::vector<SlipStiffness> slip_stiffness(const Equations& equations, const State& state,
                                          const std::vector<std::size_t>& set);

// Why there is no acceleration, in words.
std::string describe_no_mode(const System& system, const ModeSolution& solution);

}  // namespace zwang
