// Whether a contact problem (dynamics/contact_rows.h) has one motion at most.
//
// Let two solutions differ by x in their multipliers and by y = -Phi x in their residuals. Equations,
// inequalities and bounded rows have x y >= 0. For contacts Coulomb's law (De Saxce's form) gives x_N y_N +
// x_T y_T >= -mu |x_N| |y_T|, also for one that slips already, with x_T = mu x_N d. With v = U^T x, the
// difference of the motions in the mass metric,
//
//     |v|^2 = x^T Phi x = -x y <= sum mu |x_N| |y_T|.
//
// Let P project off the span of all rows but the normal ones of contacts with friction. P v = P U_N^T x_N
// determines x_N, y_T depends on v - P v alone, and |P v| |v - P v| <= |v|^2/2. So v = 0 if, with D =
// diag(sqrt(mu)),
//
//     lambda_max(D G D) lambda_max(D Phi_TT D) < 4,     G = (U_N P U_N^T)^-1.                           [friction-13]
//
// Dependent normal rows, sum w_i u_i = 0, as of the four corners of a face, with w Phi0_N = 0. In every
// solution w r_N = 0: contacts separate on both sides of the signs of w or not at all, so that the normal
// forces are those of least norm, none of them negative, that have their resultant
// (UniqueMotion::share_load). They are a function of it, and each piece of this function is a mean of those
// that leave out one contact. The largest G without one of the rows is taken. Forces of other norms are
// admissible only where all contacts stick, which is excluded apart (UniqueMotion::excludes_stick).
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/eigenvalue_bound.h"
#include "kernels/dynamics/projected_iteration.h"

namespace zwang {

template <class M>
struct Uniqueness : ProjectedIteration<M> {
  using Base = ProjectedIteration<M>;
  using Real = typename M::Real;
  using Unit = typename Base::Unit;
  using Base::phi, Base::phi0, Base::slack, Base::u, Base::unit, Base::units;
  static constexpr int n = M::n, most = 4, most_span = 16;

  // The contacts with friction, and the dependence of their normal rows, if there is one.
  struct Rubbing {
    int count = 0;
    int unit[most];
    bool dependent = false;
    Real w[most];
  };

  // False where there are none or too many, or where static friction exceeds sliding friction.
  ZWANG_DEVICE bool list_rubbing(Rubbing& rubbing) const {
    for (int k = 0; k < units; ++k) {
      if (!rubs(k)) continue;
      if (rubbing.count == most || (!unit[k].moving && unit[k].cone_static > unit[k].cone)) return false;
      rubbing.unit[rubbing.count++] = k;
    }
    return rubbing.count > 0;
  }
  ZWANG_DEVICE bool rubs(int k) const { return unit[k].kind == RowKind::contact && unit[k].cone > 0; }

