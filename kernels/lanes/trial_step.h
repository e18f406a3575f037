// One trial step of all lanes of a group, by the stages of the method or, without active conditions, by power
// series; and its error estimate.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/integrator/stage_loop.h"
#include "kernels/integrator/taylor_series.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

template <class M, class R>
struct TrialStep {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, size = M::size, signals = Model::signals;
  static constexpr int lanes = Lanes<R>::count;
  // Integrands that contain multipliers of least norm need a quadratic program at every stage. Where the
  // stages are not kept this is left out: such members go through the slow path after every step, which
  // repeats the step.
  static constexpr bool least_norm_integrands = Model::integrals > 0 && ZWANG_STAGES_KEPT;

  const KernelSettings& settings;
  const M* members;  // one for each lane
  const LaneState<M, R>& state;
  StepInProgress<M, R>& trial;  // computed, but for the values at its end

  // The squared error in units of the tolerance, and the ratio of the next step length to this one.
  struct StepQuality {
    R error, factor;
  };

  // Every lane uses stages or power series by its own state, independent of the other lanes.
  ZWANG_INLINE StepQuality take() const {
    if constexpr (Method::expands) {
      StepQuality made{R(0), R(0)};
      R some = R(0);
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) { some = some + state.held[i]; }
      trial.constrained = some > R(0);
      if (state.any_held) made = take_constrained();
      if (any(!trial.constrained)) {
        const StepQuality free = take_by_series();
        made.error = select(trial.constrained, made.error, free.error);
        made.factor = select(trial.constrained, made.factor, free.factor);
        ZWANG_REGISTERS for (int i = 0; i < size; ++i) {
          trial.step.end[i] = select(trial.constrained, trial.step.end[i], trial.series.end[i]);
        }
        ZWANG_REGISTERS for (int m = 0; m < trial.step.rates; ++m) {
          trial.step.last()[m] = select(trial.constrained, trial.step.last()[m], trial.series.rate[m]);
        }
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
          trial.end_lambda[i] = select(trial.constrained, trial.end_lambda[i], R(0));
          trial.sampled_lambda[i] = select(trial.constrained, trial.sampled_lambda[i], R(0));
        }
      }
      return made;
    } else {
      return take_constrained();
    }
  }
  ZWANG_INLINE void take_by_stages() const {
    if constexpr (Model::drives > 0)
      trial.drive->evaluate(state.k, state.t, trial.step.h, stage_nodes<Method, R>.part);
    // Unrolled stages without active conditions get their own code, which has no tests for them. The choice
    // is made by the state of the lane alone, because the two variants may round differently: with several
    // lanes it must not be made for the whole group.
    if constexpr (Method::unrolled && n == 1 && Model::has_free_motion) {
      if (state.any_held)
        take_stages(true);
      else
        take_stages(false);
    } else if constexpr (knows_all_held) {
      // If all conditions are active, this is known at compile time in a variant of its own.
      if (state.any_held && all_held())
        take_all_stages();
      else
        take_stages(state.any_held);
    } else {
      take_stages(state.any_held);
    }
  }

 private:
  // Not for packs, where the choice would depend on the other lanes, and not on a GPU, where the code is long
  // enough.
  static constexpr bool knows_all_held =
      lanes == 1 && ZWANG_STAGES_KEPT && Model::light_events && Model::has_free_motion;
  ZWANG_INLINE bool all_held() const {
    bool all = true;
    for (int i = 0; i < r; ++i) all = all && state.held[i] > R(0);
    return all;
  }

  ZWANG_INLINE StepQuality take_constrained() const {
    take_by_stages();
    const R error = error_of(trial.step);
    return {error, step_factor<Method>(error)};
  }
  ZWANG_INLINE StepQuality take_by_series() const {
    trial.series.take(state.k, state.t, trial.step.h, state.y);
    const R error = error_of(trial.series);
    return {error, series_factor<Method>(error)};
  }

  ZWANG_INLINE void take_all_stages() const {
    R all[M::rows];
    for (int i = 0; i < r; ++i) all[i] = R(1);
    take_stages(true, all);
  }
  ZWANG_INLINE void take_stages(bool hold) const { take_stages(hold, state.held); }
  ZWANG_INLINE void take_stages(bool hold, const R* held) const {
    int stage = 0;
    trial.step.take(state.t, state.y, [&, this](R when, const R* there, R* rate) {
      rates_at(when, trial.drive->w[stage], there, hold, held, rate);
      if (++stage == Method::sample_stage) {
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) { trial.sampled_lambda[i] = trial.end_lambda[i]; }
      }
      if constexpr (has_second_sample<M>)
        if (stage == Method::second_sample_stage) {
          ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
            trial.second_sampled_lambda[i] = trial.end_lambda[i];
          }
        }
      if (hold) {
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
          if (Model::is_equation(i)) continue;
          trial.lowest_lambda[i] = lesser(trial.lowest_lambda[i], trial.end_lambda[i]);
          trial.highest_lambda[i] = larger(trial.highest_lambda[i], trial.end_lambda[i]);
        }
      }
    });
  }

  // The work is an audit quantity and not under error control.
  template <class Taken>
  ZWANG_INLINE R error_of(const Taken& taken) const {
    const R rtol = R(Real(settings.rtol)), atol = R(Real(settings.atol));
    return taken.template squared_error<M::error_controlled>(state.y, rtol, atol);
  }

  ZWANG_INLINE void rates_at(R when, const R* w, const R* there, bool hold, const R* held, R* rate) const {
    driven_right_side<M>(state.k, when, w, there, held, hold, rate, trial.end_lambda);
    if constexpr (least_norm_integrands)
      if (state.any_redundant) integrands_per_lane(when, there, rate);
  }
  ZWANG_INLINE void integrands_per_lane(R when, const R* there, R* rate) const {
    for (int lane = 0; lane < lanes; ++lane) {
      const M& me = members[lane];
      if (!lane_of(state.live, lane) || !me.constraints.redundant) continue;
      Real y_lane[size], rate_lane[size];
      for (int i = 0; i < M::fed_back; ++i) y_lane[i] = lane_of(there[i], lane);
      integrands_of_least_norm<M>(me.k, me.constraints, lane_of(when, lane), y_lane, rate_lane);
      for (int i = M::fed_back; i < M::error_controlled; ++i) set_lane(rate[i], lane, rate_lane[i]);
    }
  }
};

}  // namespace zwang
