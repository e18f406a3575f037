// Coulomb's law, bounds on multipliers, and the energy they dissipate, from the record of a member.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/index.h"
#include "src/expression/scaled.h"
#include "src/system/equations.h"
#include "src/system/system.h"
#include "tests/soak/judged_member.h"
#include "tests/soak/laws.h"

namespace zwang::soak {

namespace {

// The rates of some conditions at a state, and what they may be off by.
struct Rates {
  Eigen::VectorXd s;
  double allowed = 0;
};

Rates rates_of(const Study& study, const JudgedMember& member, const State& state,
               const std::vector<std::size_t>& rows) {
  Rates made{Eigen::VectorXd::Zero(index(rows.size()))};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::vector<Scaled> row = member.equations.scaled_row(rows[k], state, member.sizes);
    double reach = 0;
    for (std::size_t c = 3; c < row.size(); ++c) reach += std::abs(row[c].value);
    made.s(index(k)) = row[1].value;
    made.allowed = std::max(made.allowed,
                            slack * (study.integrator.rtol * row[1].scale + study.integrator.atol * reach));
  }
  return made;
}

// The times from the completion of each accumulation, with the last shock of its conditions, to its limit. What its hops
// dissipate less than closed contacts is taken off at once, and the closed contacts add it again until the limit.
std::vector<std::pair<double, double>> times_before_limits(const std::vector<Event>& events) {
  std::vector<std::pair<double, double>> made;
  for (auto limit = events.begin(); limit != events.end(); ++limit) {
    if (limit->kind != EventKind::accumulation) continue;
    const std::vector<std::size_t>& of = limit->constraints;
    const auto shock =
        std::find_if(std::make_reverse_iterator(limit), events.rend(), [&](const Event& event) {
          return event.velocities_jump && event.kind != EventKind::accumulation &&
                 std::find_first_of(event.constraints.begin(), event.constraints.end(), of.begin(),
                                    of.end()) != event.constraints.end();
        });
    made.emplace_back(shock == events.rend() ? 0 : shock->t, limit->t);
  }
  return made;
}

}  // namespace

bool has_modes(const Constraint& constraint) {
  return constraint.slip_of || (constraint.equation && constraint.limit);
}

// The state with directions of slips and signs of yielding rows, all from the velocities.
std::optional<State> Laws::state_with_modes(const JudgedMember& member, const Sample& sample) const {
  const System& system = *study_.system;
  State state = sample.state;
  state.modes = Eigen::VectorXd::Zero(index(system.modes));
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const Friction& friction = system.frictions[f];
    if (sample.closed[friction.contact] == 0 || sample.closed[friction.rows[0]] != 0) continue;
    if (!(member.equations.friction(f, state).cone > 0)) continue;
    const Rates slip = rates_of(study_, member, state, friction.rows);
    if (!(slip.s.norm() > slip.allowed)) return {};
    state.modes.segment(index(friction.first_mode), slip.s.size()) = slip.s.normalized();
  }
  for (const Bound& bound : system.bounds) {
    const std::size_t i = bound.condition;
    if (!bound.sign || sample.closed[i] != 0 || !member.in_force(i, state.t)) continue;
    const Rates rate = rates_of(study_, member, state, {i});
    if (!(std::abs(rate.s(0)) > rate.allowed)) return {};
    state.modes(index(*bound.sign)) = rate.s(0) > 0 ? 1 : -1;
  }
  return state;
}

// The force of a sticking contact is within its cone, that of a holding row within its bound, and the recorded
// forces are those of Coulomb's law: with the friction of every slip along its direction, nothing else fits.
void Laws::judge_bounds(const JudgedMember& member, const Sample& sample, const State& state,
                        const Eigen::VectorXd& multipliers, double allowed) {
  const System& system = *study_.system;
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const Friction& friction = system.frictions[f];
    if (sample.closed[friction.contact] == 0) continue;
    const double normal = multipliers(index(friction.contact));
    hold(member, "contact with friction: recorded multiplier", state.t,
         std::abs(sample.multipliers(index(friction.contact)) - std::max(normal, 0.0)), allowed);
    if (sample.closed[friction.rows[0]] == 0) continue;
    double squares = 0;
    for (const std::size_t row : friction.rows) squares += multipliers(index(row)) * multipliers(index(row));
    const double cone = member.equations.friction(f, state).cone_static;
    hold(member, "stick: within the cone", state.t, std::sqrt(squares) - cone * normal, (1 + cone) * allowed);
  }
  for (std::size_t b = 0; b < system.bounds.size(); ++b) {
    const std::size_t i = system.bounds[b].condition;
    if (sample.closed[i] == 0) continue;
    const double limit = member.equations.bound(b).limit;
    hold(member, "bounded: within the limit", state.t, std::abs(multipliers(index(i))) - limit,
         std::max(allowed, multiplier_slack * study_.integrator.rtol * limit));
  }
}

// What friction and yielding rows have dissipated never decreases.
void Laws::judge_dissipation(const JudgedMember& member) {
  const std::vector<std::pair<double, double>> ahead = times_before_limits(member.motion.events);
  for (const Constraint& constraint : study_.system->constraints) {
    if (!constraint.dissipated) continue;
    double most = 0;
    for (std::size_t j = 0; j < member.motion.samples.size(); ++j) {
      const State& state = member.motion.samples[j].state;
      const auto holds_now = [&](const auto& span) {
        return span.first <= state.t && state.t <= span.second;
      };
      if (!member.motion.reached[j] || std::any_of(ahead.begin(), ahead.end(), holds_now)) continue;
      const double now = state.z(index(*constraint.dissipated));
      hold(member, "dissipated energy never decreases", state.t, most - now,
           slack * (study_.integrator.rtol * member.energy + study_.integrator.atol));
      most = std::max(most, now);
    }
  }
}

}  // namespace zwang::soak
