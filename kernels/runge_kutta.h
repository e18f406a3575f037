// One Runge-Kutta step of every lane, each with its own step size, and the interpolant over a step.
//
// A method is a table: stages 0 .. last, of which `last` is the end of the step (its row of coefficients are the
// weights), and stages beyond it that only the interpolant needs.
#pragma once

#include "kernels/dop853_coefficients.h"
#include "kernels/pack.h"

namespace zwang {

// Ch. Tsitouras, Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying assumption, Computers &
// Mathematics with Applications 62 (2011) 770-775: tables 1 and 2.
struct Tsit5 {
  static constexpr bool adaptive = true;
  static constexpr int last = 6, stages = 7, terms = 4;
  static constexpr double shrink = 0.2, grow = 5;
  ZWANG_DEVICE static constexpr double c(int i) {
    constexpr double table[7] = {0, 0.161, 0.327, 0.9, 0.9800255409045097, 1, 1};
    return table[i];
  }
  ZWANG_DEVICE static constexpr double a(int i, int j) {
    constexpr double table[7][6] = {
        {},
        {0.161},
        {-0.008480655492356989, 0.335480655492357},
        {2.8971530571054935, -6.359448489975075, 4.3622954328695815},
        {5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525},
        {5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383},
        {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
         2.324710524099774}};
    return table[i][j];
  }
  // Fifth minus fourth order weights.
  ZWANG_DEVICE static constexpr double error(int j) {
    constexpr double table[7] = {-0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995,
                                 -0.1447110071732629,     0.5823571654525552,     -0.45808210592918697,
                                 0.015151515151515152};
    return table[j];
  }
  // The interpolant's weights b_j(x) as polynomials: coefficient of x^(m+1), m = 0 .. 3. The paper has them factored;
  // they are multiplied out here.
  ZWANG_DEVICE static constexpr double dense(int m, int j) {
    constexpr double lead[7] = {
        -1.0530884977290216,   0.1017, 2.490627285651252793, -16.54810288924490272, 47.37952196281928122,
        -34.87065786149660974, 2.5};
    constexpr double r[7] = {1.3299890189751412,
                             2.1966568338249754,
                             2.38535645472061657,
                             1.21712927295533244,
                             1.203071208372362603,
                             1.2,
                             1.0};
    constexpr double s[7] = {0.7139816917074209,
                             1.2949852507374631,
                             1.57803468208092486,
                             0.61620406037800089,
                             0.658047292653547382,
                             0.666666666666666667,
                             0.6};
    if (j == 0) {
      // lead x (x - r) (x^2 - p x + s)
      constexpr double p = 1.4364028541716351;
      const double w[4] = {-r[0] * s[0], s[0] + r[0] * p, -(p + r[0]), 1};
      return lead[0] * w[m];
    }
    // lead x^2 (x^2 - sum x + product): the paper writes the first two of these so, the others with their roots
    const double sum = j <= 2 ? r[j] : r[j] + s[j], product = j <= 2 ? s[j] : r[j] * s[j];
    const double w[4] = {0, product, -sum, 1};
    return lead[j] * w[m];
  }
};

struct Dop853 {
  static constexpr bool adaptive = true;
  static constexpr int last = 12, stages = 16, terms = 7;
  static constexpr double shrink = 0.333, grow = 20;
  ZWANG_DEVICE static constexpr double c(int i) { return dop853::c(i); }
  ZWANG_DEVICE static constexpr double a(int i, int j) { return dop853::a(i, j); }
};

struct Rk4 {
  static constexpr bool adaptive = false;
  static constexpr int last = 4, stages = 5, terms = 3;
  static constexpr double shrink = 1, grow = 1;
  ZWANG_DEVICE static constexpr double c(int i) {
    constexpr double table[5] = {0, 0.5, 0.5, 1, 1};
    return table[i];
  }
  ZWANG_DEVICE static constexpr double a(int i, int j) {
    constexpr double table[5][4] = {{}, {0.5}, {0, 0.5}, {0, 0, 1}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};
    return table[i][j];
  }
};

// sum_j<i a_ij k_j of one component; the weights are constants and zeros vanish.
template <class Method, int i, int j, int size, class R>
ZWANG_INLINE R stage_sum(const R (*k)[size], int n, R sum) {
  if constexpr (j == i) {
    return sum;
  } else {
    constexpr double w = Method::a(i, j);
    if constexpr (w != 0) sum = sum + R(w) * k[j][n];
    return stage_sum<Method, i, j + 1, size>(k, n, sum);
  }
}

// The arrays of one step. `size` numbers are integrated; only the first `fed_back` enter the right side (integrals and
// work do not), so only those are needed inside the step.
template <class Method, int size, int fed_back, class R>
struct StepArrays {
  R h;
  R k[Method::stages][size];
  R end[size];

