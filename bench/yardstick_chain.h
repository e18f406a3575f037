// (iii) A chain of ten rods of length 0.1 with ten equal masses at their ends, from horizontal rest, in two
// forms.
//
// ChainByMassMatrix is the textbook form: Lagrange's equations in the angles, a full mass matrix, Cholesky.
// ChainByTensions uses the tridiagonal system that the tensions of a chain satisfy and is faster. Both
// integrate the same ten angles.
#pragma once

#include "bench/yardstick_systems.h"

namespace zwang::yardstick {

// work(first), work(first + 1), ..., work(last - 1) with compile-time indexes, which keep the arrays of
// triangular loops in registers. Compilers unroll nested triangular loops only in part.
template <int first, int last, class Work>
[[gnu::always_inline]] inline void unroll(Work&& work) {
  if constexpr (first < last) {
    work(std::integral_constant<int, first>{});
    unroll<first + 1, last>(work);
  }
}

template <class Real>
struct ChainStart {
  static constexpr int rods = 10, size = 2 * rods, points = rods;
  static constexpr Real end = 1;
  static constexpr Real length = static_cast<Real>(0.1L);
  Real gravity;

  Vector<Real, size> start() const {
    Vector<Real, size> y{};
    for (std::size_t i = 0; i < rods; ++i) y[i] = std::acos(Real(0));
    return y;
  }
  Vector<Real, 4 * rods> cartesian(const Vector<Real, size>& y) const {
    return chain_cartesian<Real, rods>(y, length);
  }
};

// With n_i = 10 - i points beyond rod i and the masses divided out, for every i:
//   sum_j n_max(i,j) (cos(a_i - a_j) w_j' + sin(a_i - a_j) w_j^2) = -n_i g/l sin a_i
template <class Real>
struct ChainByMassMatrix : ChainStart<Real> {
  static constexpr const char* name = "chain10";
  using ChainStart<Real>::rods, ChainStart<Real>::size, ChainStart<Real>::length;
  using ChainStart<Real>::gravity;

  void rate(const Vector<Real, size>& y, Vector<Real, size>& dy) const {
    Real matrix[rods][rods], x[rods];
    fill(y.data(), y.data() + rods, matrix, x);
    solve(matrix, x);
    for (std::size_t i = 0; i < rods; ++i) {
      dy[i] = y[rods + i];
      dy[rods + i] = x[i];
    }
  }

  template <class Method>
  Outcome<Real, rods> run(const Controls<Real>& controls) const {
    return run_smooth<Method>(*this, controls);
  }

 private:
  // The lower triangle of the matrix, and the right-hand side. Sines and cosines of differences are products.
  [[gnu::always_inline]] void fill(const Real* angle, const Real* w, Real (&matrix)[rods][rods],
                                   Real (&right)[rods]) const {
    Real s[rods], c[rods], ww[rods];
    for (int i = 0; i < rods; ++i) {
      s[i] = std::sin(angle[i]);
      c[i] = std::cos(angle[i]);
      ww[i] = w[i] * w[i];
      right[i] = -static_cast<Real>(rods - i) * (gravity / length) * s[i];
    }
    unroll<0, rods>([&](auto i) {
      constexpr Real beyond = rods - i;
      const Real sb = beyond * s[i], cb = beyond * c[i];
      matrix[i][i] = beyond;
      unroll<0, i>([&](auto j) {
        const Real sine = sb * c[j] - cb * s[j];
        matrix[i][j] = cb * c[j] + sb * s[j];
        right[i] -= sine * ww[j];
        right[j] += sine * ww[i];
      });
    });
  }

