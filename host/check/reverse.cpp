// Round trips as a check: time reversal of the motion (mechanics section 7).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "host/backend/backend.h"
#include "host/backend/batch.h"
#include "host/check/backend_motion.h"
#include "host/check/check.h"
#include "host/check/findings.h"
#include "host/check/reference_pair.h"
#include "host/check/work_budget.h"
#include "host/platform/parallel.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// A hundred tolerances, because a round trip has twice the steps and no restarts. Sensitivity counts tenfold,
// as in `check`.
constexpr double sensitivity_share = 10, reverse_tolerance_share = 100;

// Pseudo-random numbers in (-1, 1), the same on every machine.
class Scatter {
 public:
  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(static_cast<std::int64_t>(state_)) * 0x1p-63;
  }

 private:
  std::uint64_t state_ = 1;
};

// Symmetry of an expression under reversal of the velocities.
struct Parity {
  bool even = true, odd = true;
};

// Determined numerically at scattered states around the given one: an expression may be even without looking
// so (v^4/v^2), and a difference that shows at none of the states does not matter to a round trip. The states
// approach the given one so that some lie where the expression is defined; an expression defined at none of
// them is neither even nor odd.
Parity parity(const Equations& equations, Expr e, const State& around) {
  const Program program(*equations.system().pool, {e});
  Scatter scatter;
  Parity made;
  int evaluated = 0;
  for (int trial = 0; trial < 32; ++trial) {
    State state = around;
    const double reach = std::exp2(-trial / 4);
    const double speed = reach * (1 + state.v.cwiseAbs().maxCoeff());
    for (double& q : state.q) q += 0.1 * reach * scatter.next() * (1 + std::abs(q));
    for (double& v : state.v) v = scatter.next() * speed;
    const double forth = equations.evaluate(program, state);
    state.v = -state.v;
    const double back = equations.evaluate(program, state);
    if (!std::isfinite(forth) || !std::isfinite(back)) continue;
    ++evaluated;
    const double rounding = 1e-12 * (std::abs(forth) + std::abs(back));
    made.even = made.even && std::abs(forth - back) <= rounding;
    made.odd = made.odd && std::abs(forth + back) <= rounding;
  }
  return evaluated > 0 ? made : Parity{false, false};
}

// Reasons why the motion is not reversible. The theorem [voss]: if the forces are even in the velocities and
// free of t, and the conditions neither depend on t nor change under the reversal, q(-t) is a motion whenever
// q(t) is one.
std::vector<std::string> obstacles(const Equations& equations, const State& around) {
  const System& system = equations.system();
  const auto timed = [&](Expr e) { return system.pool->mentions(e, SymbolKind::time); };
  std::vector<std::string> found;
  if (!system.auxiliaries.empty()) found.emplace_back("auxiliary states");
  if (!system.impulses.empty()) found.emplace_back("impulses");
  for (std::size_t i = 0; i < system.size(); ++i) {
    if (timed(system.applied[i]))
      found.push_back("a force on " + system.coordinates[i] + " that depends on t");
    if (!parity(equations, system.applied[i], around).even)
      found.push_back("a force on " + system.coordinates[i] + " that is not even in the velocities");
  }
  if (std::any_of(system.mass.begin(), system.mass.end(), [&](const MassEntry& m) { return timed(m.value); }))
    found.emplace_back("masses that depend on t");
  for (const Constraint& constraint : system.constraints) {
    const std::string name = "'" + constraint.name + "'";
    if (constraint.from || constraint.until)
      found.push_back("the constraint " + name + " with from or until");
    if (constraint.moving) found.push_back("the constraint " + name + " that depends on t");
    if (constraint.holonomic) continue;
    // g = 0 still holds if g only changes its sign; g <= 0 only if g does not change at all.
    const Parity of = parity(equations, constraint.value, around);
    if (!of.even && !(constraint.equation && of.odd))
      found.push_back("the velocity constraint " + name + ", which does not hold for reversed velocities");
  }
  return found;
}

