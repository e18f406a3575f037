// Dense output of the steps of a lane group: the states inside a trial step, of all its lanes together.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/integrator/interpolant.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/integrator/taylor_series.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// What the dense output needs of a step: copies of a part of the lane group.
template <class M, class R>
struct StepRecord {
  using Model = typename M::Model;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int rates = M::size - M::n;
  R k[at_least_one(Model::constants)];
  R t, h, y[M::size], end[M::size];  // the end as the method gives it, before the projection
  R held[M::rows];
  Mask constrained;    // the step is taken by stages, not by power series
  bool any_held;       // in some lane
  R (*stages)[rates];  // Method::stages rows; those of the interpolant are computed here

  ZWANG_INLINE StepRecord() {}
  ZWANG_INLINE StepRecord(const LaneState<M, R>& state, const StepInProgress<M, R>& trial,
                          R (*stage_rates)[rates])
      : t(state.t), h(trial.step.h), any_held(state.any_held), stages(stage_rates) {
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { k[i] = state.k[i]; }
    ZWANG_REGISTERS for (int c = 0; c < M::size; ++c) {
      y[c] = state.y[c];
      end[c] = trial.step.end[c];
    }
    ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) { held[i] = state.held[i]; }
    constrained = !no_lanes<R>();
    if constexpr (M::Method::expands) constrained = trial.constrained;
  }
};

// The right side and the multipliers at a state inside the step.
template <class M, class R>
ZWANG_HOT void rates_inside(const StepRecord<M, R>& step, R t, const R* y, R* rate, R* lambda) {
  right_side<M>(step.k, t, y, step.held, step.any_held, rate, lambda);
}

// The multipliers as observables and measures see them: as forces_at() in record/measures.h.
template <class M, class R>
ZWANG_INLINE void forces_inside(const StepRecord<M, R>& step, R t, const R* y, R* lambda) {
  ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) { lambda[i] = R(0); }
  if (!step.any_held) return;
  R rate[M::size], all[M::rows];
  rates_inside<M>(step, t, y, rate, all);
  ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) {
    const R finite = if_less(absolute(all[i]), infinity<R>(), all[i], R(0));
    const R force = M::Model::is_equation(i) ? finite : maximum(finite, R(0));
    lambda[i] = if_less(R(0), step.held[i], force, R(0));
  }
}

template <class M, class R>
struct DenseLane {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int n = M::n, size = M::size, fed_back = M::fed_back;
  static constexpr bool corrects = Method::last == Dop853::last;
  using Correction = InterpolantCorrection<fed_back, R>;
  using Terms =
      typename OnlyIf<Method::expands, SeriesTerms<Method, n, size, R, at_least_one(fed_back)>>::Type;

  const StepRecord<M, R>& step;
  Interpolant<Method, n, fed_back, R> interpolant;
  typename OnlyIf<corrects, Correction>::Type correction;
  bool by_stages = false, by_series = false, corrected = false;  // in some lane of those wanted
  Terms series;

  // For the lanes `wanted`; at() is not meaningful in the others.
  ZWANG_INLINE DenseLane(const StepRecord<M, R>& from, const KernelSettings& settings, const Mask& wanted)
      : step(from) {
    Mask staged = wanted;
    if constexpr (Method::expands) {
      staged = wanted && step.constrained;
      by_series = any(wanted && !step.constrained);
      if (by_series) series.take(step.k, step.t, step.h, step.y);
    }
    by_stages = any(staged);
    if (!by_stages) return;
    const auto rates = [this](R t, const R* y, R* rate) {
      R lambda[M::rows];
      rates_inside<M>(step, t, y, rate, lambda);
    };
    complete_stages<Method, n, fed_back, size>(step.stages, step.t, step.h, step.y, rates);
    interpolant.make_from(step.stages, step.t, step.h, step.y, step.end);
    if constexpr (corrects) {
      const Mask poor = staged && !interpolant_is_accurate<fed_back>(interpolant, R(Real(settings.rtol)),
                                                                     R(Real(settings.atol)));
      corrected = any(poor);
      if (corrected) correction.template make<size>(interpolant, poor, rates);
    }
  }

  // The first `fed_back` numbers at the fraction x of the step.
  ZWANG_INLINE void at(R x, R* y) const {
    if (by_stages) {
      for (int c = 0; c < fed_back; ++c) y[c] = interpolant.at(x, c);
      if constexpr (corrects)
        if (corrected)
          for (int c = 0; c < fed_back; ++c) y[c] = y[c] + correction.at(x, c);
    }
    if constexpr (Method::expands)
      if (by_series) {
        R expanded[fed_back];
        series.template at<fed_back>(x, expanded);
        for (int c = 0; c < fed_back; ++c)
          y[c] = by_stages ? select(step.constrained, y[c], expanded[c]) : expanded[c];
      }
  }
};

}  // namespace zwang