  // Stage i: the state there and its rate, `right_side(t, y, rate)`.
  template <int i, class F>
  ZWANG_INLINE void stage(R t, const R* y, const F& right_side) {
    R there[size];
    constexpr int used = i == Method::last ? size : fed_back;
    for (int n = 0; n < used; ++n) there[n] = y[n] + h * stage_sum<Method, i, 0, size>(k, n, R(0));
    right_side(t + R(Method::c(i)) * h, there, k[i]);
    if constexpr (i == Method::last)
      for (int n = 0; n < size; ++n) end[n] = there[n];
  }
  template <int first, int final, class F>
  ZWANG_INLINE void stages(R t, const R* y, const F& right_side) {
    if constexpr (first <= final) {
      stage<first>(t, y, right_side);
      stages<first + 1, final>(t, y, right_side);
    }
  }

  // From y at t, whose rate stands in k[0].
  template <class F>
  ZWANG_INLINE void take(R t, const R* y, const F& right_side) {
    stages<1, Method::last>(t, y, right_side);
  }
  template <class F>
  ZWANG_INLINE void complete_interpolant(R t, const R* y, const F& right_side) {
    stages<Method::last + 1, Method::stages - 1>(t, y, right_side);
  }

  // The error estimate of the first `judged` numbers in units of the tolerance: 1 is just acceptable.
  template <int judged>
  ZWANG_INLINE R error_size(const R* y, R rtol, R atol) const {
    R five = R(0), three = R(0);
    for (int n = 0; n < judged; ++n) {
      const R scale = R(1) / (atol + rtol * maximum(absolute(y[n]), absolute(end[n])));
      R e5 = R(0), e3 = R(0);
      error_sums<0>(n, e5, e3);
      five = five + square(e5 * scale);
      three = three + square(e3 * scale);
    }
    if constexpr (Method::last == Dop853::last) {
      const R both = R(judged) * (five + R(dop853::third_order_share) * three);
      return if_less(R(0), both, absolute(h) * five / sqrt(both), five);
    } else {
      return absolute(h) * sqrt(five / R(judged));
    }
  }

 private:
  template <int j>
  ZWANG_INLINE void error_sums(int n, R& e5, R& e3) const {
    if constexpr (Method::last == Dop853::last && j < dop853::stages) {
      constexpr double w5 = dop853::error5(j), w3 = dop853::error3(j);
      if constexpr (w5 != 0) e5 = e5 + R(w5) * k[j][n];
      if constexpr (w3 != 0) e3 = e3 + R(w3) * k[j][n];
      error_sums<j + 1>(n, e5, e3);
    } else if constexpr (Method::last == Tsit5::last && j < Tsit5::stages) {
      constexpr double w = Tsit5::error(j);
      e5 = e5 + R(w) * k[j][n];
      error_sums<j + 1>(n, e5, e3);
    }
  }
};

// How much longer (or shorter) the next step may be: error^(-1/8), or nearly error^(-1/5), times a safety; roots by
// square roots, which every lane has. A rejected step of twelve stages costs much: hence the larger safety there.
template <class Method, class R>
ZWANG_INLINE R step_factor(R error) {
  const R eighth = sqrt(sqrt(sqrt(error)));
  const R root = Method::last == Dop853::last ? eighth : eighth * sqrt(eighth);
  const R wanted = R(Method::last == Dop853::last ? 0.8 : 0.9) / root;
  // A NaN (no valid error) shrinks as far as allowed.
  const R bounded = if_less(R(Method::shrink), wanted, wanted, R(Method::shrink));
  return minimum(bounded, R(Method::grow));
}

// The interpolant over one lane's step as a polynomial per component.
template <class Method, int size, class Real>
struct Interpolant {
  Real t, h;
  Real start[size], end[size];
  Real term[Method::terms][size];

