// The end of a trial step that is accurate enough: its projection onto the active conditions, what may have
// happened within the step, and its energy.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/row_dependence.h"
#include "kernels/dynamics/slip_stiffness.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/lanes/event_detection.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/lanes/step_length.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// How close to the end of a step an output time counts as that of the end.
template <class R>
ZWANG_INLINE R nearness_of_end(R then, R h) {
  return R(Precision<typename Lanes<R>::Real>::moment) * maximum(absolute(then), h);
}

template <class M, class R>
struct StepEnd {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int lanes = Lanes<R>::count, n = M::n, r = M::r, size = M::size, signals = Model::signals;

  const KernelSettings& settings;
  const M* full_members;  // as in LaneGroup
  const LaneState<M, R>& state;
  StepInProgress<M, R>& trial;
  StepFlags<M, R>& flags;
  LaneLedger<R, M::rows>& ledger;

  // Projects the end of the step onto the active conditions, and detects possible events within the step.
  ZWANG_INLINE void evaluate() const {
    const R then = state.t + trial.step.h;
    clear_turns<M>(trial.end);
    if (state.any_held) project<M>(state.k, then, trial.end, state.held, 3);
    const R *q = trial.end, *v = trial.end + n, *z = trial.end + 2 * n;
    if constexpr (r > 0) Model::levels(state.k, then, q, v, z, trial.end_f, trial.end_f_rate);
    R middle[M::fed_back];
    const EventDetector<M, R> detector{state, ledger, trial, flags};
    if constexpr (r > 0 || signals > 0 || Model::any_extremes) detector.find_middle(middle);
    if constexpr (Method::expands) {
      ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) {
        middle[i] = select(trial.constrained, middle[i], trial.series.middle[i]);
      }
    }
    if constexpr (Model::any_turns)
      PeriodLimit<M, R>{state, trial}.reject_long(then, middle, trial.next_h, flags, ledger);
    flags.event_possible = state.always_handle;
    flags.signal_event_possible = no_lanes<R>();
    detector.detect_conditions(middle);
    detector.detect_signals(then, middle);
    detector.detect_extremes(then, middle);
    if constexpr (may_become_dependent<Model>)
      if (state.any_held) flags.event_possible = flags.event_possible || is_near_dependence_at(then);
    // Whether kappa falls to its margin is decided in the slow path.
    if constexpr (friction_may_jam<Model>())
      flags.event_possible =
          flags.event_possible || may_lose_stiffness<M>(state.k, then, trial.end, state.held, state.any_held,
                                                        trial.end_lambda, Real(settings.painleve_margin));
    flags.clipped = flags.clipped || (ledger.taken + R(2) > R(Real(settings.max_steps)));
    flags.output_due = ledger.next_output < then - nearness_of_end<R>(then, trial.step.h);
    audit(then, flags.accepted && !flags.event_possible && !flags.clipped);
  }

 private:
  // Whether the held rows are nearly dependent at the end of the step: the slow path decides what follows.
  ZWANG_INLINE Mask is_near_dependence_at(R then) const {
    R level = R(0);
    ZWANG_REGISTERS for (int lane = 0; lane < lanes; ++lane) {
      set_lane(level, lane, lane_of(state.live, lane) ? full_members[lane].dependence.level : Real(0));
    }
    return pivot_share<M>(state.k, then, trial.end, state.held) < level;
  }

  // [voss] T + V + energy lost in shocks - work of other forces and of moving conditions is constant.
  ZWANG_INLINE void audit(R then, Mask undisturbed) const {
    R kinetic, energy;
    Model::energies(state.k, then, trial.end, trial.end + n, trial.end + 2 * n, kinetic, energy);
    R work = R(0);
    if constexpr (Model::works) work = trial.end[size - 1];
    const R off = absolute(energy + ledger.energy_lost - work - ledger.energy_start);
    ledger.drift = select(undisturbed, larger(ledger.drift, off), ledger.drift);
    const R large = larger(larger(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    ledger.energy_size = select(undisturbed, larger(ledger.energy_size, large), ledger.energy_size);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const R on = select(undisturbed, state.held[i], R(0));
      if (Model::is_holonomic(i))
        ledger.worst_position =
            larger(ledger.worst_position, if_less(R(0), on, absolute(trial.end_f[i]), R(0)));
      ledger.worst_velocity =
          larger(ledger.worst_velocity, if_less(R(0), on, absolute(trial.end_f_rate[i]), R(0)));
    }
  }
};

}  // namespace zwang
