// The impact of one contact in closed form: Newton's law along its normal, Coulomb's cone on its impulse
// [friction-11]. It is the problem of dynamics/contact_rows.h for a single contact, with the equations that
// hold eliminated, and without a search over choices: it is solved only where its solution is the only one.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// Row 0 is the normal, the next `tangents` rows are the slip: with the impulses l the residuals
// r = b - Phi l are to satisfy
//   r_N = 0,  and  stick: r_T = 0, |l_T| <= cone l_N,  or  slip: l_T = cone l_N d, r_T = |r_T| d.
template <class Real>
struct SingleImpact {
  int tangents;
  Real phi[3][3], b[3], cone;
  Real l[3], r[3];

  // False where there may be several solutions or none, and where the iteration for a direction does not end.
  ZWANG_DEVICE bool solve() {
    l[1] = l[2] = r[0] = r[1] = r[2] = 0;
    if (!(phi[0][0] > 0)) return false;
    l[0] = b[0] / phi[0][0];
    if (tangents == 0) return true;
    if (!(cone > 0)) {
      complete();
      return true;
    }
    return tangents == 1 ? solve_in_plane() : solve_in_space();
  }

 private:
  // How far a determinant or a stiffness must be from zero, as a share of its terms.
  static constexpr Real margin = Real(1e-6);

  ZWANG_DEVICE void complete() {
    for (int i = 1; i <= tangents; ++i) {
      r[i] = b[i];
      for (int j = 0; j <= tangents; ++j) r[i] -= phi[i][j] * l[j];
    }
  }

  // With kappa > 0 for slip either way the line of l_T at r_N = 0 leaves the cone once at each side.
  ZWANG_DEVICE bool solve_in_plane() {
    const Real coupling = cone * absolute(phi[0][1]);
    const Real determinant = phi[0][0] * phi[1][1] - phi[0][1] * phi[1][0];
    if (!(phi[0][0] - coupling > margin * phi[0][0]) || !(determinant > margin * phi[0][0] * phi[1][1]))
      return false;
    l[0] = (b[0] * phi[1][1] - b[1] * phi[0][1]) / determinant;
    l[1] = (b[1] * phi[0][0] - b[0] * phi[1][0]) / determinant;
    if (absolute(l[1]) <= cone * l[0]) return true;
    const Real d = l[1] > 0 ? Real(1) : Real(-1);
    l[0] = b[0] / (phi[0][0] + cone * d * phi[0][1]);
    l[1] = cone * d * l[0];
    complete();
    return l[0] > 0 && d * r[1] >= 0;
  }

  // The solution is unique if (cone/2)^2 G_NN max(d Phi_TT d) < 1, where G is the inverse of Phi [friction-13].
  ZWANG_DEVICE bool solve_in_space() {
    const Real across = phi[1][1] * phi[2][2] - phi[1][2] * phi[2][1];
    if (!(across > margin * phi[1][1] * phi[2][2])) return false;
    // Phi_TT^-1 Phi_TN and Phi_TT^-1 b_T
    const Real lever[2] = {(phi[2][2] * phi[1][0] - phi[1][2] * phi[2][0]) / across,
                           (phi[1][1] * phi[2][0] - phi[2][1] * phi[1][0]) / across};
    const Real still[2] = {(phi[2][2] * b[1] - phi[1][2] * b[2]) / across,
                           (phi[1][1] * b[2] - phi[2][1] * b[1]) / across};
    const Real normal = phi[0][0] - phi[0][1] * lever[0] - phi[0][2] * lever[1];
    if (!(normal > margin * phi[0][0])) return false;
    const Real half = (phi[1][1] - phi[2][2]) / 2;
    const Real largest = (phi[1][1] + phi[2][2]) / 2 + sqrt(half * half + phi[1][2] * phi[2][1]);
    if (!(cone * cone * largest < 4 * (1 - margin) * normal)) return false;
    l[0] = (b[0] - phi[0][1] * still[0] - phi[0][2] * still[1]) / normal;
    l[1] = still[0] - lever[0] * l[0];
    l[2] = still[1] - lever[1] * l[0];
    const Real size = sqrt(l[1] * l[1] + l[2] * l[2]);
    if (size <= cone * l[0]) return true;
    return slide(l[1] / size, l[2] / size);
  }

  // Newton's method for the direction d = (x, y) of the slip, along which r_T must point.
  ZWANG_DEVICE bool slide(Real x, Real y) {
    for (int pass = 0; pass < 30; ++pass) {
      const Real kappa = phi[0][0] + cone * (phi[0][1] * x + phi[0][2] * y);
      if (!(kappa > margin * phi[0][0])) return false;
      l[0] = b[0] / kappa;
      l[1] = cone * l[0] * x;
      l[2] = cone * l[0] * y;
      complete();
      // By a turn of d: dl_N/l_N, then the changes of r_T.
      const Real share = -cone * (phi[0][2] * x - phi[0][1] * y) / kappa;
      const Real n = share * l[0], u = share * l[1] - l[2], v = share * l[2] + l[1];
      const Real r1 = -(phi[1][0] * n + phi[1][1] * u + phi[1][2] * v),
                 r2 = -(phi[2][0] * n + phi[2][1] * u + phi[2][2] * v);
      const Real beside = x * r[2] - y * r[1], along = x * r[1] + y * r[2];
      const Real slope = x * r2 - y * r1 - along;
      Real turn = -beside / slope;
      if (!is_finite(turn)) return false;
      turn = maximum(minimum(turn, Real(0.5)), Real(-0.5));
      // A step of the root of rounding is followed by rounding.
      if (absolute(turn) <= 16 * Precision<Real>::epsilon) return l[0] > 0 && along >= 0;
      const Real next_x = x - turn * y, next_y = y + turn * x;
      const Real length = sqrt(next_x * next_x + next_y * next_y);
      x = next_x / length;
      y = next_y / length;
    }
    return false;
  }
};

}  // namespace zwang