  template <int fed_back, class R>
  ZWANG_COLD void make(const StepArrays<Method, size, fed_back, R>& step, Real t0, const R* y, int lane) {
    t = t0;
    h = lane_of(step.h, lane);
    for (int n = 0; n < size; ++n) {
      start[n] = lane_of(y[n], lane);
      end[n] = lane_of(step.end[n], lane);
    }
    if constexpr (Method::last == Tsit5::last) {
      for (int n = 0; n < size; ++n) tsit5_terms<0>(step, n, lane);
    } else {
      for (int n = 0; n < size; ++n) {
        const Real delta = end[n] - start[n];
        const Real first = h * lane_of(step.k[0][n], lane),
                   final = h * lane_of(step.k[Method::last][n], lane);
        term[0][n] = delta;
        term[1][n] = first - delta;
        term[2][n] = 2 * delta - (first + final);
        if constexpr (Method::last == Dop853::last) dop853_terms<0>(step, n, lane);
      }
    }
  }

  ZWANG_INLINE Real at(Real x, int n) const {
    if constexpr (Method::last == Tsit5::last) {
      return start[n] + x * (term[0][n] + x * (term[1][n] + x * (term[2][n] + x * term[3][n])));
    } else if constexpr (Method::last == Dop853::last) {
      const Real u = 1 - x;
      const Real inner = term[3][n] + x * (term[4][n] + u * (term[5][n] + x * term[6][n]));
      return start[n] + x * (term[0][n] + u * (term[1][n] + x * (term[2][n] + u * inner)));
    } else {
      const Real u = 1 - x;
      return start[n] + x * (term[0][n] + u * (term[1][n] + x * term[2][n]));
    }
  }
  ZWANG_DEVICE void at(Real x, Real* y) const {
    for (int n = 0; n < size; ++n) y[n] = x >= 1 ? end[n] : at(x, n);
  }

 private:
  template <int m, class S>
  ZWANG_INLINE void tsit5_terms(const S& step, int n, int lane) {
    if constexpr (m < 4) {
      term[m][n] = h * tsit5_sum<m, 0>(step, n, lane, Real(0));
      tsit5_terms<m + 1>(step, n, lane);
    }
  }
  template <int m, int j, class S>
  ZWANG_INLINE Real tsit5_sum(const S& step, int n, int lane, Real sum) const {
    if constexpr (j == Tsit5::stages) {
      return sum;
    } else {
      constexpr double w = Tsit5::dense(m, j);
      if constexpr (w != 0) sum += Real(w) * lane_of(step.k[j][n], lane);
      return tsit5_sum<m, j + 1>(step, n, lane, sum);
    }
  }
  template <int m, class S>
  ZWANG_INLINE void dop853_terms(const S& step, int n, int lane) {
    if constexpr (m < dop853::interpolant_rows) {
      term[3 + m][n] = h * dop853_sum<m, 0>(step, n, lane, Real(0));
      dop853_terms<m + 1>(step, n, lane);
    }
  }
  template <int m, int j, class S>
  ZWANG_INLINE Real dop853_sum(const S& step, int n, int lane, Real sum) const {
    if constexpr (j == dop853::extended_stages) {
      return sum;
    } else {
      constexpr double w = dop853::d(m, j);
      if constexpr (w != 0) sum += Real(w) * lane_of(step.k[j][n], lane);
      return dop853_sum<m, j + 1>(step, n, lane, sum);
    }
  }
};

}  // namespace zwang
