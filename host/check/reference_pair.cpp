// Settings, perturbations and runs of the two reference runs.
#include "host/check/reference_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/base/status.h"
#include "src/base/index.h"
#include "src/base/settings.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// A hundredth of the tolerance, but not below rounding: steps would only become noisier.
IntegratorSettings tightened(IntegratorSettings settings) {
  settings.rtol = std::max(settings.rtol / 100, std::min(settings.rtol, Tolerance::rounding));
  settings.atol /= 100;
  settings.step /= 4;  // for rk4: 1/256 of the error
  settings.max_steps = std::max(settings.max_steps, 10 * std::min(settings.max_steps, 100'000'000LL));
  return settings;
}

// Thresholds of the kernels. In single precision they treat larger values as zero
// (kernels/member/start_and_end.h) and complete hops and accumulations earlier. The perturbed run uses the
// same thresholds in double precision, so its distance from the tight run includes their effect.
IntegratorSettings kernel_thresholds(const IntegratorSettings& settings) {
  IntegratorSettings made = settings.within_precision();
  if (!settings.single) return made;
  constexpr double zero = 32 * std::numeric_limits<float>::epsilon();
  made.contact_tolerance = std::max(made.contact_tolerance, zero);
  made.rest_speed = std::max(made.rest_speed, zero);
  return made;
}

// +1 or -1, the same on every machine (finaliser of splitmix64).
double sign(unsigned long long member, Perturbation perturbation, std::size_t component) {
  std::uint64_t x = (member * 1000003 + perturbation.segment) * 1000003 + component + 0x9e3779b97f4a7c15U;
  x ^= perturbation.attempt << 56U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return ((x ^ (x >> 31)) & 1U) != 0 ? 1 : -1;
}

// A condition near zero, with the values of f (or g) and f' required in the perturbed state.
struct HeldCondition {
  std::size_t condition;
  double value, rate;
};

// Corrects positions (or velocities) by the smallest change in the mass metric so that the held conditions
// have the required values (or rates).
void restore_conditions(const Equations& equations, const std::vector<HeldCondition>& held, State& to,
                        bool velocities) {
  if (held.empty()) return;
  const MassMetric metric(equations.mass(to));
  if (!metric.valid()) return;
  // Newton iteration; the perturbation is so small that two steps reach rounding.
  for (int pass = 0; pass < 3; ++pass) {
    Eigen::MatrixXd rows(index(held.size()), index(equations.size()));
    Eigen::VectorXd missing(index(held.size()));
    for (std::size_t k = 0; k < held.size(); ++k) {
      const Row now = equations.row(held[k].condition, to);
      rows.row(index(k)) = now.a;
      missing(index(k)) = velocities ? held[k].rate - now.rate : held[k].value - now.value;
    }
    const Eigen::VectorXd change = metric.smallest_change(rows, missing).x;
    if (!change.allFinite()) return;
    (velocities ? to.v : to.q) += change;
  }
}

}  // namespace

std::string used_up_text(const Trajectory& run) {
  return fmt::format("the reference used up {} trial steps and came to t = {:.6g}",
                     WorkBudget::trial_steps(run), run.last.state.t);
}

std::string undecided_reason(UndecidedCause cause, const ReferencePair& pair) {
  switch (cause) {
    case UndecidedCause::events:
      return "the two reference runs have different events";
    case UndecidedCause::status:
      return fmt::format("the two reference runs end as {} and {}", status_name(pair.tight.status),
                         status_name(pair.perturbed.status));
    case UndecidedCause::budget:
      return used_up_text(pair.perturbed.given_up ? pair.perturbed : pair.tight);
    case UndecidedCause::chaos:
      return "the motion depends too much on where it begins";
  }
  return "";
}

ReferenceRunner::ReferenceRunner(const System& system, const IntegratorSettings& settings,
                                 std::vector<double> parameters, MemberSizes sizes, unsigned long long member)
    : equations_(system, std::move(parameters)),
      settings_(kernel_thresholds(settings)),
      in_doubles_(settings.within_precision()),
      tight_(tightened(settings)),
      tolerance_(settings),
      single_(settings.single),
      sizes_(std::move(sizes)),
      member_(member) {}

