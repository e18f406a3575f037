#include "host/check/reference_pair.h"

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

// A hundredth of the tolerance, but not below what rounding leaves of it: the steps would only get noisier.
IntegratorSettings tightened(IntegratorSettings settings) {
  settings.rtol = std::max(settings.rtol / 100, std::min(settings.rtol, Tolerance::rounding));
  settings.atol /= 100;
  settings.step /= 4;  // of rk4: a 256th of the error
  settings.max_steps = std::max(settings.max_steps, 10 * std::min(settings.max_steps, 100'000'000LL));
  return settings;
}

// What the kernels go by. In floats they take more for zero (kernels/member/start_and_end.h), end hops and accumulations earlier,
// and are late or early by what follows: the nudged account does the same in doubles, and so tells what it costs.
IntegratorSettings as_the_kernels(const IntegratorSettings& settings) {
  IntegratorSettings made = settings.within_precision();
  if (!settings.single) return made;
  constexpr double zero = 32 * std::numeric_limits<float>::epsilon();
  made.contact_tolerance = std::max(made.contact_tolerance, zero);
  made.rest_speed = std::max(made.rest_speed, zero);
  return made;
}

// +1 or -1, the same on every machine (the finaliser of splitmix64).
double sign(unsigned long long member, Nudge nudge, std::size_t component) {
  std::uint64_t x = (member * 1000003 + nudge.turn) * 1000003 + component + 0x9e3779b97f4a7c15U;
  x ^= nudge.hearing << 56U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return ((x ^ (x >> 31)) & 1U) != 0 ? 1 : -1;
}

// A condition near zero, and what its f (or g) and f' shall be beside.
struct Kept {
  std::size_t condition;
  double value, rate;
};

// Moves positions (or velocities) back, by the smallest change in the mass metric, until the kept conditions have the
// values (or rates) they shall have.
void keep(const Equations& equations, const std::vector<Kept>& kept, State& to, bool velocities) {
  if (kept.empty()) return;
  const MassMetric metric(equations.mass(to));
  if (!metric.valid()) return;
  // Newton: the nudge is so small that two steps reach rounding.
  for (int pass = 0; pass < 3; ++pass) {
    Eigen::MatrixXd rows(index(kept.size()), index(equations.size()));
    Eigen::VectorXd missing(index(kept.size()));
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const Row now = equations.row(kept[k].condition, to);
      rows.row(index(k)) = now.a;
      missing(index(k)) = velocities ? kept[k].rate - now.rate : kept[k].value - now.value;
    }
    const Eigen::VectorXd change = metric.smallest_change(rows, missing).x;
    if (!change.allFinite()) return;
    (velocities ? to.v : to.q) += change;
  }
}

}  // namespace

Witness::Witness(const System& system, const IntegratorSettings& settings, std::vector<double> parameters,
                 MemberSizes sizes, unsigned long long member)
    : equations_(system, std::move(parameters)),
      settings_(as_the_kernels(settings)),
      in_doubles_(settings.within_precision()),
      tight_(tightened(settings)),
      tolerance_(settings),
      sizes_(std::move(sizes)),
      member_(member) {}

State Witness::beside(const State& state, Nudge nudge) const {
  State made = state;
  std::size_t component = 0;
  const auto shift = [&](Eigen::VectorXd& x, const Eigen::VectorXd& sizes) {
    for (Eigen::Index i = 0; i < x.size(); ++i)
      x(i) += sign(member_, nudge, component++) * tolerance_.unit(sizes(i));
  };
  shift(made.q, sizes_.q);
  shift(made.v, sizes_.v);
  shift(made.z, sizes_.z);

  // Near zero: the nudge would change f (or g) by more than a hundredth of it.
  constexpr double near = 100;
  const Eigen::VectorXd dq = (made.q - state.q).cwiseAbs(), dv = (made.v - state.v).cwiseAbs();
  std::vector<Kept> on_positions, on_velocities;
  const auto beside_of = [&](double x, double by) {
    return nudge.hearing == 0 ? x : x + sign(member_, nudge, component++) * std::min(0.5 * std::abs(x), by);
  };
  for (std::size_t i = 0; i < equations_.count(); ++i) {
    const Constraint& constraint = equations_.system().constraints[i];
    const bool holonomic = constraint.holonomic;
    const Row row = equations_.row(i, state);
    const Eigen::RowVectorXd gradient = row.a.cwiseAbs();
    const double by = gradient.dot(holonomic ? dq : dv);
    if (!(std::abs(row.value) <= near * by)) continue;
    Kept kept{i, row.value, row.rate};
    if (!constraint.equation) {
      kept.value = beside_of(row.value, by);
      kept.rate = beside_of(row.rate, gradient.dot(dv));
    }
    on_velocities.push_back(kept);
    if (holonomic) on_positions.push_back(kept);
  }
  keep(equations_, on_positions, made, false);
  keep(equations_, on_velocities, made, true);
  return made;
}

template <class Run>
Accounts Witness::both(const Run& run, const State& state, Nudge nudge, const Accounts& before) const {
  // Floats take for zero what in doubles is not: what was open before is not open any more for whoever begins there. Every
  // other hearing does without.
  const IntegratorSettings& loose = nudge.hearing % 2 == 0 ? settings_ : in_doubles_;
  Accounts made{run(tight_, state, before.tight), run(loose, beside(state, nudge), before.nudged)};
  // Too tight for double precision somewhere: the tolerance asked for must do.
  const Status ended = made.tight.status;
  if (ended != Status::ok && ended != Status::stopped && ended != made.nudged.status)
    made.tight = run(settings_, state, before.tight);
  return made;
}

Accounts Witness::from_start(const State& start, const Plan& plan, Nudge nudge) const {
  const auto run = [&](const IntegratorSettings& settings, const State& state, const Trajectory&) {
    return simulate(equations_, settings, plan, state);
  };
  return both(run, start, nudge, {});
}

Accounts Witness::from_middle(const State& state, const std::vector<double>& closed, const Plan& plan,
                              Nudge nudge, const Accounts& before) const {
  const auto run = [&](const IntegratorSettings& settings, const State& from, const Trajectory& so_far) {
    return resume(equations_, settings, {plan.outputs, plan.end, false, so_far.measures, so_far.sides}, from,
                  closed);
  };
  return both(run, state, nudge, before);
}

Trajectory Witness::whole(const State& start, const Plan& plan) const {
  return simulate(equations_, settings_, plan, start);
}

Sample Witness::at(const State& state, const std::vector<double>& closed) const {
  return resume(equations_, settings_, {{}, state.t}, state, closed).last;
}

}  // namespace zwang
