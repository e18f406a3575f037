// All sets of directions in which up to three contacts in space may begin to slip together [friction-7]. The reference is
// src/laws/slip_directions.cpp.
//
// With the other rows of a choice eliminated, the normal multipliers x and the slips r of the contacts that begin to slip
// are affine in their frictions T_j = mu_j x_j d_j:
//
//     x_i = b_i - sum_j c_ij . T_j,     r_i = a_i - sum_j E_ij T_j,     and r_i must point along d_i.
//
// The slip across, F_i = d_i x r_i, times det(1 + mu c d) is a polynomial of degree two in the cosine and sine of its own
// angle and of degree one in those of the others: one contact has at most four solutions, two have at most 20. Newton's
// method is started from a grid of angles; nodes whose first step leads beyond the neighbouring nodes are left out, since
// a root near them is found from a nearer node. Iterations from one start alone find one solution of several, and which
// one depends on the start.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/dense_solve.h"

namespace zwang {

template <class Real>
struct DirectionRoots {
  static constexpr int most = 3, most_roots = 8;
  int count = 0;  // contacts
  Real mu[most], b[most], c[most][most][2], a[most][2], e[most][most][2][2];
  int roots = 0;
  Real root[most_roots][most][2], slip[most_roots][most][2];  // d_j and r_j

  ZWANG_COLD void find() {
    const int per_angle = count == 3 ? 8 : 12;
    int nodes = 1;
    for (int j = 0; j < count; ++j) nodes *= per_angle;
    for (int node = 0; node < nodes && roots < most_roots; ++node) {
      Real d[most][2];
      int rest = node;
      for (int j = 0; j < count; ++j, rest /= per_angle) {
        // Not at multiples of a right angle, where symmetric systems have vanishing derivatives.
        const Real angle = (Real(rest % per_angle) + Real(0.4) + Real(0.1) * Real(j)) *
                           Real(6.283185307179586) / Real(per_angle);
        d[j][0] = cos(angle);
        d[j][1] = sin(angle);
      }
      Slip at;
      if (!converges(Real(2) * Real(6.283185307179586) / Real(per_angle), d) || !is_slip(d, at) ||
          is_known(at))
        continue;
      for (int j = 0; j < count; ++j)
        for (int k = 0; k < 2; ++k) {
          root[roots][j][k] = d[j][k];
          slip[roots][j][k] = at.r[j][k];
        }
      ++roots;
    }
  }

 private:
  struct Slip {
    Real x[most], r[most][2];
    bool regular;
  };
  using Matrix = Real[most][most];

  // The inverse by cofactors, which serves several right sides, of a matrix whose missing rows and columns are those of
  // the unit matrix. False if the determinant is `small` beside the product of the largest entries of the rows.
  ZWANG_DEVICE static bool invert(const Matrix& m, Real small, Matrix& inverse) {
    Real sizes = 1;
    for (int i = 0; i < most; ++i) {
      sizes *= maximum(maximum(absolute(m[i][0]), absolute(m[i][1])), absolute(m[i][2]));
      const int k = (i + 1) % 3, l = (i + 2) % 3;
      for (int j = 0; j < most; ++j) {
        const int p = (j + 1) % 3, q = (j + 2) % 3;
        inverse[j][i] = m[k][p] * m[l][q] - m[k][q] * m[l][p];
      }
    }
    const Real determinant = m[0][0] * inverse[0][0] + m[0][1] * inverse[1][0] + m[0][2] * inverse[2][0];
    if (!(absolute(determinant) > small * sizes)) return false;
    const Real factor = 1 / determinant;
    for (int i = 0; i < most; ++i)
      for (int j = 0; j < most; ++j) inverse[i][j] *= factor;
    return true;
  }
  ZWANG_DEVICE static void set_unit(Matrix& m) {
    for (int i = 0; i < most; ++i)
      for (int j = 0; j < most; ++j) m[i][j] = i == j ? Real(1) : Real(0);
  }

