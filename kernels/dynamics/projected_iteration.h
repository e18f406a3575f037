// Projected Gauss-Seidel iterations on the multipliers of a contact problem (dynamics/contact_rows.h), and
// the choices that multipliers suggest.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/dependent_choice.h"

namespace zwang {

template <class M>
struct ProjectedIteration : DependentChoice<M> {
  using Base = DependentChoice<M>;
  using Real = typename M::Real;
  using Unit = typename Base::Unit;
  using Solution = typename Base::Solution;
  using Base::count, Base::is_possible, Base::phi, Base::phi0;

  ZWANG_DEVICE Real residual_now(int i, const Solution& at) const {
    Real sum = phi0[i];
    for (int j = 0; j < count; ++j) sum -= phi[i][j] * at.lambda[j];
    return sum;
  }
  ZWANG_DEVICE void relax(const Unit& of, Solution& at) const {
    const int i = of.row;
    Real& lambda = at.lambda[i];
    if (of.kind == RowKind::bounded && of.moving) {
      lambda = of.limit_times(of.d[0]);
      return;
    }
    lambda += residual_now(i, at) / phi[i][i];
    if (of.kind == RowKind::bounded) lambda = minimum(maximum(lambda, -of.limit), of.limit);
    if (of.kind == RowKind::inequality || of.kind == RowKind::contact) lambda = maximum(lambda, Real(0));
    if (of.kind != RowKind::contact) return;
    Real force = 0;
    for (int c = 0; c < of.tangents; ++c) {
      Real& tangential = at.lambda[i + 1 + c];
      if (of.moving)
        tangential = of.cone * lambda * of.d[c];
      else
        tangential += residual_now(i + 1 + c, at) / phi[i + 1 + c][i + 1 + c];
      force += square(tangential);
    }
    const bool sticks = of.may_hold && !(sqrt(force) > of.cone_static * lambda);
    if (of.moving || sticks || !(force > 0)) return;
    for (int c = 0; c < of.tangents; ++c) at.lambda[i + 1 + c] *= of.cone * lambda / sqrt(force);
  }
  ZWANG_DEVICE RowChoice choice_of(const Unit& of, const Solution& at) const {
    const int i = of.row;
    const Real lambda = at.lambda[i];
    if (of.kind == RowKind::equation) return RowChoice::hold;
    if (of.kind == RowKind::bounded) {
      if (of.moving) return of.d[0] > 0 ? RowChoice::slip : RowChoice::slip_back;
      if (absolute(lambda) < of.limit * (1 - Precision<Real>::tie) && of.may_hold) return RowChoice::hold;
      return lambda > 0 ? RowChoice::slip : RowChoice::slip_back;
    }
    if (!(lambda > 0)) return RowChoice::open;
    if (of.kind == RowKind::inequality) return RowChoice::hold;
    // The force that would hold it, against static friction: a contact that slips has a smaller one.
    Real force = 0;
    for (int c = 0; c < of.tangents; ++c) {
      const int t = i + 1 + c;
      force += square(at.lambda[t] + residual_now(t, at) / phi[t][t]);
    }
    const bool inside = sqrt(force) < of.cone_static * lambda * (1 - Precision<Real>::tie);
    if (inside && is_possible(of, RowChoice::hold)) return RowChoice::hold;
    return of.tangents == 1 && !of.moving && at.lambda[i + 1] < 0 ? RowChoice::slip_back : RowChoice::slip;
  }
};

}  // namespace zwang
