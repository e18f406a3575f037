// Runge-Kutta methods: one step of every lane, each with its own step size.
//
// A method is a table: stages 0 .. last, where stage `last` is the end of the step (its row of coefficients
// are the weights), and further stages needed for the interpolant only. `sample_stage` and
// `second_sample_stage` (0: none) are well inside the step and are used as samples of the multipliers.
// `half_unsampled`: more than half of the step is without a stage. `expands`: the method uses power series
// (integrator/taylor_series.h). `unrolled`: the stages of a GPU's step are unrolled
// (integrator/stage_loop.h). `records`: lanes of a GPU evaluate the interpolant of their steps
// (lanes/dense_lane.h). `shrink`, `grow`: limits of the step length factor.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/integrator/dop853_coefficients.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// Ch. Tsitouras, Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying assumption,
// Computers & Mathematics with Applications 62 (2011) 770-775: tables 1 and 2.
struct Tsit5 {
  static constexpr bool adaptive = true, unrolled = false, records = false, expands = false,
                        half_unsampled = true;
  static constexpr int last = 6, stages = 7, terms = 4, sample_stage = 2, second_sample_stage = 0;
  static constexpr double shrink = 0.2, grow = 5;
  ZWANG_CONSTANT static constexpr double c(int i) {
    constexpr double table[7] = {0, 0.161, 0.327, 0.9, 0.9800255409045097, 1, 1};
    return table[i];
  }
  ZWANG_CONSTANT static constexpr double a(int i, int j) {
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
  static constexpr int error_count = 7;
  ZWANG_CONSTANT static constexpr double error(int, int j) {
    constexpr double table[7] = {-0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995,
                                 -0.1447110071732629,     0.5823571654525552,     -0.45808210592918697,
                                 0.015151515151515152};
    return table[j];
  }
  // The weights b_j(x) of the interpolant as polynomials: coefficient of x^(m+1), m = 0 .. 3. The paper gives
  // them factored.
  ZWANG_CONSTANT static constexpr double dense(int m, int j) {
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
    // lead x^2 (x^2 - sum x + product): the paper gives sum and product for j = 1, 2, the roots for the
    // others
    const double sum = j <= 2 ? r[j] : r[j] + s[j], product = j <= 2 ? s[j] : r[j] * s[j];
    const double w[4] = {0, product, -sum, 1};
    return lead[j] * w[m];
  }
};

struct Dop853 {
  static constexpr bool adaptive = true, unrolled = false, records = false, expands = false,
                        half_unsampled = false;
  static constexpr int last = 12, stages = 16, terms = 7, sample_stage = 9, second_sample_stage = 10;
  static constexpr double shrink = 0.333, grow = 20;
  ZWANG_CONSTANT static constexpr double c(int i) { return dop853::c(i); }
  ZWANG_CONSTANT static constexpr double a(int i, int j) { return dop853::a(i, j); }
  // Error estimates of order 5 (which = 0) and of order 3.
  static constexpr int error_count = dop853::stages;
  ZWANG_CONSTANT static constexpr double error(int which, int j) {
    return which == 0 ? dop853::error5(j) : dop853::error3(j);
  }
  // The terms of the interpolant beyond the cubic through both ends.
  ZWANG_CONSTANT static constexpr double dense(int m, int j) { return dop853::d(m, j); }
};

struct Rk4 {
  static constexpr bool adaptive = false, unrolled = false, records = false, expands = false,
                        half_unsampled = false;
  static constexpr int last = 4, stages = 5, terms = 3, sample_stage = 2, second_sample_stage = 0;
  static constexpr double shrink = 1, grow = 1;
  ZWANG_CONSTANT static constexpr double c(int i) {
    constexpr double table[5] = {0, 0.5, 0.5, 1, 1};
    return table[i];
  }
  ZWANG_CONSTANT static constexpr double a(int i, int j) {
    constexpr double table[5][4] = {{}, {0.5}, {0, 0.5}, {0, 0, 1}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};
    return table[i][j];
  }
};

// Power series of this degree while no condition is active (integrator/taylor_series.h), dop853 otherwise.
template <int degree, class Series_>
struct Taylor : Dop853 {
  static constexpr bool expands = true;
  static constexpr int order = degree, terms = degree > Dop853::terms ? degree : Dop853::terms;
  using Series = Series_;
};

// The method with unrolled stages in a GPU's step (integrator/stage_loop.h).
template <class Method>
struct UnrolledStages : Method {
  static constexpr bool unrolled = true;
};
// The method whose GPU lanes leave outputs and extremes inside their steps to zwang_record (entry/record_cuda.h).
template <class Method>
struct RecordingSteps : Method {
  static constexpr bool records = true;
};

// Weights of stages as types, so that sums over them are unrolled with constant weights and zeros are
// skipped. `PositionWeights<W>` are the weights of the accelerations where W are the weights of the
// velocities: stage velocities are themselves sums of accelerations, v_l = v + h sum_j a_lj a_j, hence sum_l
// w_l v_l = (sum_l w_l) v + h sum_j (sum_l w_l a_lj) a_j.
template <class Method_, int i>
struct RowWeights {
  using Method = Method_;
  static constexpr int count = i;
  ZWANG_CONSTANT static constexpr double at(int j) { return Method::a(i, j); }
};
template <class Method_, int which>
struct ErrorWeights {
  using Method = Method_;
  static constexpr int count = Method::error_count;
  ZWANG_CONSTANT static constexpr double at(int j) { return Method::error(which, j); }
};
template <class Method_, int m>
struct DenseWeights {
  using Method = Method_;
  static constexpr int count = Method::stages;
  ZWANG_CONSTANT static constexpr double at(int j) { return Method::dense(m, j); }
};
template <class W>
struct PositionWeights {
  using Method = typename W::Method;
  static constexpr int count = W::count - 1;
  ZWANG_CONSTANT static constexpr double at(int j) {
    double sum = 0;
    for (int l = j + 1; l < W::count; ++l) sum += W::at(l) * Method::a(l, j);
    return sum;
  }
};

// sum_j w_j k_j of one component.
template <class W, int j = 0, int width, class R>
ZWANG_INLINE R weighted(const R (*k)[width], int m, R sum) {
  if constexpr (j >= W::count) {
    return sum;
  } else {
    constexpr double w = W::at(j);
    if constexpr (w != 0) sum = sum + R(w) * k[j][m];
    return weighted<W, j + 1>(k, m, sum);
  }
}

// The squared error from the squares of both estimates, of order 5 and of order 3 [Hairer, Norsett, Wanner
// II.10], and from the square of the one of order 3 where the other vanishes by chance
// (dop853_coefficients.h). A number that is not finite stays so: both estimates are sums over the same
// stages.
template <class Method, int controlled, class R>
ZWANG_INLINE R squared_error_of(R h, R rtol, R five, R three) {
  if constexpr (Method::last == Dop853::last) {
    const R both = R(controlled) * (five + R(dop853::third_order_share) * three);
    const R published = if_less(R(0), both, square(h * five) / both, five);
    return larger(published, square(R(dop853::least_share / controlled) * rtol * (h * h * three)));
  } else {
    return square(h) * five * R(1.0 / controlled);
  }
}

// One step of y = (q, v, the rest), `size` numbers, of which n are positions. The rates of positions are
// velocities, so the stages store only the other rates: k[i][m] is the rate of number n + m. Only the first
// `fed_back` numbers enter the right side (integrals and work do not), so only those are computed inside the
// step.
template <class Method, int n, int size, int fed_back, class R>
struct StepArrays {
  static constexpr int rates = size - n;  // number of rates stored for each stage
  // Where the stages are in memory, the velocities of all stages are stored too: the sums over them have
  // fewer different constants. Registers have room only for the accelerations, which determine the
  // velocities.
  static constexpr bool velocities = ZWANG_STAGES_KEPT;
  static constexpr bool stages_in_registers = false;
  R h;
  R k[Method::stages][rates];
  R w[velocities ? Method::stages : 1][n];
  R end[size];

