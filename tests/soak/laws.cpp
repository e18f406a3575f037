// Laws of conditions, energy, events and watched functions.
#include "tests/soak/laws.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/base/index.h"
#include "src/expression/scaled.h"
#include "src/laws/least_constraint.h"
#include "tests/soak/judged_member.h"

namespace zwang::soak {

namespace {

// Sums over a shock are exact to rounding, times what a nearly dependent set of rows loses.
constexpr double algebra = 1e-9;

}  // namespace

void Laws::hold(const JudgedMember& member, const std::string& law, double t, double found, double allowed) {
  const double severity = std::isfinite(found) ? found / std::max(allowed, 1e-300) : 1e300;
  double& worst = worst_[law];
  worst = std::max(worst, severity);
  if (severity > 1) breaches_.push_back({law, member.number, t, found, allowed});
}

void Laws::judge(const BackendMotion& motion, const Audit& audit, long long steps, bool redundant,
                 unsigned long long number) {
  if (motion.status != Status::ok && motion.status != Status::stopped) return;
  const JudgedMember member(study_, motion, number, redundant, audit.energy_size);
  for (std::size_t j = 0; j < motion.samples.size(); ++j) {
    if (!motion.reached[j]) continue;
    judge_sample(member, motion.samples[j]);
    judge_multipliers(member, motion.samples[j]);
  }
  judge_dissipation(member);
  judge_audit(member, audit, steps);
  judge_events(member);
  judge_watches(member);
}

// Equations and closed conditions hold, and between the events the open ones too. A missed contact shows as
// an open condition above zero.
void Laws::judge_sample(const JudgedMember& member, const Sample& sample) {
  const double rtol = study_.integrator.rtol, atol = study_.integrator.atol;
  for (std::size_t i = 0; i < member.equations.count(); ++i) {
    if (!member.in_force(i, sample.state.t)) continue;
    const Constraint& constraint = study_.system->constraints[i];
    const std::vector<Scaled> row = member.equations.scaled_row(i, sample.state, member.sizes);
    double reach = 0;
    for (std::size_t k = 3; k < row.size(); ++k) reach += std::abs(row[k].value);
    const double allowed = slack * (rtol * row[0].scale + atol * reach);
    const double allowed_rate = slack * (rtol * row[1].scale + atol * reach);
    const bool closed = sample.closed[i] != 0;
    const double f = row[0].value, t = sample.state.t;
    if (has_modes(constraint)) {
      // It holds now and then, a condition on positions wherever it stopped.
      if (closed)
        hold(member, constraint.slip_of ? "stick: |s|" : "bounded, holds: |s|", t, std::abs(row[1].value),
             allowed_rate);
      continue;
    }
    if (constraint.equation)
      hold(member, constraint.holonomic ? "equation: |f|" : "equation: |g|", t, std::abs(f),
           constraint.holonomic ? allowed : allowed_rate);
    else if (closed)
      hold(member, constraint.holonomic ? "closed: |f|" : "closed: |g|", t, std::abs(f),
           constraint.holonomic ? allowed : allowed_rate);
    else
      hold(member, constraint.holonomic ? "open: f <= 0" : "open: g <= 0", t, f,
           constraint.holonomic ? allowed : allowed_rate);
    if (constraint.holonomic && (constraint.equation || closed))
      hold(member, "held: |f'|", t, std::abs(row[1].value), allowed_rate);
  }
}

// Multipliers of closed conditions are not negative. They are computed here from the state and the closed set
// by Gauss's linear equations, because recorded multipliers are cut off at zero. A missed release shows as a
// negative one.
void Laws::judge_multipliers(const JudgedMember& member, const Sample& sample) {
  std::vector<std::size_t> held;
  for (std::size_t i = 0; i < member.equations.count(); ++i) {
    const bool equation = study_.system->constraints[i].equation;
    const double told = sample.multipliers(index(i));
    if (!equation) hold(member, "recorded multiplier >= 0", sample.state.t, -told, 0);
    const bool yields = equation && study_.system->constraints[i].limit.has_value();
    if (sample.closed[i] == 0 && !yields)
      hold(member, "recorded multiplier of an open condition", sample.state.t, std::abs(told), 0);
    const bool in_force = equation && !has_modes(study_.system->constraints[i]);
    if (sample.closed[i] != 0 || (in_force && member.in_force(i, sample.state.t))) held.push_back(i);
  }
  // The multipliers of dependent rows are not unique.
  const std::optional<State> state = state_with_modes(member, sample);
  if (held.empty() || member.redundant || !state) return;
  const Accelerations now = constrained_acceleration(member.equations, *state, held);
  if (now.status != Status::ok) return;
  // Bodies that touch and fall together have no forces between them but rounding of their weights.
  double rounding = 0;
  for (const Scaled& one : scaled_multipliers(member.equations, *state, member.sizes, held))
    rounding = std::max(rounding, study_.integrator.contact_tolerance * one.scale);
  const double allowed = multiplier_slack * study_.integrator.rtol * member.multipliers + rounding;
  for (const std::size_t i : held)
    if (!study_.system->constraints[i].equation)
      hold(member, "multiplier >= 0", sample.state.t, -now.multipliers(index(i)), allowed);
  judge_bounds(member, sample, *state, now.multipliers, allowed);
}

void Laws::judge_audit(const JudgedMember& member, const Audit& audit, long long steps) {
  const double end = member.motion.end.t, speed = std::max(member.sizes.v.maxCoeff(), sizes_.speed);
  const double relative = study_.integrator.rtol + study_.integrator.atol / std::min(speed, sizes_.length);
  // Each step may have an error of the tolerance.
  hold(member, "energy law", end, audit.energy_drift,
       (slack + static_cast<double>(steps)) * relative * audit.energy_size);
  hold(member, "energy made at a shock", end, audit.energy_created, algebra * audit.energy_size);
  hold(member, "Carnot", end, audit.carnot, algebra);
  hold(member, "judge of Gauss's principle", end, audit.kkt, 1e-8);
  // Rounding scales with the largest coordinate.
  const double length = std::max(member.sizes.q.maxCoeff(), sizes_.length);
  hold(member, "drift left in positions", end, audit.position_violation, 1e-10 * length);
  hold(member, "drift left in velocities", end, audit.velocity_violation, 1e-10 * speed);
}

// Events in order, impulses not negative, and the listed loss of T, computed again where masses are constant.
void Laws::judge_events(const JudgedMember& member) {
  double last = 0;
  const bool constant_mass =
      std::none_of(study_.system->mass.begin(), study_.system->mass.end(), [&](const MassEntry& entry) {
        return study_.system->pool->mentions(entry.value, SymbolKind::coordinate);
      });
  const Eigen::MatrixXd mass = member.equations.mass(member.motion.start);
  for (const Event& event : member.motion.events) {
    hold(member, "events in order", event.t, last - event.t, 1e-11 * std::abs(last));
    last = event.t;
    double largest = 0;
    for (const double impulse : event.impulses) largest = std::max(largest, std::abs(impulse));
    for (std::size_t k = 0; k < event.impulses.size(); ++k)
      if (!study_.system->constraints[event.struck()[k]].equation)
        hold(member, "impulse >= 0", event.t, -event.impulses[k], algebra * largest);
    if (!event.velocities_jump || !constant_mass) continue;
    // The loss of an accumulation includes the friction of shocks left out, which the jump does not.
    if (event.kind == EventKind::accumulation && !study_.system->frictions.empty()) continue;
    const auto kinetic = [&](const Eigen::VectorXd& v) { return 0.5 * v.dot(mass * v); };
    const double lost = kinetic(event.velocity_before) - kinetic(event.velocity_after);
    hold(member, "energy lost as listed", event.t, std::abs(lost - event.energy_lost),
         algebra * std::max(kinetic(event.velocity_before), kinetic(event.velocity_after)));
  }
}

// A watched function that has changed sign at the next output has an odd number of recorded crossings.
void Laws::judge_watches(const JudgedMember& member) {
  const System& system = *study_.system;
  for (std::size_t w = 0; w < system.watches.size(); ++w) {
    const Program program(*system.pool, {system.watches[w].value});
    int side = 0;
    double since = 0;
    for (std::size_t j = 0; j < member.motion.samples.size(); ++j) {
      if (!member.motion.reached[j]) continue;
      const State& state = member.motion.samples[j].state;
      const Scaled value = member.equations.evaluate_scaled(program, state, member.sizes);
      // Too near zero to decide: the next output decides.
      if (!(std::abs(value.value) > slack * (study_.integrator.rtol * value.scale + study_.integrator.atol)))
        continue;
      const int now = value.value > 0 ? 1 : -1;
      const auto crossings =
          std::count_if(member.motion.events.begin(), member.motion.events.end(), [&](const Event& event) {
            return event.kind == EventKind::event && event.watch == w && event.t > since &&
                   event.t <= state.t;
          });
      if (side != 0)
        hold(member, "watched crossings, none lost", state.t,
             (crossings % 2 != 0) == (side != now) ? 0.0 : 1.0, 0.5);
      side = now;
      since = state.t;
    }
  }
}

}  // namespace zwang::soak
