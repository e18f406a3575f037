#include "tests/soak/laws.h"

#include <algorithm>
#include <cmath>

#include "src/base/index.h"
#include "src/laws/least_constraint.h"

namespace zwang::soak {

namespace {

// So many tolerances a number at an output time may be off, as in `zwang check`.
constexpr double slack = 30;
// Multipliers are quotients of the state: a few digits less.
constexpr double multiplier_slack = 1e4;
// Sums over a shock are exact to rounding, times what a nearly dependent set of rows loses.
constexpr double algebra = 1e-9;

}  // namespace

// One member, and what its numbers are measured by.
struct Laws::Member {
  const BackendMotion& motion;
  unsigned long long number;
  bool redundant;
  Equations equations;
  Sizes sizes;             // over the whole motion
  double multipliers = 0;  // largest of an inequality
  double energy = 0;
  std::vector<double> from, until;  // of the conditions

  Member(const Study& study, const BackendMotion& record, unsigned long long member, bool dependent,
         double energy_size)
      : motion(record),
        number(member),
        redundant(dependent),
        equations(*study.system, record.parameters),
        energy(energy_size) {
    const MemberSizes seen = sizes_of_motion(*study.system, record);
    sizes = {seen.q, seen.v};
    for (const Event& event : record.events)
      if (event.velocities_jump)
        sizes.v =
            sizes.v.cwiseMax(event.velocity_before.cwiseAbs()).cwiseMax(event.velocity_after.cwiseAbs());
    if (seen.multipliers.size() > 0) multipliers = seen.multipliers.maxCoeff();
    constexpr double never = std::numeric_limits<double>::infinity();
    for (const Constraint& constraint : study.system->constraints) {
      from.push_back(constraint.from ? value_of(*constraint.from) : -never);
      until.push_back(constraint.until ? value_of(*constraint.until) : never);
    }
  }
  double value_of(Expr e) const {
    return equations.evaluate(Program(*equations.system().pool, {e}), motion.start);
  }
  // At the instant at which a condition begins or ends, both are correct.
  bool in_force(std::size_t i, double t) const {
    const double near = 1e-9 * std::abs(motion.end.t);
    return t > from[i] + near && t < until[i] - near;
  }
};

void Laws::hold(const Member& member, const std::string& law, double t, double found, double allowed) {
  const double severity = std::isfinite(found) ? found / std::max(allowed, 1e-300) : 1e300;
  double& worst = worst_[law];
  worst = std::max(worst, severity);
  if (severity > 1) breaches_.push_back({law, member.number, t, found, allowed});
}

void Laws::judge(const BackendMotion& motion, const Audit& audit, long long steps, bool redundant,
                 unsigned long long number) {
  if (motion.status != Status::ok && motion.status != Status::stopped) return;
  const Member member(study_, motion, number, redundant, audit.energy_size);
  for (std::size_t j = 0; j < motion.samples.size(); ++j) {
    if (!motion.reached[j]) continue;
    judge_sample(member, motion.samples[j]);
    judge_multipliers(member, motion.samples[j]);
  }
  judge_audit(member, audit, steps);
  judge_events(member);
  judge_watches(member);
}

// Equations and closed conditions hold, and between the events the open ones too. A missed contact shows as
// an open condition above zero.
void Laws::judge_sample(const Member& member, const Sample& sample) {
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
void Laws::judge_multipliers(const Member& member, const Sample& sample) {
  std::vector<std::size_t> held;
  for (std::size_t i = 0; i < member.equations.count(); ++i) {
    const bool equation = study_.system->constraints[i].equation;
    const double told = sample.multipliers(index(i));
    if (!equation) hold(member, "recorded multiplier >= 0", sample.state.t, -told, 0);
    if (sample.closed[i] == 0)
      hold(member, "recorded multiplier of an open condition", sample.state.t, std::abs(told), 0);
    if (sample.closed[i] != 0 || (equation && member.in_force(i, sample.state.t))) held.push_back(i);
  }
  // The multipliers of dependent rows are not unique.
  if (held.empty() || member.redundant) return;
  const Accelerations now = constrained_acceleration(member.equations, sample.state, held);
  if (now.status != Status::ok) return;
  const double allowed = multiplier_slack * study_.integrator.rtol * member.multipliers;
  for (const std::size_t i : held)
    if (!study_.system->constraints[i].equation)
      hold(member, "multiplier >= 0", sample.state.t, -now.multipliers(index(i)), allowed);
}

void Laws::judge_audit(const Member& member, const Audit& audit, long long steps) {
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
void Laws::judge_events(const Member& member) {
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
    const auto kinetic = [&](const Eigen::VectorXd& v) { return 0.5 * v.dot(mass * v); };
    const double lost = kinetic(event.velocity_before) - kinetic(event.velocity_after);
    hold(member, "energy lost as listed", event.t, std::abs(lost - event.energy_lost),
         algebra * std::max(kinetic(event.velocity_before), kinetic(event.velocity_after)));
  }
}

// A watched function that has changed sign at the next output has an odd number of recorded crossings.
void Laws::judge_watches(const Member& member) {
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