void refuse_if_irreversible(const Study& study, const Batch& batch) {
  const System& system = *study.system;
  const auto n = static_cast<Eigen::Index>(system.size());
  const auto nz = static_cast<Eigen::Index>(system.auxiliaries.size());
  const auto parameters = static_cast<std::ptrdiff_t>(system.parameters.size());
  using Numbers = Eigen::Map<const Eigen::VectorXd>;
  // Parameters may differ between members: test a few members.
  for (std::size_t k = 0; k < std::min<std::size_t>(batch.count, 4); ++k) {
    const double* at = batch.starts.data() + k * static_cast<std::size_t>(2 * n + nz);
    const State start{0, Numbers(at, n), Numbers(at + n, n), Numbers(at + 2 * n, nz)};
    const auto first = batch.parameters.begin() + static_cast<std::ptrdiff_t>(k) * parameters;
    const Equations equations(system, {first, first + parameters});
    const std::vector<std::string> found = obstacles(equations, start);
    if (found.empty()) continue;
    throw Error(
        {.where = {study.path, 0, 0},
         .message = "the motion of this study is not reversible in time",
         .found = joined(found),
         .expected = "forces even in the velocities, and constraints and forces that do not depend on t",
         .hint = "without --reverse, check compares the backend with the reference"});
  }
}

// Friction and yielding rows dissipate: reversed velocities do not retrace a path with slip. Empty if the member is
// never seen to slip or yield, at an event, at an output time or at its end.
std::string irreversible_phase(const System& system, const BackendMotion& motion) {
  const auto changes = [](const Event& event) { return event.kind >= EventKind::slide; };
  if (std::any_of(motion.events.begin(), motion.events.end(), changes))
    return "slipped or yielded, which is not reversible";
  for (std::size_t k = 0; k < motion.samples.size(); ++k) {
    if (!motion.reached[k]) continue;
    const std::vector<double>& closed = motion.samples[k].closed;
    for (const Friction& friction : system.frictions)
      if (closed[friction.contact] > 0.5 && closed[friction.rows[0]] < 0.5)
        return "'" + system.constraints[friction.contact].name + "' slips, which is not reversible";
    for (const Bound& bound : system.bounds)
      if (system.constraints[bound.condition].equation && closed[bound.condition] < 0.5)
        return "'" + system.constraints[bound.condition].name + "' yields, which is not reversible";
  }
  return "";
}

// Empty if the member can be run back.
std::string reason_to_leave_out(const System& system, const BackendMotion& motion, const Audit& audit,
                                const Tolerance& tolerance) {
  if (motion.status != Status::ok) return std::string("status ") + status_name(motion.status);
  const std::string phase = irreversible_phase(system, motion);
  if (!phase.empty()) return phase;
  for (const Event& event : motion.events) {
    if (event.kind == EventKind::accumulation) return "met an accumulation";
    if (event.energy_lost > reverse_tolerance_share * tolerance.unit(audit.energy_size))
      return "lost energy in a shock";
  }
  return "";
}

// A member at the turning point.
struct TurnedMember {
  std::size_t number = 0;  // index in the batch
  State state;
  Status prepared = Status::ok;
  ReferencePair pair{};  // the return motion by the reference
  MemberSizes sizes{};
};

TurnedMember turn_around(const Study& study, const BackendMotion& motion, unsigned long long member,
                         std::size_t number, WorkBudget budget) {
  TurnedMember turn{.number = number, .state = motion.end};
  turn.sizes = sizes_of_motion(*study.system, motion);
  turn.state.t = 0;
  turn.state.v = -turn.state.v;
  const ReferenceRunner reference(*study.system, study.integrator, motion.parameters, turn.sizes, member);
  turn.prepared = prepare_start(reference.equations(), study.integrator, turn.state).status;
  if (turn.prepared == Status::ok)
    turn.pair = reference.from_start(turn.state, {{}, motion.end.t}, {}, budget);
  return turn;
}

Batch return_batch(const std::vector<BackendMotion>& motions, const std::vector<TurnedMember>& turns) {
  Batch batch;
  for (const TurnedMember& turn : turns) {
    const std::vector<double>& parameters = motions[turn.number].parameters;
    batch.parameters.insert(batch.parameters.end(), parameters.begin(), parameters.end());
    for (const Eigen::VectorXd* part : {&turn.state.q, &turn.state.v, &turn.state.z})
      batch.starts.insert(batch.starts.end(), part->begin(), part->end());
    batch.prepared.push_back(turn.prepared);
    ++batch.count;
  }
  return batch;
}

