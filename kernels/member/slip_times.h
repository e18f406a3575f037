// How long steps may be for the slips in space of a member [friction-8]: the direction of a slip turns ever
// faster where it vanishes, and is not defined beyond. The slip across decays at the rate of the deceleration
// by friction over the slip; explicit methods are stable up to about twice the time of that decay. Lanes have
// longest_before_rest() (lanes/step_length.h); the reference is slip_times (src/reference/implicit_slip.cpp).
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"

namespace zwang {

template <class Real>
struct SlipTimes {
  Real stable;  // the longest stable explicit step for slips that do not end soon
  Real halved;  // until a slip is halved
  Real rest;    // the longest explicit step: stable, and shorter than the time until a slip vanishes; 0: now
};
template <class M>
ZWANG_COLD SlipTimes<typename M::Real> slip_times(const M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& motion = me.motion;
  SlipTimes<Real> times{infinity<Real>(), infinity<Real>(), infinity<Real>()};
  Real mass[MassShape<Model>::entries];
  Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), mass);
  for (int f = 0; f < Model::frictions; ++f) {
    const Real* mode = me.k + Model::first_mode + Model::friction_mode(f);
    if (Model::friction_rows(f) != 2 || (mode[0] == 0 && mode[1] == 0)) continue;
    Real squared = 0, change = 0, along = 0, weight = 0;
    for (int c = 0; c < 2; ++c) {
      Real value, slip, rest, a[n], inverse = 0;
      Model::row(me.k, motion.t, motion.q(), motion.v(), motion.z(), Model::friction_row(f) + c, value, slip,
                 rest, a);
      for (int i = 0; i < n; ++i) {
        rest += a[i] * me.exchange.first_rate[i];
        inverse += a[i] * a[i] / mass[MassShape<Model>::diagonal(i)];
      }
      weight = maximum(weight, inverse);
      squared += slip * slip;
      change += slip * rest;
      along += mode[c] * rest;
    }
    const Real cone = Model::cone(me.k, motion.t, motion.q(), motion.v(), motion.z(), f);
    const Real braking = weight * cone * absolute(me.exchange.lambda[Model::friction_contact(f)]);
    // The direction of a slip within its rounding is that of its mode.
    const Real stable = braking > 0 ? 2 * sqrt(squared) / braking : infinity<Real>();
    const bool begins = squared <= square(10 * mode[2]) && along > Real(-1e-3) * braking;
    const Real halved = change < 0 && !begins ? Real(-0.5) * squared / change : infinity<Real>();
    times.halved = minimum(times.halved, halved);
    // A slip that ends within a few stable steps is left to them, and so is the very end of any slip.
    constexpr Real few = 16, close = 1000;
    if (halved > few * stable) times.stable = minimum(times.stable, stable);
    if (halved < infinity<Real>() && squared <= square(close * mode[2])) times.halved = 0;
    if (squared <= square(2 * mode[2])) {
      // It has vanished, unless it begins.
      if (along < Real(-1e-6) * braking) times.rest = 0;
      continue;
    }
    const Real bound = change < 0 ? minimum(Real(-0.9) * squared / change, stable)
                                  : maximum(stable, 64 * motion.rounding_of_time());
    times.rest = minimum(times.rest, bound);
  }
  return times;
}

}  // namespace zwang