  // x and r for the directions d, and the inverse of 1 + mu c d.
  ZWANG_DEVICE void evaluate(const Real (&d)[most][2], Matrix& inverse, Slip& at) const {
    Matrix matrix;
    set_unit(matrix);
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) matrix[i][j] += mu[j] * (c[i][j][0] * d[j][0] + c[i][j][1] * d[j][1]);
    at.regular = invert(matrix, Precision<Real>::epsilon, inverse);
    for (int i = 0; i < count; ++i) {
      at.x[i] = 0;
      for (int j = 0; j < count && at.regular; ++j) at.x[i] += inverse[i][j] * b[j];
    }
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < 2; ++k) {
        at.r[i][k] = a[i][k];
        for (int j = 0; j < count; ++j)
          at.r[i][k] -= mu[j] * at.x[j] * (e[i][j][k][0] * d[j][0] + e[i][j][k][1] * d[j][1]);
      }
  }

  // Newton's method from d. False if it does not converge, or if its first step is longer than `reach`.
  ZWANG_DEVICE bool converges(Real reach, Real (&d)[most][2]) const {
    for (int pass = 0; pass < 25; ++pass) {
      Real step[most], largest = 0;
      if (!newton_step(d, step)) return false;
      for (int j = 0; j < count; ++j) largest = maximum(largest, absolute(step[j]));
      if (!is_finite(largest) || (pass == 0 && largest > reach)) return false;
      for (int j = 0; j < count; ++j) turn(maximum(minimum(step[j], Real(0.5)), Real(-0.5)), d[j]);
      // Quadratic convergence: the step after this one would be rounding.
      if (largest <= sqrt(Precision<Real>::epsilon)) return true;
    }
    return false;
  }
  ZWANG_DEVICE bool newton_step(const Real (&d)[most][2], Real* step) const {
    Matrix inverse, jacobian;
    Real right[most];
    Slip at;
    evaluate(d, inverse, at);
    if (!at.regular) return false;
    set_unit(jacobian);
    for (int j = 0; j < count; ++j) {
      // Turning d_j by one radian: changes of x, then of r.
      const Real t[2] = {-d[j][1], d[j][0]}, force = mu[j] * at.x[j];
      Real x_rate[most];
      for (int i = 0; i < count; ++i) {
        x_rate[i] = 0;
        for (int k = 0; k < count; ++k)
          x_rate[i] -= inverse[i][k] * force * (c[k][j][0] * t[0] + c[k][j][1] * t[1]);
      }
      for (int i = 0; i < count; ++i) {
        Real r_rate[2];
        for (int k = 0; k < 2; ++k) {
          r_rate[k] = -force * (e[i][j][k][0] * t[0] + e[i][j][k][1] * t[1]);
          for (int l = 0; l < count; ++l)
            r_rate[k] -= mu[l] * x_rate[l] * (e[i][l][k][0] * d[l][0] + e[i][l][k][1] * d[l][1]);
        }
        jacobian[i][j] = d[i][0] * r_rate[1] - d[i][1] * r_rate[0];
        if (i == j) jacobian[i][j] -= d[i][0] * at.r[i][0] + d[i][1] * at.r[i][1];
      }
    }
    // Rows in units of their largest entry.
    for (int i = 0; i < count; ++i) {
      Real largest = Precision<Real>::tiny;
      for (int j = 0; j < count; ++j) largest = maximum(largest, absolute(jacobian[i][j]));
      const Real unit = 1 / largest;
      for (int j = 0; j < count; ++j) jacobian[i][j] *= unit;
      right[i] = -(d[i][0] * at.r[i][1] - d[i][1] * at.r[i][0]) * unit;
    }
    solve_for_angles(jacobian, right, step);
    return true;
  }
  // Angles that nothing determines stay: contacts whose rows are dependent turn together.
  ZWANG_DEVICE void solve_for_angles(Matrix& jacobian, Real* right, Real* step) const {
    Matrix inverse;
    if (invert(jacobian, Real(100) * sqrt(Precision<Real>::epsilon), inverse)) {
      for (int i = 0; i < count; ++i) {
        step[i] = 0;
        for (int j = 0; j < count; ++j) step[i] += inverse[i][j] * right[j];
      }
      return;
    }
    const Real scale[most] = {1, 1, 1};
    solve_dense(count, jacobian, right, scale, 1000 * Precision<Real>::epsilon, step);
  }
  ZWANG_DEVICE static void turn(Real angle, Real* d) {
    const Real x = d[0] - angle * d[1], y = d[1] + angle * d[0], length = sqrt(x * x + y * y);
    d[0] = x / length;
    d[1] = y / length;
  }

  // Whether the contacts press and slip forwards, up to rounding, which is judged later.
  ZWANG_DEVICE bool is_slip(const Real (&d)[most][2], Slip& at) const {
    const Real rounding = sqrt(Precision<Real>::epsilon);
    Matrix inverse;
    evaluate(d, inverse, at);
    for (int i = 0; i < count; ++i) {
      Real normal = absolute(b[i]), terms = absolute(a[i][0]) + absolute(a[i][1]);
      for (int j = 0; j < count; ++j) {
        const Real force = absolute(mu[j] * at.x[j]);
        normal += force * (absolute(c[i][j][0]) + absolute(c[i][j][1]));
        for (int k = 0; k < 2; ++k)
          terms += force * (absolute(e[i][j][k][0] * d[j][0]) + absolute(e[i][j][k][1] * d[j][1]));
      }
      const Real along = d[i][0] * at.r[i][0] + d[i][1] * at.r[i][1];
      const Real across = d[i][0] * at.r[i][1] - d[i][1] * at.r[i][0];
      if (!(at.x[i] >= -rounding * normal) || !(along >= -rounding * terms)) return false;
      if (!(absolute(across) <= rounding * terms)) return false;
    }
    return true;
  }
  // Equal slips are one motion, since E is the matrix of their rows in the mass metric. Forces that are not unique have
  // a continuum of directions without slip.
  ZWANG_DEVICE bool is_known(const Slip& at) const {
    Real size = 0;
    for (int j = 0; j < count; ++j)
      for (int k = 0; k < 2; ++k) size = maximum(size, absolute(a[j][k]));
    for (int m = 0; m < roots; ++m) {
      Real apart = 0;
      for (int j = 0; j < count; ++j)
        for (int k = 0; k < 2; ++k) apart = maximum(apart, absolute(at.r[j][k] - slip[m][j][k]));
      if (apart <= 100 * sqrt(Precision<Real>::epsilon) * size) return true;
    }
    return false;
  }
};

}  // namespace zwang
