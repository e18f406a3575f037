// Extremes of measures inside the steps of a lane group, refined on the dense output by all lanes together.
// The same for a member in memory is refine_extremes() in record/measures.h.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/lanes/dense_lane.h"
#include "kernels/record/measures.h"
#include "kernels/rootfinding/first_root.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// The polynomial through samples of a function at the sample fractions, in Newton's form.
template <class R>
struct SamplePolynomial {
  using Real = typename Lanes<R>::Real;
  R difference[sample_count];  // divided differences

  ZWANG_INLINE explicit SamplePolynomial(const R* samples) {
    for (int i = 0; i < sample_count; ++i) difference[i] = samples[i];
    ZWANG_UNROLL for (int order = 1; order < sample_count; ++order) {
      ZWANG_UNROLL for (int i = sample_count - 1; i >= order; --i) {
        difference[i] = (difference[i] - difference[i - 1]) *
                        R(Real(1 / (sample_fraction(i) - sample_fraction(i - order))));
      }
    }
  }
  // A guess of the maximum on [left, right]: Newton's method on the slope, towards the higher end where the
  // polynomial is not concave. Half its second derivative there is left in `bend`.
  ZWANG_INLINE R top(R left, R right, R& bend) const {
    R x = R(Real(0.5)) * (left + right);
    ZWANG_ROLLED for (int iteration = 0; iteration < 5; ++iteration) {
      R value = difference[sample_count - 1], slope = R(0);
      bend = R(0);
      ZWANG_UNROLL for (int i = sample_count - 2; i >= 0; --i) {
        const R from = x - R(Real(sample_fraction(i)));
        bend = bend * from + slope;
        slope = slope * from + value;
        value = value * from + difference[i];
      }
      const R next = if_less(bend, R(0), x - slope / (R(2) * bend), if_less(R(0), slope, right, left));
      x = minimum(maximum(next, left), right);
    }
    return x;
  }
};

// All extremes of one step, up to its fraction `until`. `best` are the best values known, in and out.
template <class M, class R>
struct ExtremeRefinement {
  using Model = typename M::Model;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  // Distance of three points around a maximum, as a fraction of the step. The vertex of their parabola is off
  // by about its square, and the value there by the fourth power: 1e-12 of the bend over the step. Smaller
  // distances would lose as much by rounding. Maxima that the polynomial through the samples does not
  // describe, and which are sharper therefore, need them nevertheless.
  static constexpr bool doubles = sizeof(Real) == sizeof(double);
  static constexpr Real spacing = Real(doubles ? 1.0 / 1024 : 1.0 / 64),
                        close_spacing = spacing / (doubles ? 16 : 4);
  static constexpr int most_rounds = 6;
  // Largest deviation of the curve from the parabola at its vertex, as a share of the bend between the three
  // points, where the first vertex is beside the guess and bent like the polynomial through the samples.
  // Later ones must agree to rounding: where a maximum is sharper than the three points show, that deviation
  // is the error of its value.
  static constexpr Real most_deviation = Real(1e-3);

  const StepRecord<M, R>& step;
  const DenseLane<M, R>& dense;
  R until;
  R* best;

  // Takes samples in the lanes `wanted`, and refines the maxima between them that might exceed the best
  // value. Returns the lanes in which a maximum was not found: there the slow path repeats the refinement,
  // and `best` is unchanged, because values beside a sharp maximum would make it look like one that cannot
  // exceed them.
  ZWANG_INLINE Mask refine(const Mask& wanted, const R* start_values) const {
    R samples[sample_count][M::reductions];
    ZWANG_ROLLED for (int s = 0; s < sample_count; ++s) {
      if (s == 0)
        for (int m = 0; m < Model::reductions; ++m) samples[0][m] = start_values[m];
      else
        values_at(R(Real(sample_fraction(s))), samples[s]);
    }
    Mask unresolved = no_lanes<R>();
    R found[M::reductions];
    ZWANG_ROLLED for (int m = 0; m < Model::reductions; ++m) {
      if (!is_extreme<Model>(m)) continue;
      const Real sign = Reduction(Model::reduction_kind(m)) == Reduction::maximum ? Real(1) : Real(-1);
      R curve[sample_count], top = R(sign) * best[m];
      for (int s = 0; s < sample_count; ++s) {
        curve[s] = R(sign) * samples[s][m];
        top = better(wanted, top, curve[s]);
      }
      unresolved = unresolved || refine_one(m, R(sign), wanted, curve, top);
      found[m] = R(sign) * top;
    }
    for (int m = 0; m < Model::reductions; ++m)
      if (is_extreme<Model>(m)) best[m] = select(wanted && !unresolved, found[m], best[m]);
    return unresolved;
  }

