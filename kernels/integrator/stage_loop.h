// A step of a lane that lives in registers, for GPUs. As a rule it is a loop over the stages with one right side in the text and
// not a dozen: warps that wander through a long text wait for instructions more than for anything else. Which stage's sums a
// turn of the loop adds up is a jump that all lanes take together, and the stages' rates lie in the lane's own memory, which
// its cache holds. Where a right side is short and the rates fit into registers the stages are written out one after the
// other (WrittenOut): then there is neither a jump nor memory.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/simd/pack.h"

namespace zwang {

// Weights by row: rows 1 to `last` are the stages, then come the error estimates.
template <class Method>
struct StageTable {
  static constexpr int estimates = !Method::adaptive ? 0 : Method::last == Dop853::last ? 2 : 1;
  ZWANG_CONSTANT static constexpr double weight_at(int row, int j) {
    if constexpr (estimates > 0)
      if (row > Method::last) return j < Method::error_count ? Method::error(row - Method::last - 1, j) : 0;
    return j < row ? Method::a(row, j) : 0;
  }
  // As Through<W>.
  ZWANG_CONSTANT static constexpr double through_at(int row, int j) {
    double sum = 0;
    for (int l = j + 1; l <= Method::last; ++l) sum += weight_at(row, l) * Method::a(l, j);
    return sum;
  }
};

// The same where instructions find them, side by side as they are used.
template <class Method, class R>
struct StageWeights {
  static constexpr int rows = Method::last + 1 + StageTable<Method>::estimates, columns = Method::last + 1;
  R weight[rows][columns][2];
  ZWANG_CONSTANT constexpr StageWeights() : weight{} {
    for (int row = 1; row < rows; ++row)
      for (int j = 0; j < columns; ++j) {
        weight[row][j][0] = R(StageTable<Method>::weight_at(row, j));
        weight[row][j][1] = R(StageTable<Method>::through_at(row, j));
      }
  }
};
template <class Method, class R>
ZWANG_CONSTANT_MEMORY StageWeights<Method, R> stage_weights{};

// Where in the step the stages lie, all but the first.
template <class Method, class R>
struct StageNodes {
  typename Lanes<R>::Real part[Method::last];
  ZWANG_CONSTANT constexpr StageNodes() : part{} {
    for (int i = 0; i < Method::last; ++i) part[i] = typename Lanes<R>::Real(Method::c(i + 1));
  }
};
template <class Method, class R>
ZWANG_CONSTANT_MEMORY StageNodes<Method, R> stage_nodes{};

template <class Method, int n, int size, int fed_back, class R>
struct LaneStep {
  using Table = StageTable<Method>;
  static constexpr int kept = size - n;
  R h;
  R first_rate[kept], last_rate[kept], end[size];
  // The stages' rates, in memory that is not the crew's: an array with a running index would take the whole crew with it
  // into memory.
  struct alignas(16) Stages {
    R k[Method::last + 1][kept];
  };
  Stages* stages = nullptr;

  ZWANG_INLINE R* first() { return first_rate; }
  ZWANG_INLINE const R* first() const { return first_rate; }
  ZWANG_INLINE R* last() { return last_rate; }
  ZWANG_INLINE const R* last() const { return last_rate; }

  template <class F>
  ZWANG_INLINE void take(R t, const R* y, const F& right_side) {
    R sum[kept], rate[size];
    ZWANG_REGISTERS for (int m = 0; m < kept; ++m) stages->k[0][m] = first_rate[m];
    if constexpr (Method::written_out)
      write_out<1>(t, y, right_side, sum, rate);
    else
      go_round(t, y, right_side, sum, rate);
    ZWANG_REGISTERS for (int c = fed_back; c < size; ++c) end[c] = y[c] + h * sum[c - n];
    ZWANG_REGISTERS for (int m = 0; m < kept; ++m) last_rate[m] = rate[n + m];
  }

  // As StepArrays::squared_error().
  template <int judged>
  ZWANG_INLINE R squared_error(const R* y, R rtol, R atol) const {
    R five = R(0), three = R(0);
    ZWANG_REGISTERS for (int c = 0; c < judged; ++c) {
      const R scale = rough_inverse(atol + rtol * maximum(absolute(y[c]), absolute(end[c])));
      five = five + square(estimate<0>(c) * scale);
      if constexpr (Table::estimates > 1) three = three + square(estimate<1>(c) * scale);
    }
    return squared_error_of<Method, judged>(h, five, three);
  }

