// Slips that are within rounding of zero: which go on, and which have come to rest [friction-8].
#include <algorithm>
#include <cmath>

#include "kernels/base/layout.h"
#include "src/base/index.h"
#include "src/laws/least_constraint.h"
#include "src/laws/project.h"
#include "src/reference/member_state.h"
#include "src/reference/motion.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// In space a slip that is this many roundings small has come to rest.
constexpr double rest_roundings = 10;
// The rate of a slip that shrinks is below zero by more than this share of its terms.
constexpr double shrinking = 1e-10;
// Slips up to this multiple of what is resolved come to rest together with one that is not.
constexpr double rest_together = 8;

}  // namespace

// The size of the terms of s' for the accelerations a.
double Motion::size_of_slip_rate(const Friction& friction, const State& state,
                                 const Eigen::VectorXd& a) const {
  double squares = 0;
  for (const std::size_t i : friction.rows) {
    const Row row = equations_.row(i, state);
    const double size = row.a.cwiseAbs().dot(a.cwiseAbs()) + std::abs(row.rest);
    squares += size * size;
  }
  return std::sqrt(squares);
}

Motion::RatesOfChange Motion::rates_of_change() const {
  RatesOfChange made{member_.state(), {}, {}};
  const Accelerations motion = constrained_acceleration(equations_, made.state, member_.active);
  made.a = motion.a;
  // Reactions cancel forces but for their rounding.
  const Eigen::VectorXd free = MassMetric(motion.dynamics.mass).solve(motion.dynamics.applied);
  made.largest = motion.a.cwiseAbs().cwiseMax(free.cwiseAbs());
  return made;
}

// Whether the rates of these rows shrink that go along `direction`.
bool Motion::shrinks(const std::vector<std::size_t>& rows, const Eigen::VectorXd& direction,
                     const RatesOfChange& now) const {
  double along = 0, squares = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Row row = equations_.row(rows[k], now.state);
    along += direction(index(k)) * (row.a.dot(now.a) + row.rest);
    const double size = row.a.cwiseAbs().dot(now.largest) + std::abs(row.rest);
    squares += size * size;
  }
  return along < -shrinking * std::sqrt(squares);
}

// The contacts whose slips do not shrink under the accelerations before an event: one that began a moment ago goes on,
// although it is within rounding of zero.
std::vector<std::size_t> Motion::growing_slips() const {
  const System& system = equations_.system();
  std::vector<std::size_t> made;
  if (system.frictions.empty()) return made;
  const RatesOfChange now = rates_of_change();
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const Friction& law = system.frictions[f];
    const Eigen::VectorXd direction = member_.modes.segment(index(law.first_mode), index(law.rows.size()));
    if (member_.slips(f) && !shrinks(law.rows, direction, now)) made.push_back(law.contact);
  }
  return made;
}

// The slip or yield that ends at this instant: it is within rounding of zero, and shrinks.
std::optional<std::size_t> Motion::ending_motion() const {
  const System& system = equations_.system();
  if (system.transitions.empty()) return std::nullopt;
  const RatesOfChange now = rates_of_change();
  for (std::size_t k = 0; k < system.transitions.size(); ++k) {
    const TransitionKind kind = system.transitions[k].kind;
    const std::size_t of = system.transitions[k].of;
    if (!member_.may_change(system.transitions[k])) continue;
    if (kind == TransitionKind::stick) {
      const Friction& law = system.frictions[of];
      const bool vanishes = law.rows.size() == 1
                                ? member_.slip_of(of, now.state).norm() <= member_.zero_slip(of, now.state)
                                : slip_is_unresolved(of);
      const Eigen::VectorXd direction = member_.modes.segment(index(law.first_mode), index(law.rows.size()));
      if (vanishes && shrinks(law.rows, direction, now)) return k;
    } else if (kind == TransitionKind::lock) {
      const std::size_t i = system.bounds[of].condition;
      const bool vanishes = std::abs(equations_.rate(i, now.state)) <= member_.zero_of(i, now.state).rate;
      if (vanishes && shrinks({i}, Eigen::VectorXd::Constant(1, member_.yields(of)), now)) return k;
    }
  }
  return std::nullopt;
}

// Whether a slip in space is within the rounding of its phase, or below what the time resolves: it has no direction.
// `times`: or below that many times as much.
bool Motion::slip_is_unresolved(std::size_t friction, double times) const {
  const Friction& law = equations_.system().frictions[friction];
  const State now = member_.state();
  const Accelerations motion = constrained_acceleration(equations_, now, member_.active);
  const double rounding = member_.modes(index(law.first_mode) + 2);
  const double unresolved = 128 * member_.rounding_of_time() * size_of_slip_rate(law, now, motion.a);
  return member_.slip_of(friction, now).norm() <= times * std::max(rest_roundings * rounding, unresolved);
}

// In space the slip along its former direction vanishes also where it has turned by a right angle: it goes on, with
// its direction as the new one.
bool Motion::comes_to_rest(std::size_t friction) {
  if (equations_.system().frictions[friction].rows.size() == 1) return true;
  if (slip_is_unresolved(friction)) return true;
  renew_slip_directions();
  return false;
}

// The frictions that come to rest with this one: those whose slips in space vanish at the same instant. A body that
// slides and spins on several contacts ends both together, and while its slips vanish, the one nearest to its centre of
// rotation is unresolved first.
std::vector<std::size_t> Motion::frictions_at_rest(std::size_t friction) const {
  const System& system = equations_.system();
  std::vector<std::size_t> made = {friction};
  if (system.frictions[friction].rows.size() == 1) return made;
  for (std::size_t f = 0; f < system.frictions.size(); ++f)
    if (f != friction && system.frictions[f].rows.size() == 2 && member_.slips(f) &&
        slip_is_unresolved(f, rest_together))
      made.push_back(f);
  return made;
}

// What is left of slips that have come to rest is removed. In space it would turn the first moments of the slip that follows,
// across the new direction, and end that slip at once along the old one. In the plane other slips vanish by the same
// motion: what is left of them would count as slips the other way.
void Motion::remove_slips(const std::vector<std::size_t>& frictions) {
  std::vector<std::size_t> held = member_.active;
  for (const std::size_t f : frictions) {
    const std::vector<std::size_t>& rows = equations_.system().frictions[f].rows;
    held.insert(held.end(), rows.begin(), rows.end());
  }
  std::sort(held.begin(), held.end());
  State now = member_.state();
  project(equations_, now, member_.sizes, held);
  member_.set_velocities(now.v);
}

// No step can be taken because a slip in space has vanished, or has shrunk below what the time resolves: it comes to rest
// [friction-8]. One that shrinks before one that has just begun. False: nothing of the kind.
bool Motion::rest_unresolved_slip() {
  const System& system = equations_.system();
  const std::vector<std::size_t> growing = growing_slips();
  for (const bool shrinks : {true, false})
    for (const Transition& transition : system.transitions) {
      if (transition.kind != TransitionKind::stick || system.frictions[transition.of].rows.size() == 1)
        continue;
      const std::size_t contact = system.frictions[transition.of].contact;
      if (shrinks && std::find(growing.begin(), growing.end(), contact) != growing.end()) continue;
      if (!member_.slips(transition.of) || !comes_to_rest(transition.of)) continue;
      change_mode(transition);
      return true;
    }
  return false;
}

}  // namespace zwang
