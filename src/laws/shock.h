// Velocities across a shock: the least constraint one level lower [mayer2-2] [mayer2-9] [mayer2-15].
#pragma once

#include "kernels/base/status.h"
#include "src/system/equations.h"

namespace zwang {

// The conditions that take part. Positions are those of the state and do not change.
struct ShockParticipants {
  std::vector<std::size_t> equations;   // in force: f' = 0 or g = 0 afterwards
  std::vector<std::size_t> contacts;    // holonomic inequalities with f = 0
  std::vector<std::size_t> velocities;  // every velocity inequality in force, open or closed
};

struct Shock {
  Status status = Status::ok;  // or infeasible, singular, not_finite
  Eigen::VectorXd v;           // velocities after
  Eigen::VectorXd impulses;    // l, one per condition; summed over the rounds of one instant
  // Per coordinate: sum of the absolute changes of velocity by all impulses. The rounding of v is
  // proportional to it, even where the impulses cancel.
  Eigen::VectorXd pushed;
  std::vector<char> struck;  // by condition: l > 0 beyond rounding (either sign for equations)
  bool jumped = false;       // some velocity condition was violated, so v changed
  int rounds = 0;
  double energy_lost = 0;  // T(u) - T(v)
  double kkt = 0;          // kkt_residual() of the solution
  double carnot = 0;       // |T(u) - T(v) - T(v - u)| / T(u), where Carnot's identity applies
};

// `state.v` is u; `alpha` are the velocities that an external impulse would give the free system [mayer2-12]
// (u itself without one [mayer2-16]). `restitution`: e per condition.
Shock shock(const Equations& equations, const State& state, const Sizes& sizes, const Eigen::VectorXd& alpha,
            const ShockParticipants& participants, const std::vector<double>& restitution, double rest_speed);

// The limit of infinitely many shocks of `contacts`: the projection on the intersection, f' = 0 for all of
// them.
Shock completed_shock(const Equations& equations, const State& state, const Sizes& sizes,
                      const ShockParticipants& participants, double rest_speed);

}  // namespace zwang