 private:
  template <int i, class F>
  ZWANG_INLINE void write_out(R t, const R* y, const F& right_side, R* sum, R* rate) {
    R bend[n];
    add_up<i>(stages->k, sum, bend);
    stage(i, stage_nodes<Method, R>.part[i - 1], t, y, right_side, sum, bend, rate);
    if constexpr (i < Method::last) write_out<i + 1>(t, y, right_side, sum, rate);
  }

  template <class F>
  ZWANG_INLINE void go_round(R t, const R* y, const F& right_side, R* sum, R* rate) {
    R bend[n];
    ZWANG_ROLLED for (int i = 1; i <= Method::last; ++i) {
      R part = R(0);
      switch (i) {
#define ZWANG_TURN(number)                  \
  case number:                              \
    if constexpr (number <= Method::last) { \
      add_up<number>(stages->k, sum, bend); \
      part = R(Method::c(number));          \
    }                                       \
    break;
        ZWANG_TURN(1)
        ZWANG_TURN(2)
        ZWANG_TURN(3)
        ZWANG_TURN(4)
        ZWANG_TURN(5)
        ZWANG_TURN(6)
        ZWANG_TURN(7)
        ZWANG_TURN(8)
        ZWANG_TURN(9)
        ZWANG_TURN(10)
        ZWANG_TURN(11)
        ZWANG_TURN(12)
#undef ZWANG_TURN
        default:
          __builtin_unreachable();  // spares the jump a comparison
      }
      stage(i, part, t, y, right_side, sum, bend, rate);
    }
  }

  template <class F>
  ZWANG_INLINE void stage(int i, R part, R t, const R* y, const F& right_side, const R* sum, const R* bend,
                          R* rate) {
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) end[c] = y[c] + h * (part * y[n + c] + h * bend[c]);
    ZWANG_REGISTERS for (int c = n; c < fed_back; ++c) end[c] = y[c] + h * sum[c - n];
    right_side(t + part * h, end, rate);
    ZWANG_REGISTERS for (int m = 0; m < kept; ++m) stages->k[i][m] = rate[n + m];
  }

  // Sums over the stages so far: of the rates, and for the positions of the rates behind the velocities. What no right side
  // asks for (integrals, the work) is added up once, for the step's end.
  template <int row, int j = 0>
  ZWANG_INLINE static void add_up(const R (*k)[kept], R* sum, R* bend) {
    if constexpr (j == 0) {
      ZWANG_REGISTERS for (int m = 0; m < kept; ++m) sum[m] = R(0);
      ZWANG_REGISTERS for (int c = 0; c < n; ++c) bend[c] = R(0);
    }
    if constexpr (j <= Method::last) {
      constexpr bool counts = Table::weight_at(row, j) != 0, bends = Table::through_at(row, j) != 0;
      ZWANG_REGISTERS for (int m = 0; m < kept; ++m) {
        if (counts && (m < fed_back - n || row == Method::last))
          sum[m] = sum[m] + weight<row, j, false>() * k[j][m];
        if (bends && m < n) bend[m] = bend[m] + weight<row, j, true>() * k[j][m];
      }
      add_up<row, j + 1>(k, sum, bend);
    }
  }

  template <int which>
  ZWANG_INLINE R estimate(int c) const {
    constexpr int row = Method::last + 1 + which;
    return c < n ? h * sum_of<row, true>(c) : sum_of<row, false>(c - n);
  }
  // Of one number; `through`: of the rates behind the velocities.
  template <int row, bool through, int j = 0>
  ZWANG_INLINE R sum_of(int m) const {
    if constexpr (j > Method::last)
      return R(0);
    else if constexpr ((through ? Table::through_at(row, j) : Table::weight_at(row, j)) == 0)
      return sum_of<row, through, j + 1>(m);
    else
      return weight<row, j, through>() * stages->k[j][m] + sum_of<row, through, j + 1>(m);
  }

  // In a loop, operands from memory are fetched ahead, and registers run short: there the weights are literals.
  template <int row, int j, bool through>
  ZWANG_INLINE static R weight() {
    if constexpr (Method::written_out)
      return stage_weights<Method, R>.weight[row][j][through];
    else
      return R(through ? Table::through_at(row, j) : Table::weight_at(row, j));
  }
};

// How a crew takes its steps.
template <bool stages_kept, class Method, int n, int size, int fed_back, class R>
struct StepOf {
  using Type = StepArrays<Method, n, size, fed_back, R>;
};
template <class Method, int n, int size, int fed_back, class R>
struct StepOf<false, Method, n, size, fed_back, R> {
  using Type = LaneStep<Method, n, size, fed_back, R>;
};

}  // namespace zwang
