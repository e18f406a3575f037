// The crossing of an event function on a power series: bracketed Newton iteration on the Taylor polynomial of
// a step. No trial steps are needed, and on a GPU the lanes of a warp do it together.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/rootfinding/step_length_search.h"

namespace zwang {

// One lane. `search` names the condition sought.
template <class M>
struct TaylorCrossing {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r;
  const CrossingResult<Real, M::event_functions>& search;
  const LaneState<M, Real>& state;
  Real h;  // length of the step that is expanded

  // The crossing as a fraction of the step. The iteration starts from the right: near its start a condition
  // that has just opened may be zero as well.
  template <class Terms>
  ZWANG_INLINE Real find(const Terms& terms) const {
    const Real close =
        Real(0.1) * Real(sqrt(Precision<Real>::epsilon));  // the next iteration would double the digits
    Real low = 0, high = 1, x = maximum(Real(0.25), of_sought(state.f) / (of_sought(state.f) - search.slope));
    ZWANG_ROLLED for (int iteration = 0; iteration < 24; ++iteration) {
      Real there[M::fed_back], value[M::rows], rate[M::rows];
      terms.template at<M::fed_back>(x, there);
      Model::levels(state.k, state.t + x * h, there, there + n, there + 2 * n, value, rate);
      const Real above = of_sought(value), next = x - above / (h * of_sought(rate));
      if (absolute(next - x) <= close) return next;
      (above > 0 ? high : low) = x;
      x = next > low && next < high ? next : Real(0.5) * (low + high);
    }
    return x;
  }

 private:
  // The entry of the condition sought, as a sum with weights 0 and 1: constant indices keep arrays in
  // registers.
  ZWANG_INLINE Real of_sought(const Real* values) const {
    Real sum = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { sum += search.sought[i] > 0 ? values[i] : Real(0); }
    return sum;
  }
};

}  // namespace zwang
