// The length of a trial step: limited by the largest step, by scheduled times, and by the periods of periodic
// conditions and watched functions, because no step may cover a whole period.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

template <class M, class R>
struct PeriodLimit {
  using Model = typename M::Model;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int n = M::n;
  const LaneState<M, R>& state;
  const StepInProgress<M, R>& trial;

  // The longest step, not beyond `length`. Rates change within a step: a body at rest may fall past a whole
  // row of obstacles. Over a step h at constant accelerations an argument changes by rate h + growth h^2/2,
  // which must be 1 at most.
  ZWANG_INLINE R longest(R length) const {
    R later[M::fed_back];
    ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) { later[i] = state.y[i]; }
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
      later[n + i] = state.y[n + i] + length * trial.step.first()[i];
    }
    const R now = argument_speed(state.t, state.y),
            growth = maximum(argument_speed(state.t + length, later) - now, R(0)) / length;
    return R(2) / (now + sqrt(now * now + R(2) * growth));
  }
  // Where accelerations have changed as well, the step may still be too long: it is then rejected and
  // repeated with half of its length. `then`, `middle`: time of the end, state at the midpoint.
  ZWANG_INLINE void reject_long(R then, const R* middle, R& next_h, StepFlags<M, R>& flags,
                                LaneLedger<R, M::rows>& ledger) const {
    const R run = trial.step.h * R(Real(1.0 / 6)) *
                  (argument_speed(state.t, state.y) +
                   R(4) * argument_speed(state.t + R(Real(0.5)) * trial.step.h, middle) +
                   argument_speed(then, trial.end));
    const Mask far = flags.accepted && !state.searching && (run > R(Real(1.5)));
    flags.accepted = flags.accepted && !far;
    flags.rejected = flags.rejected || far;
    ledger.rejected = ledger.rejected + select(far, R(1), R(0));
    next_h = select(far, R(Real(0.5)) * trial.step.h, next_h);
  }

 private:
  // Rate of the arguments of periodic functions, in units of the largest change allowed in a step.
  ZWANG_INLINE R argument_speed(R when, const R* there) const {
    return R(1) / Model::turn_bound(state.k, when, there, there + n, there + 2 * n);
  }
};

