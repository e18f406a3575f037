// What counts as zero: values of conditions with the rounding scale of their terms, and the magnitudes of
// coordinates and velocities on which those scales rest.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/base/scaled.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"

namespace zwang {

// One condition at a state with the rounding scales of its parts.
template <class Real>
struct ScaledCondition {
  Real value, value_scale, rate, rate_scale, rest_scale;
  Real reach;  // sum of |A|: the change of f by a change of 1 in every coordinate, at most
  // Every entry of its row is rounding noise: the linearised condition restricts nothing there
  // [staeckel-6''].
  bool vanishes;
};

// Calls visit(j) for the coordinates that enter condition i; for all, where the model has no list of them.
template <class Model, class Visit>
ZWANG_INLINE void for_coordinates_of([[maybe_unused]] int i, const Visit& visit) {
  if constexpr (is_long_model<Model>)
    for (int e = Model::first_read(i); e < Model::first_read(i + 1); ++e) visit(Model::read(e));
  else
    for (int j = 0; j < Model::coordinates; ++j) visit(j);
}

// At the position of the state y, with velocities v; size_q and size_v are the magnitudes behind their
// rounding.
template <class M, class Real>
ZWANG_COLD ScaledCondition<Real> scaled_condition_at(const Real* k, Real t, const Real* y, int i,
                                                     const Real* v, const Real* size_q, const Real* size_v) {
  using Model = typename M::Model;
  using S = Scaled<Real>;
  constexpr int n = M::n;
  S value, rate, rest, a[n];
  const ScaledConstants<Real> constants{k}, z{y + 2 * n};
  const ScaledState<Real> positions{y, size_q}, velocities{v, size_v};
  Model::row(constants, S(t), positions, velocities, z, i, value, rate, rest, a);
  bool vanishes = true;
  Real reach = 0;
  for_coordinates_of<Model>(i, [&](int j) {
    vanishes = vanishes && (a[j].scale == 0 || absolute(a[j].value) <= Real(1e-10) * a[j].scale);
    reach += absolute(a[j].value);
  });
  return {value.value, value.scale, rate.value, rate.scale, rest.scale, reach, vanishes};
}
template <class M, class Real>
ZWANG_INLINE ScaledCondition<Real> scaled_condition(const Real* k, const typename M::Motion& motion, int i,
                                                    const Real* v, const Real* size_q, const Real* size_v) {
  return scaled_condition_at<M>(k, motion.t, motion.y, i, v, size_q, size_v);
}

// A share of a rounding scale that counts as zero: at least 32 roundings in single precision, whatever the
// settings.
template <class Real>
ZWANG_INLINE Real within_precision(double requested) {
  if (sizeof(Real) == sizeof(double)) return Real(requested);
  return maximum(Real(requested), 32 * Precision<Real>::epsilon);
}

// f (or g) and f' of a condition at the member's state, and what counts as zero for them.
template <class Real>
struct Zero {
  Real value, rate, f, f_rate;
};
template <class M>
ZWANG_DEVICE Zero<typename M::Real> zero_of(const M& me, int i) {
  const auto scaled = scaled_condition<M>(me.k, me.motion, i, me.motion.v(), me.sizes.q, me.sizes.v);
  return {me.input.contact_tolerance * scaled.value_scale, me.input.rest_speed * scaled.rate_scale,
          scaled.value, scaled.rate};
}

// Conditions couple coordinates, and with them their rounding errors: no size is below a hundredth of the
// whole state's in the mass metric (src/system/equations.h). `whole` is the square of that. Most sizes are
// well above the bound, and then no square root is taken.
template <class Real>
ZWANG_INLINE Real not_below(Real size, Real mass, Real whole) {
  constexpr Real share = Real(0.01);
  return mass > 0 && mass * square(size) < square(share) * whole ? share * sqrt(whole / mass) : size;
}
template <class M, class Real>
ZWANG_DEVICE void raise_to_noise(const Real* k, const typename M::Motion& motion,
                                 typename M::Rounding& sizes) {
  constexpr int n = M::n;
  using Mass = MassShape<typename M::Model>;
  Real mass[Mass::entries];
  M::Model::mass(k, motion.t, motion.q(), motion.v(), motion.z(), mass);
  Real whole_q = 0, whole_v = 0;
  for (int i = 0; i < n; ++i) {
    const Real m = maximum(mass[Mass::diagonal(i)], Real(0));
    whole_q += m * sizes.q[i] * sizes.q[i];
    whole_v += m * sizes.v[i] * sizes.v[i];
  }
  for (int i = 0; i < n; ++i) {
    sizes.q[i] = not_below(sizes.q[i], mass[Mass::diagonal(i)], whole_q);
    sizes.v[i] = not_below(sizes.v[i], mass[Mass::diagonal(i)], whole_v);
  }
}

// The magnitudes of coordinates and velocities along a step from y0 to y1.
template <class M, class Real>
ZWANG_COLD void measure_sizes(const Real* k, const typename M::Motion& motion, const Real* y0, const Real* y1,
                              Real duration, typename M::Rounding& sizes) {
  constexpr int n = M::n;
  for (int i = 0; i < n; ++i) {
    sizes.q[i] = maximum(maximum(absolute(y0[i]), absolute(y1[i])), absolute(duration * y0[n + i]));
    sizes.v[i] = maximum(absolute(y0[n + i]), absolute(y1[n + i]));
  }
  sizes.duration = duration;
  raise_to_noise<M>(k, motion, sizes);
}

// The same for states in registers, with the mass matrix given.
template <int n, class Real>
ZWANG_INLINE void measure_sizes_by_mass(const Real* mass, const Real* y0, const Real* y1, Real duration,
                                        Real* size_q, Real* size_v) {
  Real whole_q = 0, whole_v = 0;
  ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
    size_q[i] = maximum(maximum(absolute(y0[i]), absolute(y1[i])), absolute(duration * y0[n + i]));
    size_v[i] = maximum(absolute(y0[n + i]), absolute(y1[n + i]));
    const Real m = maximum(mass[i * n + i], Real(0));
    whole_q += m * square(size_q[i]);
    whole_v += m * square(size_v[i]);
  }
  ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
    size_q[i] = not_below(size_q[i], mass[i * n + i], whole_q);
    size_v[i] = not_below(size_v[i], mass[i * n + i], whole_v);
  }
}

// A velocity is mere rounding where its share of sqrt(2 T) is below this; `twice_kinetic` is that of the
// velocities before the shock, by the diagonal of the mass matrix.
template <class Real>
ZWANG_INLINE Real velocity_noise(Real twice_kinetic) {
  return 8 * Precision<Real>::epsilon * sqrt(twice_kinetic);
}
template <class Real>
ZWANG_INLINE bool is_velocity_noise(Real v, Real mass, Real noise) {
  return absolute(v) * sqrt(maximum(mass, Real(0))) <= noise;
}
// Components of v that are mere rounding of velocities as large as `before` become exactly zero.
template <class M, class Real>
ZWANG_DEVICE void drop_noise(const Real* mass, const Real* before, Real* v) {
  using Mass = MassShape<typename M::Model>;
  constexpr int n = M::n;
  Real whole = 0;
  for (int i = 0; i < n; ++i) whole += maximum(mass[Mass::diagonal(i)], Real(0)) * before[i] * before[i];
  whole = velocity_noise(whole);
  for (int i = 0; i < n; ++i)
    if (is_velocity_noise(v[i], mass[Mass::diagonal(i)], whole)) v[i] = 0;
}

}  // namespace zwang