  // Whether a measure may have its maximum in the rest of a step, between `until` and the end, which is so
  // short that the parabola through three of its values describes it. Values at both ends count elsewhere.
  ZWANG_INLINE Mask may_peak_in_rest(const Mask& wanted) const {
    R values[3][M::reductions];
    ZWANG_ROLLED for (int i = 0; i < 3; ++i) {
      values_at(R(1) + R(Real(0.5) * Real(i)) * (R(1) / until - R(1)), values[i]);
    }
    Mask made = no_lanes<R>();
    ZWANG_ROLLED for (int m = 0; m < Model::reductions; ++m) {
      if (!is_extreme<Model>(m)) continue;
      const R sign = R(Reduction(Model::reduction_kind(m)) == Reduction::maximum ? Real(1) : Real(-1));
      const R slope = R(Real(0.5)) * sign * (values[2][m] - values[0][m]),
              bend = sign * (values[2][m] - R(2) * values[1][m] + values[0][m]);
      // The vertex is at -slope / bend from the middle, in units of half the interval.
      made = made || (wanted && !(absolute(slope) >= absolute(bend)));
    }
    return made;
  }

 private:
  // The larger one, in the lanes given. NaN counts as missing.
  ZWANG_INLINE static R better(const Mask& lanes, R known, R value) {
    return select(lanes && (value <= value) && !(known >= value), value, known);
  }

  // The functions that the measures reduce at the fraction x of the part until `until`.
  ZWANG_INLINE void values_at(R x, R* values) const {
    R y[M::size], lambda[M::rows];
    const R part = x * until, when = step.t + part * step.h;
    dense.at(part, y);
    if constexpr (Model::measures_forces) forces_inside<M>(step, when, y, lambda);
    Model::measured(step.k, when, y, y + M::n, y + 2 * M::n, lambda, step.held, values);
  }

  // A candidate is a sample not below its neighbours whose surroundings might exceed the best value: as in
  // record/measures.h. The lanes refine their first one, then their second, and so on.
  ZWANG_INLINE Mask refine_one(int m, R sign, const Mask& wanted, const R* curve, R& top) const {
    Mask unresolved = no_lanes<R>();
    R passed = R(-1);  // candidates up to this sample have been refined
    ZWANG_ROLLED for (int round = 0; round < sample_count; ++round) {
      R left = R(0), right = R(0), which = R(sample_count);
      ZWANG_UNROLL for (int s = sample_count - 1; s >= 0; --s) {
        const int before = s > 0 ? s - 1 : 0, after = s + 1 < sample_count ? s + 1 : s;
        // The two samples beside a maximum may be equally high; at the ends of the step a third one shows its
        // height.
        const int third = s == 0 ? 2 : s == sample_count - 1 ? s - 2 : s;
        const R spread = curve[s] - minimum(minimum(curve[before], curve[after]), curve[third]);
        const Mask here =
            (R(Real(s)) > passed) && (curve[s] >= curve[before]) && (curve[s] >= curve[after]) &&
            (spread > R(8 * Precision<Real>::epsilon) * absolute(curve[s])) && !(curve[s] + spread <= top);
        which = select(here, R(Real(s)), which);
        left = select(here, R(Real(sample_fraction(before))), left);
        right = select(here, R(Real(sample_fraction(after))), right);
      }
      const Mask open = wanted && (which < R(sample_count));
      if (!any(open)) break;
      R bend;
      const R guess = SamplePolynomial<R>(curve).top(left, right, bend);
      unresolved = unresolved || climb(m, sign, open, guess, bend, left, right, top);
      passed = which;
    }
    return unresolved;
  }

  // From the guess x to the maximum on [left, right], by the vertices of parabolas through three close
  // points. Returns the lanes that have not got there.
  ZWANG_INLINE Mask climb(int m, R sign, Mask open, R x, R half_bend, R left, R right, R& top) const {
    R reach = R(spacing);
    ZWANG_ROLLED for (int round = 0; round < most_rounds; ++round) {
      const R middle = minimum(maximum(x, reach), R(1) - reach);
      R value[3] = {top, top, top}, vertex = middle, bend = R(0), slope = R(0);
      // Three points, then the vertex.
      ZWANG_ROLLED for (int i = 0; i < 4; ++i) {
        if (i == 3) {
          bend = value[0] - R(2) * value[1] + value[2];
          slope = R(Real(0.5)) * (value[2] - value[0]);
          vertex = if_less(bend, R(0), middle - reach * slope / bend, if_less(R(0), slope, right, left));
          vertex = minimum(maximum(vertex, left), right);
        }
        R all[M::reductions];
        values_at(i == 3 ? vertex : middle + R(Real(i - 1)) * reach, all);
        const R now = sign * all[m];
        if (i == 3) {
          const R away = (vertex - middle) / reach,
                  expected = value[1] + away * (slope + R(Real(0.5)) * away * bend),
                  noise = R(16 * Precision<Real>::epsilon) * absolute(now),
                  like = R(2) * square(reach) * absolute(half_bend),
                  smooth = if_less(absolute(bend), R(2) * like, R(most_deviation) * absolute(bend), R(0)),
                  allowed = round == 0 ? smooth + noise : noise;
          const Mask arrives = (absolute(away) <= R(1)) && (absolute(now - expected) <= allowed);
          top = better(open, top, now);
          open = open && !arrives;
        } else {
          value[i] = now;
          top = better(open, top, now);
        }
      }
      if (!any(open)) break;
      x = vertex;
      reach = R(close_spacing);
    }
    return open;
  }
};

}  // namespace zwang