// [friction-8] In space the direction of a slip turns ever faster where it vanishes, and is not defined
// beyond: a step ends before the slip would vanish at its present rate. The last part of the way is covered
// in steps that become shorter by a factor of ten, until the slip is within rounding. While the slip turns it is a
// factor of two: stages of longer steps come so close to its zero that their errors across decide on the direction,
// which the error estimate misses. The slip across decays
// at the rate of the deceleration by friction over the slip, which is fast where another force nearly
// balances friction: explicit methods are stable up to about twice the time of that decay. A slip that
// shrinks until the time resolves no such step comes to rest (slow_path.h). `handed` is set where the slow
// path has to take over: much longer steps than the stable ones are possible by an implicit method
// (member/stiff_slip.h), or the slip has turned by 30 degrees from the direction of its mode, which is
// renewed there before the slip changes sides.
template <class M, class R>
ZWANG_INLINE R longest_before_rest(const LaneState<M, R>& state, const StepInProgress<M, R>& trial,
                                   typename Lanes<R>::Mask& handed) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  R longest = infinity<R>();
  ZWANG_REGISTERS for (int f = 0; f < Model::frictions; ++f) {
    if (Model::friction_rows(f) != 2) continue;
    const int mode = Model::first_mode + Model::friction_mode(f);
    R squared = R(0), change = R(0), weight = R(0), side = R(0), growth = R(0), s[2], s_rate[2],
      mass[MassShape<Model>::entries];
    Model::mass(state.k, state.t, state.y, state.y + n, state.y + 2 * n, mass);
    ZWANG_REGISTERS for (int c = 0; c < 2; ++c) {
      R value, slip, rest, a[n];
      Model::row(state.k, state.t, state.y, state.y + n, state.y + 2 * n, Model::friction_row(f) + c, value,
                 slip, rest, a);
      R along = R(0);
      ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
        rest = rest + a[i] * trial.step.first()[i];
        along = along + a[i] * a[i] / mass[MassShape<Model>::diagonal(i)];
      }
      weight = maximum(weight, along);
      squared = squared + slip * slip;
      side = side + slip * state.k[mode + c];
      growth = growth + rest * state.k[mode + c];
      change = change + slip * rest;
      s[c] = slip;
      s_rate[c] = rest;
    }
    const R slipping = absolute(state.k[mode]) + absolute(state.k[mode + 1]);
    const R shortest = R(1024 * Precision<Real>::epsilon) * absolute(state.t);  // that the time resolves well
    const R cone = Model::cone(state.k, state.t, state.y, state.y + n, state.y + 2 * n, f);
    const R braking = weight * cone * absolute(state.lambda[Model::friction_contact(f)]);
    const R vanishes = R(Real(0.9)) * squared / maximum(-change, R(Precision<Real>::tiny));
    const typename Lanes<R>::Mask turns =
        R(Real(1e-6)) * absolute(change) < absolute(s[0] * s_rate[1] - s[1] * s_rate[0]);
    const R stable = R(2) * sqrt(squared) / maximum(braking, R(Precision<Real>::tiny));
    const R bound = minimum(select(turns, R(Real(0.5 / 0.9)) * vanishes, vanishes), stable);
    const R time = select(change < R(0), bound, maximum(bound, shortest));
    const R rounding = R(4) * square(state.k[mode + 2]);
    const typename Lanes<R>::Mask lasts = !(change < R(0)) || (R(16) * stable < vanishes);
    const typename Lanes<R>::Mask turned = side * absolute(side) < R(Real(0.75)) * squared;
    handed = handed ||
             ((R(0) < slipping) && (rounding < squared) && (turned || (lasts && (R(4) * stable < state.h))));
    longest = select((R(0) < slipping) && (rounding < squared), minimum(longest, time), longest);
    // It has vanished, and no step follows: beyond zero the law turns it by noise at a rate of braking over the slip.
    const R shrinks = R(Real(-1e-6)) * braking;
    const typename Lanes<R>::Mask vanished = (squared <= rounding) && (growth < shrinks);
    longest = select((R(0) < slipping) && vanished, R(0), longest);
  }
  return longest;
}

// Chooses step.h and sets flags.clipped for all lanes; steps of stiff slips go through the slow path.
template <class M, class R>
ZWANG_INLINE void choose_step_length(const KernelSettings& settings, LaneState<M, R>& state,
                                     const LaneLedger<R, M::rows>& ledger, StepInProgress<M, R>& trial,
                                     StepFlags<M, R>& flags) {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  const R longest = R(Real(settings.max_step)), room = ledger.scheduled_time - state.t;
  R length = minimum(state.h, longest);
  if constexpr (Model::any_turns)
    length = minimum(length, PeriodLimit<M, R>{state, trial}.longest(minimum(length, room)));
  // The step ends at the scheduled time even if that is a little further than proposed: the safety factor
  // of the step length allows for it. No very short step is left before the scheduled time.
  constexpr bool bounded = Model::any_turns || slips_in_space<Model>();
  if constexpr (slips_in_space<Model>()) {
    typename Lanes<R>::Mask handed = no_lanes<R>();
    length = minimum(length, longest_before_rest<M, R>(state, trial, handed));
    if constexpr (Method::adaptive) state.always_handle = state.always_handle || (handed && !state.searching);
  }
  const R reach = Method::adaptive && !bounded ? minimum(state.h * R(Real(1.1)), longest) : length;
  flags.clipped = reach >= room * R(Real(1 - 1e-10));
  if constexpr (Method::adaptive) length = minimum(length, room * R(Real(0.5)));
  trial.step.h = select(flags.clipped, room, length);
  // In floats the time resolves only few digits of a short step, so the length is rounded to the difference
  // of two times. If the clock rounded differently from the motion, it would be off by 1/2000 at steps of
  // 1e-3 and t = 60.
  if constexpr (sizeof(Real) == sizeof(float)) trial.step.h = (state.t + trial.step.h) - state.t;
  // A search chooses the length by itself.
  flags.clipped = flags.clipped && !state.searching;
  trial.step.h = select(state.searching, state.h, trial.step.h);
}

}  // namespace zwang
