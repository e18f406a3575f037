// Orientations of bodies in space: quaternions among the auxiliary states, turned by coordinates that have no value of
// their own (src/system/body.h).
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// [body-3] Turns the orientations in the state y by the angles that `move` holds for their coordinates:
// q + q o (0, angles)/2, to first order. The length of q has no effect on the motion.
template <class M, class R>
ZWANG_INLINE void turn_orientations(const R* move, R* y) {
  using Model = typename M::Model;
  if constexpr (OrientationsOf<Model>::count > 0) {
    using Real = typename Lanes<R>::Real;
    ZWANG_REGISTERS for (int o = 0; o < Model::orientations; ++o) {
      R* q = M::z_of(y) + Model::orientation_state(o);
      const int turn = Model::orientation_turn(o);
      const R a = R(Real(0.5)) * move[turn], b = R(Real(0.5)) * move[turn + 1],
              c = R(Real(0.5)) * move[turn + 2];
      const R w = q[0], x = q[1], u = q[2], v = q[3];
      q[0] = w - x * a - u * b - v * c;
      q[1] = x + w * a + u * c - v * b;
      q[2] = u + w * b + v * a - x * c;
      q[3] = v + w * c + x * b - u * a;
    }
  }
}

// Whether auxiliary state j belongs to an orientation.
template <class Model>
ZWANG_DEVICE bool is_of_orientation(int j) {
  if constexpr (OrientationsOf<Model>::count > 0)
    for (int o = 0; o < Model::orientations; ++o)
      if (j >= Model::orientation_state(o) && j < Model::orientation_state(o) + 4) return true;
  return false;
}

// The coordinates of turns stay zero.
template <class M, class R>
ZWANG_INLINE void clear_turns(R* q) {
  using Model = typename M::Model;
  if constexpr (OrientationsOf<Model>::count > 0)
    ZWANG_REGISTERS for (int o = 0; o < Model::orientations; ++o) {
      for (int i = 0; i < 3; ++i) q[Model::orientation_turn(o) + i] = R(0);
    }
}

}  // namespace zwang