  // Cholesky without square roots, m = L D L^T, column by column. x: the right-hand side, then the solution.
  [[gnu::always_inline]] static void solve(const Real (&m)[rods][rods], Real (&x)[rods]) {
    Real l[rods][rods], d[rods], z[rods];
    unroll<0, rods>([&](auto j) {
      Real row[rods];  // of L D
      d[j] = m[j][j];
      z[j] = x[j];
      unroll<0, j>([&](auto k) {
        row[k] = l[j][k] * d[k];
        d[j] -= row[k] * l[j][k];
        z[j] -= l[j][k] * z[k];
      });
      const Real reciprocal = 1 / d[j];
      x[j] = z[j] * reciprocal;
      unroll<j + 1, rods>([&](auto i) {
        l[i][j] = m[i][j];
        unroll<0, j>([&](auto k) { l[i][j] -= l[i][k] * row[k]; });
        l[i][j] *= reciprocal;
      });
    });
    unroll<0, rods>([&](auto done) {
      constexpr int k = rods - 1 - done;
      unroll<0, k>([&](auto j) { x[j] -= l[k][j] * x[k]; });
    });
  }
};

// Rod i pulls its two ends together with the tension T_i (per unit of mass). Along the rod the accelerations
// of its ends differ by -l w_i^2, across it by l w_i'. With C_i, S_i the cosine and sine of a_(i+1) - a_i:
//   along:   2 T_i - C_i T_(i+1) - C_(i-1) T_(i-1) = l w_i^2;  first rod: T_0 - C_0 T_1 = l w_0^2 + g cos a_0
//   across:  l w_i' = S_i T_(i+1) - S_(i-1) T_(i-1);           first rod: - g sin a_0 besides
template <class Real>
struct ChainByTensions : ChainStart<Real> {
  static constexpr const char* name = "chain10_tensions";
  using ChainStart<Real>::rods, ChainStart<Real>::size, ChainStart<Real>::length;
  using ChainStart<Real>::gravity;

  void rate(const Vector<Real, size>& y, Vector<Real, size>& dy) const {
    Real s[rods], c[rods];
    for (std::size_t i = 0; i < rods; ++i) {
      s[i] = std::sin(y[i]);
      c[i] = std::cos(y[i]);
    }
    Real cosine[rods], sine[rods], tension[rods + 1];
    for (int i = 0; i + 1 < rods; ++i) {
      cosine[i] = c[i + 1] * c[i] + s[i + 1] * s[i];
      sine[i] = s[i + 1] * c[i] - c[i + 1] * s[i];
    }
    const Real* w = y.data() + rods;
    for (int i = 0; i < rods; ++i) tension[i] = length * w[i] * w[i];
    tension[0] += gravity * c[0];
    solve(cosine, tension);

    // There is no tension beyond the last rod.
    tension[rods] = sine[rods - 1] = 0;
    constexpr Real per_length = 1 / length;
    dy[rods] = per_length * (sine[0] * tension[1] - gravity * s[0]);
    for (std::size_t i = 1; i < rods; ++i)
      dy[rods + i] = per_length * (sine[i] * tension[i + 1] - sine[i - 1] * tension[i - 1]);
    for (std::size_t i = 0; i < rods; ++i) dy[i] = w[i];
  }

  template <class Method>
  Outcome<Real, rods> run(const Controls<Real>& controls) const {
    return run_smooth<Method>(*this, controls);
  }

 private:
  // Diagonal 1, 2, ..., 2 with -cosine beside it, eliminated from the free end, where no pivot comes near 0.
  // The pivots are ratios of determinants of the trailing blocks, which a recursion without divisions gives:
  // ten independent divisions are much faster than ten dependent ones.
  [[gnu::always_inline]] static void solve(const Real* cosine, Real* x) {
    Real tail[rods + 1], pivot[rods];  // pivot: reciprocals
    tail[rods] = 1;
    tail[rods - 1] = 2;
    for (int i = rods - 2; i >= 0; --i)
      tail[i] = (i == 0 ? 1 : 2) * tail[i + 1] - cosine[i] * cosine[i] * tail[i + 2];
    for (int i = 0; i < rods; ++i) pivot[i] = tail[i + 1] / tail[i];
    for (int i = rods - 2; i >= 0; --i) x[i] += cosine[i] * pivot[i + 1] * x[i + 1];
    x[0] *= pivot[0];
    for (int i = 1; i < rods; ++i) x[i] = pivot[i] * (x[i] + cosine[i - 1] * x[i - 1]);
  }
};

}  // namespace zwang::yardstick
