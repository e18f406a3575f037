// One try of all lanes of a crew: by the method's stages, or, where nothing is held, by a power series; and how good it was.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/integrator/stage_loop.h"
#include "kernels/integrator/taylor_series.h"

namespace zwang {

template <class LaneGroup>
struct TrialStep {
  using M = typename LaneGroup::Member;
  using R = typename LaneGroup::Number;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, size = M::size, signals = Model::signals;
  LaneGroup& group;

  // How good a step was, and how much longer the next may be.
  struct StepQuality {
    R error, factor;
  };

  // By the method's stages; or, where nothing is held, by a power series. A lane goes by its own state, not by its neighbours'.
  ZWANG_INLINE StepQuality take() const {
    if constexpr (Method::expands) {
      StepQuality made{R(0), R(0)};
      R some = R(0);
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) some = some + group.held[i];
      group.constrained = some > R(0);
      if (group.any_held) made = take_constrained();
      if (any(!group.constrained)) {
        const StepQuality free = take_by_series();
        made.error = select(group.constrained, made.error, free.error);
        made.factor = select(group.constrained, made.factor, free.factor);
        ZWANG_REGISTERS for (int i = 0; i < size; ++i) group.step.end[i] =
            select(group.constrained, group.step.end[i], group.series.end[i]);
        ZWANG_REGISTERS for (int m = 0; m < group.step.kept; ++m) group.step.last()[m] =
            select(group.constrained, group.step.last()[m], group.series.rate[m]);
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
          group.end_lambda[i] = select(group.constrained, group.end_lambda[i], R(0));
          group.sampled_lambda[i] = select(group.constrained, group.sampled_lambda[i], R(0));
        }
      }
      return made;
    } else {
      return take_constrained();
    }
  }
  ZWANG_INLINE void take_by_stages() const {
    if constexpr (Model::drives > 0)
      group.drive->see(group.k, group.t, group.step.h, stage_nodes<Method, R>.part);
    // Written out, stages with nothing held are short of all that asks what is: a text of their own. A lane goes by its own
    // state, not by its neighbours': two texts may round differently.
    if constexpr (Method::written_out && n == 1 && !Model::always_held) {
      if (group.any_held)
        take_stages(true);
      else
        take_stages(false);
    } else if constexpr (knows_all_held) {
      // Known before, that all is held is not asked again and again in the text.
      if (group.any_held && all_held())
        take_all_stages();
      else
        take_stages(group.any_held);
    } else {
      take_stages(group.any_held);
    }
  }

 private:
  // Lanes of packs would have to go by their neighbours, and a GPU's text is long enough.
  static constexpr bool knows_all_held =
      LaneGroup::single_cpu_lane && Model::light_events && !Model::always_held;
  ZWANG_INLINE bool all_held() const {
    bool all = true;
    for (int i = 0; i < r; ++i) all = all && group.held[i] > R(0);
    return all;
  }

  ZWANG_INLINE StepQuality take_constrained() const {
    take_by_stages();
    const R error = error_of(group.step);
    return {error, step_factor<Method>(error)};
  }
  ZWANG_INLINE StepQuality take_by_series() const {
    group.series.take(group.k, group.t, group.step.h, group.y);
    const R error = error_of(group.series);
    return {error, series_factor<Method>(error)};
  }

  ZWANG_INLINE void take_all_stages() const {
    R all[M::rows];
    for (int i = 0; i < r; ++i) all[i] = R(1);
    take_stages(true, all);
  }
  ZWANG_INLINE void take_stages(bool hold) const { take_stages(hold, group.held); }
  ZWANG_INLINE void take_stages(bool hold, const R* held) const {
    int stage = 0;
    group.step.take(group.t, group.y, [&, this](R when, const R* there, R* rate) {
      rates_at(when, group.drive->w[stage], there, hold, held, rate);
      if (++stage == Method::sample_stage)
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) group.sampled_lambda[i] = group.end_lambda[i];
      if constexpr (LaneGroup::two_samples)
        if (stage == Method::second_sample_stage)
          ZWANG_REGISTERS for (int i = 0; i < r; ++i) group.second_sampled_lambda[i] = group.end_lambda[i];
      if (hold) ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
          if (Model::is_equation(i)) continue;
          group.low[i] = lesser(group.low[i], group.end_lambda[i]);
          group.high[i] = larger(group.high[i], group.end_lambda[i]);
        }
    });
  }

  // The work is an audit and has no say.
  template <class Taken>
  ZWANG_INLINE R error_of(const Taken& taken) const {
    const R rtol = R(Real(group.settings.rtol)), atol = R(Real(group.settings.atol));
    return taken.template squared_error<M::error_controlled>(group.y, rtol, atol);
  }

  ZWANG_INLINE void rates_at(R when, const R* w, const R* there, bool hold, const R* held, R* rate) const {
    driven_right_side<M>(group.k, when, w, there, held, hold, rate, group.end_lambda);
    if constexpr (LaneGroup::least_norm_integrands)
      if (group.any_redundant) integrands_per_lane(when, there, rate);
  }
  ZWANG_INLINE void integrands_per_lane(R when, const R* there, R* rate) const {
    for (int lane = 0; lane < LaneGroup::lanes; ++lane) {
      const M& me = group.members[lane];
      if (!lane_of(group.live, lane) || !me.constraints.redundant) continue;
      Real y_lane[size], rate_lane[size];
      for (int i = 0; i < M::fed_back; ++i) y_lane[i] = lane_of(there[i], lane);
      integrands_of_least_norm<M>(me.k, me.constraints, lane_of(when, lane), y_lane, rate_lane);
      for (int i = M::fed_back; i < M::error_controlled; ++i) set_lane(rate[i], lane, rate_lane[i]);
    }
  }
};

}  // namespace zwang
