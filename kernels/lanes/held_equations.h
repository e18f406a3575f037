// The equations that hold during an impact, orthonormalised in the mass metric: impulses along other rows move
// the system only across them, and what the equations themselves transfer follows.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"

namespace zwang {

template <class M>
struct HeldEquations {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r;

  // Slip rows are equations of contacts that stick: none is closed here.
  ZWANG_CONSTANT static constexpr bool is_member(int i) {
    return Model::is_equation(i) && !is_slip_row<Model>(i);
  }
  ZWANG_CONSTANT static constexpr int number() {
    int made = 0;
    for (int i = 0; i < r; ++i) made += is_member(i) ? 1 : 0;
    return made;
  }
  static constexpr int count = number(), room = at_least_one(count);

  Real basis[room][n];  // zero where an equation is not in force
  // Row e in terms of the basis, u_e = sum_j triangle[e][j] basis_j, and its rate at zero velocities.
  Real triangle[room][room], still[room];

  // False where they are nearly dependent.
  template <class Root>
  ZWANG_INLINE bool build(const Real* k, Real t, const Real* y, const Real* held, const Root& root) {
    bool independent = true;
    int e = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (!is_member(i)) continue;
      Real value, rate, rest, a[n], u[n];
      ZWANG_REGISTERS for (int c = 0; c < n; ++c) { a[c] = 0; }
      Model::row(k, t, y, y + n, y + 2 * n, i, value, rate, rest, a);
      still[e] = rate - dot<n>(a, y + n);
      root.into(a, u);
      const Real before = dot<n>(u, u);
      ZWANG_REGISTERS for (int j = 0; j < room; ++j) {
        triangle[e][j] = j < e ? dot<n>(basis[j], u) : Real(0);
        if (j < e) add_multiple<n>(-triangle[e][j], basis[j], u);
      }
      const Real left = dot<n>(u, u), length = sqrt(left);
      const bool holds = held[i] > 0;
      independent = independent && (!holds || left > Real(1e-6) * before);
      triangle[e][e] = length;
      ZWANG_REGISTERS for (int c = 0; c < n; ++c) { basis[e][c] = holds ? u[c] / length : Real(0); }
      ++e;
    }
    return independent;
  }

  // Removes from u its components along the equations.
  ZWANG_INLINE void remove_from(Real* u) const {
    ZWANG_REGISTERS for (int e = 0; e < count; ++e) { add_multiple<n>(-dot<n>(basis[e], u), basis[e], u); }
  }

  // The impulses of the equations beside a push p of other rows: sum l_e u_e = -(p along the equations).
  ZWANG_INLINE void find_impulses(const Real* p, Real* l) const {
    ZWANG_REGISTERS for (int back = 0; back < count; ++back) {
      const int e = count - 1 - back;
      Real sum = -dot<n>(basis[e], p);
      ZWANG_REGISTERS for (int j = 0; j < count; ++j) {
        if (j > e) sum -= triangle[j][e] * l[j];
      }
      l[e] = dot<n>(basis[e], basis[e]) > 0 ? sum / triangle[e][e] : Real(0);
    }
  }
  // The squared length of row e in the mass metric.
  ZWANG_INLINE Real weight(int e) const {
    Real sum = 0;
    ZWANG_REGISTERS for (int j = 0; j < room; ++j) { sum += j <= e ? square(triangle[e][j]) : Real(0); }
    return sum;
  }
};

}  // namespace zwang