  // Rates at both ends, without those of the positions.
  ZWANG_INLINE R* first() { return k[0]; }
  ZWANG_INLINE const R* first() const { return k[0]; }
  ZWANG_INLINE R* last() { return k[Method::last]; }
  ZWANG_INLINE const R* last() const { return k[Method::last]; }
  ZWANG_INLINE R (*stage_rates())[rates] { return k; }

  // Stage i: its state and the rate there, by `right_side(t, y, rate)`.
  template <int i, class F>
  ZWANG_INLINE void stage(R t, const R* y, const F& right_side) {
    R there[size], rate[size];
    constexpr int used = i == Method::last ? size : fed_back;
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) {
      if constexpr (velocities && i <= Method::last) {
        there[c] = y[c] + h * weighted<RowWeights<Method, i>>(w, c, R(0));
      } else {
        const R bend = weighted<PositionWeights<RowWeights<Method, i>>>(k, c, R(0));
        there[c] = y[c] + h * (R(Method::c(i)) * y[n + c] + h * bend);
      }
    }
    ZWANG_REGISTERS for (int c = n; c < used; ++c) {
      there[c] = y[c] + h * weighted<RowWeights<Method, i>>(k, c - n, R(0));
    }
    if constexpr (velocities && i <= Method::last)
      for (int c = 0; c < n; ++c) w[i][c] = there[n + c];
    right_side(t + R(Method::c(i)) * h, there, rate);
    ZWANG_REGISTERS for (int m = 0; m < rates; ++m) { k[i][m] = rate[n + m]; }
    if constexpr (i == Method::last) {
      ZWANG_REGISTERS for (int c = 0; c < size; ++c) { end[c] = there[c]; }
    }
  }
  template <int first, int final, class F>
  ZWANG_INLINE void stages(R t, const R* y, const F& right_side) {
    if constexpr (first <= final) {
      stage<first>(t, y, right_side);
      stages<first + 1, final>(t, y, right_side);
    }
  }