State ReferenceRunner::perturb(const State& state, Perturbation perturbation) const {
  State made = state;
  std::size_t component = 0;
  const auto shift = [&](Eigen::VectorXd& x, const Eigen::VectorXd& sizes) {
    for (Eigen::Index i = 0; i < x.size(); ++i)
      x(i) += sign(member_, perturbation, component++) * tolerance_.unit(sizes(i));
  };
  shift(made.q, sizes_.q);
  shift(made.v, sizes_.v);
  shift(made.z, sizes_.z);
  // Floats round the time too: late in a driven motion that is more than the tolerance. Forwards, because what was
  // scheduled up to the time is past.
  if (single_) made.t += std::numeric_limits<float>::epsilon() / 2 * std::abs(state.t);

  // Near zero: the perturbation would change f (or g) by more than a hundredth of its value.
  constexpr double near = 100;
  const Eigen::VectorXd dq = (made.q - state.q).cwiseAbs(), dv = (made.v - state.v).cwiseAbs();
  std::vector<HeldCondition> held_positions, held_velocities;
  const auto shifted = [&](double x, double by) {
    return perturbation.attempt == 0
               ? x
               : x + sign(member_, perturbation, component++) * std::min(0.5 * std::abs(x), by);
  };
  for (std::size_t i = 0; i < equations_.count(); ++i) {
    const Constraint& constraint = equations_.system().constraints[i];
    const bool holonomic = constraint.holonomic;
    const Row row = equations_.row(i, state);
    const Eigen::RowVectorXd gradient = row.a.cwiseAbs();
    const double by = gradient.dot(holonomic ? dq : dv);
    if (!(std::abs(row.value) <= near * by)) continue;
    HeldCondition held{i, row.value, row.rate};
    if (!constraint.equation) {
      held.value = shifted(row.value, by);
      held.rate = shifted(row.rate, gradient.dot(dv));
    }
    held_velocities.push_back(held);
    if (holonomic) held_positions.push_back(held);
  }
  restore_conditions(equations_, held_positions, made, false);
  restore_conditions(equations_, held_velocities, made, true);
  return made;
}

template <class Run>
ReferencePair ReferenceRunner::run_pair(const Run& run, const State& state, Perturbation perturbation,
                                        const ReferencePair& before) const {
  // With the thresholds of single precision, a condition that was slightly open before counts as closed at a
  // restart. Every other attempt therefore uses the thresholds of double precision.
  const IntegratorSettings& loose = perturbation.attempt % 2 == 0 ? settings_ : in_doubles_;
  ReferencePair made{run(tight_, state, before.tight),
                     run(loose, perturb(state, perturbation), before.perturbed)};
  // If the tighter tolerance cannot be reached in double precision, the study's tolerance is used.
  const Status ended = made.tight.status;
  if (ended != Status::ok && ended != Status::stopped && ended != made.perturbed.status)
    made.tight = run(settings_, state, before.tight);
  return made;
}

ReferencePair ReferenceRunner::from_start(const State& start, const Plan& plan, Perturbation perturbation,
                                          WorkBudget& budget) const {
  const auto run = [&](const IntegratorSettings& settings, const State& state, const Trajectory&) {
    Plan limited = plan;
    limited.max_trial_steps = budget.run_limit();
    Trajectory made = simulate(equations_, settings, limited, state);
    budget.spend(made);
    return made;
  };
  return run_pair(run, start, perturbation, {});
}

ReferencePair ReferenceRunner::from_middle(const State& state, const std::vector<double>& closed,
                                           const Plan& plan, Perturbation perturbation,
                                           const ReferencePair& before, WorkBudget& budget) const {
  const auto run = [&](const IntegratorSettings& settings, const State& from, const Trajectory& so_far) {
    const Plan continued{.outputs = plan.outputs,
                         .end = plan.end,
                         .extremes = so_far.reductions,
                         .sides = so_far.sides,
                         .shocks = so_far.shocks,
                         .max_trial_steps = budget.run_limit()};
    Trajectory made = resume(equations_, settings, continued, from, closed);
    budget.spend(made);
    return made;
  };
  return run_pair(run, state, perturbation, before);
}

Trajectory ReferenceRunner::whole_run(const State& start, Plan plan, WorkBudget& budget) const {
  plan.max_trial_steps = budget.run_limit();
  Trajectory made = simulate(equations_, settings_, plan, start);
  budget.spend(made);
  return made;
}

Sample ReferenceRunner::at(const State& state, const std::vector<double>& closed) const {
  return resume(equations_, settings_, {{}, state.t}, state, closed).last;
}

}  // namespace zwang