// Compares the state after the round trip with the start. The sensitivity to a perturbation at the turning
// point is taken from the reference: a backend with random errors would otherwise enlarge its own tolerance.
void compare_return(const QuantityNames& names, const Tolerance& tolerance, unsigned long long member,
                    const BackendMotion& forward, const TurnedMember& turn, const BackendMotion& back,
                    CheckReport& report) {
  ++report.segments;
  Findings found;
  found.add({.member = member,
             .quantity = "status",
             .backend_word = status_name(back.status),
             .reference_word = status_name(Status::ok)});
  const Trajectory &tight = turn.pair.tight, &perturbed = turn.pair.perturbed;
  bool undecided = tight.status != Status::ok || perturbed.status != Status::ok;
  const auto compare = [&](const std::string& name, double start, double arrived, double sensitivity,
                           double size) {
    undecided =
        undecided || sensitivity > sensitivity_limit * size + reverse_tolerance_share * tolerance.unit(size);
    found.add({member, 0, name, arrived, start,
               sensitivity_share * sensitivity + reverse_tolerance_share * tolerance.unit(size)});
  };
  for (Eigen::Index i = 0; i < forward.start.q.size() && !undecided && back.status == Status::ok; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const State &a = tight.last.state, &b = perturbed.last.state;
    compare(names.positions[k], forward.start.q(i), back.end.q(i), spread(a.q(i), b.q(i)), turn.sizes.q(i));
    compare(names.velocities[k], forward.start.v(i), -back.end.v(i), spread(a.v(i), b.v(i)), turn.sizes.v(i));
  }
  if (!undecided) {
    report.findings.merge(found);
    return;
  }
  const bool arrived = tight.status == Status::ok && perturbed.status == Status::ok;
  const UndecidedCause cause = turn.pair.given_up() ? UndecidedCause::budget
                               : arrived            ? UndecidedCause::chaos
                                                    : UndecidedCause::status;
  ++report.undecided_segments;
  report.undecided.push_back({member, 0, forward.end.t, cause, undecided_reason(cause, turn.pair)});
}

}  // namespace

CheckReport check_reverse(const Study& study, Backend& backend, const CheckOptions& options) {
  CheckReport report;
  report.reverse = true;
  report.backend = backend.name();
  report.device = backend.device();
  report.members = sampled_members(study.ensemble.members, options.sample);
  const Tolerance tolerance(study.integrator);

  // Refuse studies whose motion is not reversible.
  const Batch forward = prepare_batch(study, report.members, options.threads);
  refuse_if_irreversible(study, forward);

  // Forward.
  const Wanted everything{.observables = true, .states = true, .events = true};
  const BatchResults forth = backend.run(forward, everything);
  std::vector<BackendMotion> motions;
  for (std::size_t k = 0; k < forward.count; ++k) motions.push_back(motion_of(study, forward, forth, k));

  // Select the members to run back.
  std::vector<std::size_t> returning;
  for (std::size_t k = 0; k < forward.count; ++k) {
    const std::string reason =
        forward.prepared[k] == Status::ok
            ? reason_to_leave_out(*study.system, motions[k], forth.audits[k], tolerance)
            : std::string("status ") + status_name(forward.prepared[k]);
    if (reason.empty())
      returning.push_back(k);
    else
      ++report.left_out[reason];
  }
  std::vector<TurnedMember> turns(returning.size());
  std::atomic<std::size_t> done = 0;
  in_parallel(turns.size(), options.threads, [&](std::size_t i) {
    const std::size_t k = returning[i];
    const WorkBudget budget(options.budget, motions[k].trial_steps, turns.size());
    turns[i] = turn_around(study, motions[k], report.members[k], k, budget);
    const std::size_t now = ++done;
    options.progress({now, turns.size(), now});
  });

  // Back.
  const Batch back = return_batch(motions, turns);
  const BatchResults again = backend.run(back, everything);
  const QuantityNames names(*study.system);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::size_t k = turns[i].number;
    compare_return(names, tolerance, report.members[k], motions[k], turns[i],
                   motion_of(study, back, again, i), report);
  }
  return report;
}

}  // namespace zwang
