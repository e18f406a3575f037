// Velocities across an impact with friction or bounded impulses [friction-11] [limit-4].
#pragma once

#include <cstddef>
#include <vector>

#include "src/laws/shock.h"
#include "src/system/equations.h"

namespace zwang {

struct FrictionShock : Shock {      // status also: ambiguous
  std::vector<std::size_t> broken;  // conditions that transmitted their impulse_limit and are gone
  std::vector<char> rubbed;         // by condition: contacts with a tangential impulse
  double theta = 1;  // share of the restitution that the energy allows, the least of all rounds
};

// As shock(). `bounded` are the bounded conditions that take part: those with an impulse_limit, and those that break.
// The size of the tangential impulse of a contact is the impulse of its first slip row.
FrictionShock friction_shock(const Equations& equations, const State& state, const Sizes& sizes,
                             const Eigen::VectorXd& alpha, const ShockParticipants& participants,
                             const std::vector<std::size_t>& bounded, const std::vector<double>& restitution,
                             double rest_speed);

// Whether friction or bounds have a part in a shock; without it the laws of shock() hold, to the last bit.
bool takes_friction(const Equations& equations, const State& state, const ShockParticipants& participants,
                    const std::vector<std::size_t>& bounded);

// The limit of infinitely many shocks of `contacts` [friction-14]: f' = 0 for all of them. The motion after it keeps
// them closed until the limit and transfers l more than the shocks do, l <= 0 being the impulse of this projection:
// friction of that size is given back where they slip.
FrictionShock completed_friction_shock(const Equations& equations, const State& state, const Sizes& sizes,
                                       const ShockParticipants& participants, double rest_speed);

}  // namespace zwang