  // The step from y at t; k[0] is the rate there.
  template <class F>
  ZWANG_INLINE void take(R t, const R* y, const F& right_side) {
    if constexpr (velocities)
      for (int c = 0; c < n; ++c) w[0][c] = y[n + c];
    stages<1, Method::last>(t, y, right_side);
  }
  // The stages of the interpolant (integrator/interpolant.h).
  template <class F>
  ZWANG_INLINE void complete_interpolant(R t, const R* y, const F& right_side) {
    stages<Method::last + 1, Method::stages - 1>(t, y, right_side);
  }

  // The squared error estimate of the first `controlled` numbers in units of the tolerance: 1 is just
  // acceptable. The tolerance enters with an error of half a percent (rough_inverse).
  template <int controlled>
  ZWANG_INLINE R squared_error(const R* y, R rtol, R atol) const {
    using Five = ErrorWeights<Method, 0>;
    using Three = ErrorWeights<Method, 1>;
    constexpr bool eighth = Method::last == Dop853::last;
    R five = R(0), three = R(0);
    ZWANG_REGISTERS for (int c = 0; c < controlled; ++c) {
      R scale = rough_inverse(atol + rtol * larger(absolute(y[c]), absolute(end[c])));
      if (velocities && c < n) {
        five = five + square(weighted<Five>(w, c, R(0)) * scale);
        if constexpr (eighth) three = three + square(weighted<Three>(w, c, R(0)) * scale);
      } else if (c < n) {
        scale = scale * h;
        five = five + square(weighted<PositionWeights<Five>>(k, c, R(0)) * scale);
        if constexpr (eighth) three = three + square(weighted<PositionWeights<Three>>(k, c, R(0)) * scale);
      } else {
        five = five + square(weighted<Five>(k, c - n, R(0)) * scale);
        if constexpr (eighth) three = three + square(weighted<Three>(k, c - n, R(0)) * scale);
      }
    }
    return squared_error_of<Method, controlled>(h, rtol, five, three);
  }
};

// The ratio of the next step length to this one: error^(-1/8), or nearly error^(-1/5), times a safety factor.
// A rejected step of twelve stages is expensive, hence the larger safety margin there.
template <class Method, class R>
ZWANG_INLINE R step_factor(R squared_error) {
  constexpr bool eighth = Method::last == Dop853::last;
  const R wanted = eighth ? R(0.8) * rough_16th(squared_error) : R(0.9) * rough_3_32nds(squared_error);
  // A NaN (no valid error) gives the smallest factor.
  const R valid = if_less(squared_error, infinity<R>(), wanted, R(Method::shrink));
  return lesser(larger(valid, R(Method::shrink)), R(Method::grow));
}

}  // namespace zwang
