// kappa of a contact that slips [friction-4]: how much its multiplier changes f'' on what the rows that hold leave free.
// Where it falls to `painleve_margin` times its value without friction, the motion has no unique continuation and ends
// [friction-5]. The reference is ModeSolver::stiffness (src/laws/mode_candidate.cpp).
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/admissible_multipliers.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// Whether friction f slips: it has a direction.
template <class M, class Real>
ZWANG_DEVICE bool friction_slips(const Real* k, int f) {
  using Model = typename M::Model;
  const Real* e = k + Model::first_mode + Model::friction_mode(f);
  return e[0] != 0 || (Model::friction_rows(f) == 2 && e[1] != 0);
}

// kappa of friction f as a share of its value without friction. Other contacts that slip count as open. 1 where what
// holds decides the motion of this contact: its force is then shared, not determined by kappa.
template <class M, class Real>
ZWANG_COLD Real slip_stiffness(const Real* k, const Real* held, Real t, const Real* y, int f) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  const Real *q = y, *v = M::v_of(y), *z = M::z_of(y);
  const int contact = Model::friction_contact(f);
  Real mass[MassShape<Model>::entries], value, rate, rest, a[n], basis[n][n], normal[n], force[n];
  typename M::Root root;
  Model::mass(k, t, q, v, z, mass);
  if (!root.factor(mass)) return 1;
  int count = 0;
  const auto remove_basis = [&](Real* from) {
    for (int pass = 0; pass < 2; ++pass)
      for (int j = 0; j < count; ++j) add_multiple<n>(-dot<n>(basis[j], from), basis[j], from);
  };
  // Rows closer than this share of their length to the span of others depend on them.
  const Real dependent = sqrt(Precision<Real>::dependent);
  for (int i = 0; i < M::r && count < n; ++i) {
    const int other = Model::friction_of(i);
    if (!(held[i] > 0) || (other >= 0 && friction_slips<M>(k, other))) continue;
    Model::row(k, t, q, v, z, i, value, rate, rest, a);
    root.into(a, basis[count]);
    const Real length = norm<n>(basis[count]);
    remove_basis(basis[count]);
    const Real left = norm<n>(basis[count]);
    if (!(left > dependent * length)) continue;
    for (int j = 0; j < n; ++j) basis[count][j] /= left;
    ++count;
  }
  Model::row(k, t, q, v, z, contact, value, rate, rest, a);
  root.into(a, normal);
  DependentMultipliers<M>::add_drag(k, t, y, contact, a);
  root.into(a, force);
  const Real length = norm<n>(normal);
  remove_basis(normal);
  const Real alone = dot<n>(normal, normal);
  if (!(sqrt(alone) > dependent * length)) return 1;
  return dot<n>(normal, force) / alone;
}

// Whether kappa of a slipping contact may be small at a state with the multipliers lambda: for a single contact the
// share of kappa is that of the multipliers without and with friction, f'' of the open contact being the same.
template <class M, class R>
ZWANG_INLINE typename Lanes<R>::Mask may_lose_stiffness(const R* k, R t, const R* y, const R* held,
                                                        bool any_held, const R* lambda,
                                                        typename Lanes<R>::Real margin) {
  using Model = typename M::Model;
  using Real = typename Lanes<R>::Real;
  const Real small = maximum(Real(0.5), Real(1.25) * margin);
  R smooth[at_least_one(Model::constants)], rate[M::size], without[M::rows], slipping[M::rows];
  ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { smooth[i] = k[i]; }
  R any_slip = R(0);
  ZWANG_REGISTERS for (int f = 0; f < Model::frictions; ++f) {
    slipping[f] = R(0);
    ZWANG_REGISTERS for (int c = 0; c < Model::friction_rows(f); ++c) {
      R& e = smooth[Model::first_mode + Model::friction_mode(f) + c];
      slipping[f] = slipping[f] + absolute(e);
      e = R(0);
    }
    any_slip = any_slip + slipping[f];
  }
  typename Lanes<R>::Mask made = no_lanes<R>();
  if (!any_held || !any(any_slip > R(0))) return made;
  right_side<M>(smooth, t, y, held, any_held, rate, without);
  ZWANG_REGISTERS for (int f = 0; f < Model::frictions; ++f) {
    const int i = Model::friction_contact(f);
    made = made || ((slipping[f] > R(0)) && (held[i] > R(0)) && !(without[i] > R(small) * lambda[i]));
  }
  return made;
}

}  // namespace zwang