  ZWANG_COLD bool has_one_motion(Rubbing& rubbing) const {
    SpanOfRows<Real, n, most_span> span;
    for (int j = 0; j < rubbing.count; ++j)
      for (int c = 1; c <= unit[rubbing.unit[j]].tangents; ++c)
        if (!span.add(u[unit[rubbing.unit[j]].row + c])) return false;
    const int slips = span.count;
    for (int k = 0; k < units; ++k)
      if (!rubs(k) && !span.add(u[unit[k].row])) return false;
    // U_N P U_N^T in units of mu.
    Real across[most][n], gram[most][most];
    for (int j = 0; j < rubbing.count; ++j) {
      const Unit& of = unit[rubbing.unit[j]];
      span.split(u[of.row], across[j]);
      for (int i = 0; i <= j; ++i)
        gram[i][j] = gram[j][i] = dot<n>(across[i], across[j]) / sqrt(of.cone * unit[rubbing.unit[i]].cone);
    }
    Real inverse[most][most], normal = 0;
    if (inverse_without(rubbing, -1, gram, inverse)) {
      normal = eigenvalue_bound(rubbing.count, inverse);
    } else {
      if (rubbing.count != most || slips != 3 || !are_corners_of_a_face(rubbing)) return false;
      for (int out = 0; out < most; ++out) {
        if (!inverse_without(rubbing, out, gram, inverse)) return false;
        if (out == most - 1) find_dependence(gram, inverse, rubbing);
        normal = maximum(normal, eigenvalue_bound(most - 1, inverse));
      }
      if (!is_consistent(rubbing)) return false;
    }
    return normal * slip_bound(rubbing) < Real(3.99);
  }
  // The inverse of `gram` without one of its rows; false where the others are dependent too.
  ZWANG_DEVICE bool inverse_without(const Rubbing& rubbing, int out, const Real (&gram)[most][most],
                                    Real (&inverse)[most][most]) const {
    int m = 0;
    Real least[most];
    for (int i = 0; i < rubbing.count; ++i) {
      if (i == out) continue;
      int other = 0;
      for (int j = 0; j < rubbing.count; ++j)
        if (j != out) inverse[m][other++] = gram[i][j];
      const Unit& of = unit[rubbing.unit[i]];
      least[m++] = Real(1e3) * Precision<Real>::dependent * phi[of.row][of.row] / of.cone;
    }
    return invert_positive(m, least, inverse);
  }
  // lambda_max(D Phi_TT D)
  ZWANG_COLD Real slip_bound(const Rubbing& rubbing) const {
    Real gram[2 * most][2 * most], weight[2 * most];
    int row[2 * most], m = 0;
    for (int j = 0; j < rubbing.count; ++j)
      for (int c = 1; c <= unit[rubbing.unit[j]].tangents; ++c, ++m) {
        row[m] = unit[rubbing.unit[j]].row + c;
        weight[m] = sqrt(unit[rubbing.unit[j]].cone);
      }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) gram[i][j] = weight[i] * weight[j] * phi[row[i]][row[j]];
    return eigenvalue_bound(m, gram);
  }

  // Where two of the contacts stick, all of them do, as of a rigid body on a plane, and nothing but equations
  // acts beside them.
  ZWANG_COLD bool are_corners_of_a_face(const Rubbing& rubbing) const {
    for (int k = 0; k < units; ++k)
      if (!rubs(k) && unit[k].kind != RowKind::equation) return false;
    for (int j = 0; j < most; ++j) {
      const Unit& of = unit[rubbing.unit[j]];
      if (of.tangents != 2 || of.moving != unit[rubbing.unit[0]].moving) return false;
      SpanOfRows<Real, n, 2> own;
      own.add(u[of.row + 1]);
      own.add(u[of.row + 2]);
      for (int i = 0; i < j; ++i) {
        Real rest[n], largest = 0;
        for (int c = 1; c <= 2; ++c) {
          const Real* other = u[unit[rubbing.unit[i]].row + c];
          largest = maximum(largest, own.split(other, rest) / norm<n>(other));
        }
        if (!(largest > Real(1e-3))) return false;
      }
    }
    return true;
  }
  // `inverse` is that of the first three rows.
  ZWANG_DEVICE void find_dependence(const Real (&gram)[most][most], const Real (&inverse)[most][most],
                                    Rubbing& rubbing) const {
    const Real last = sqrt(unit[rubbing.unit[most - 1]].cone);
    Real squares = 1;
    rubbing.w[most - 1] = -1;
    for (int i = 0; i < most - 1; ++i) {
      Real sum = 0;
      for (int j = 0; j < most - 1; ++j) sum += inverse[i][j] * gram[j][most - 1];
      rubbing.w[i] = sum * last / sqrt(unit[rubbing.unit[i]].cone);
      squares += square(rubbing.w[i]);
    }
    for (int i = 0; i < most; ++i) rubbing.w[i] /= sqrt(squares);
    rubbing.dependent = true;
  }
  // Whether the normal rows themselves are dependent, not only beside the others, and w Phi0_N = 0.
  ZWANG_DEVICE bool is_consistent(const Rubbing& rubbing) const {
    Real sum[n], size = 0, rate = 0, zero = 0;
    for (int i = 0; i < n; ++i) sum[i] = 0;
    for (int j = 0; j < most; ++j) {
      const int i = unit[rubbing.unit[j]].row;
      const Real w = rubbing.w[j];
      add_multiple<n>(w, u[i], sum);
      size += absolute(w) * norm<n>(u[i]);
      rate += w * phi0[i];
      zero += absolute(w) * slack[i];
    }
    return norm<n>(sum) <= sqrt(Precision<Real>::dependent) * size && absolute(rate) <= zero;
  }
};

}  // namespace zwang
