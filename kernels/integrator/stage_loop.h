// A Runge-Kutta step of one GPU lane, with its state in registers. By default it is a loop over the stages,
// so that the code has one copy of the right side and not a dozen: in long code, instruction fetch limits the
// warps. The sums of a stage are selected by a uniform branch, and the rates of the stages are in the lane's
// local memory, which is cached. Where the right side is short and the rates fit into registers, the stages
// are unrolled (UnrolledStages), without branch and without local memory.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// Weights by row: rows 1 to `last` are the stages, the rows after that the error estimates.
template <class Method>
struct StageTable {
  static constexpr int estimates = !Method::adaptive ? 0 : Method::last == Dop853::last ? 2 : 1;
  ZWANG_CONSTANT static constexpr double weight_at(int row, int j) {
    if constexpr (estimates > 0)
      if (row > Method::last) return j < Method::error_count ? Method::error(row - Method::last - 1, j) : 0;
    return j < row ? Method::a(row, j) : 0;
  }
  // As PositionWeights<W>.
  ZWANG_CONSTANT static constexpr double position_weight_at(int row, int j) {
    double sum = 0;
    for (int l = j + 1; l <= Method::last; ++l) sum += weight_at(row, l) * Method::a(l, j);
    return sum;
  }
};

// The same weights in constant memory, in the order of use.
template <class Method, class R>
struct StageWeights {
  static constexpr int rows = Method::last + 1 + StageTable<Method>::estimates, columns = Method::last + 1;
  R weight[rows][columns][2];
  ZWANG_CONSTANT constexpr StageWeights() : weight{} {
    for (int row = 1; row < rows; ++row)
      for (int j = 0; j < columns; ++j) {
        weight[row][j][0] = R(StageTable<Method>::weight_at(row, j));
        weight[row][j][1] = R(StageTable<Method>::position_weight_at(row, j));
      }
  }
};
template <class Method, class R>
ZWANG_CONSTANT_MEMORY StageWeights<Method, R> stage_weights{};

// Positions of the stages as fractions of the step, without the first stage.
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
struct RegisterStep {
  using Table = StageTable<Method>;
  static constexpr int rates = size - n;  // number of rates stored for each stage
  R h;
  R first_rate[rates], last_rate[rates], end[size];
  // The rates of the stages are outside of this object: an array indexed by a variable is in local memory,
  // and the compiler would place the whole lane group there with it.
  struct alignas(16) Stages {
    R k[Method::last + 1][rates];
  };
  Stages* stages = nullptr;
  static constexpr bool stages_in_registers =
      Method::unrolled;  // unless their address is passed to a function

  ZWANG_INLINE R* first() { return first_rate; }
  ZWANG_INLINE const R* first() const { return first_rate; }
  ZWANG_INLINE R* last() { return last_rate; }
  ZWANG_INLINE const R* last() const { return last_rate; }
  ZWANG_INLINE R (*stage_rates())[rates] { return stages->k; }

  template <class F>
  ZWANG_INLINE void take(R t, const R* y, const F& right_side) {
    R sum[rates], rate[size];
    ZWANG_REGISTERS for (int m = 0; m < rates; ++m) { stages->k[0][m] = first_rate[m]; }
    if constexpr (Method::unrolled)
      unrolled_stages<1>(t, y, right_side, sum, rate);
    else
      loop_over_stages(t, y, right_side, sum, rate);
    ZWANG_REGISTERS for (int c = fed_back; c < size; ++c) { end[c] = y[c] + h * sum[c - n]; }
    ZWANG_REGISTERS for (int m = 0; m < rates; ++m) { last_rate[m] = rate[n + m]; }
  }

  // As StepArrays::squared_error().
  template <int controlled>
  ZWANG_INLINE R squared_error(const R* y, R rtol, R atol) const {
    R five = R(0), three = R(0);
    ZWANG_REGISTERS for (int c = 0; c < controlled; ++c) {
      const R scale = rough_inverse(atol + rtol * maximum(absolute(y[c]), absolute(end[c])));
      five = five + square(estimate<0>(c) * scale);
      if constexpr (Table::estimates > 1) three = three + square(estimate<1>(c) * scale);
    }
    return squared_error_of<Method, controlled>(h, rtol, five, three);
  }

 private:
  template <int i, class F>
  ZWANG_INLINE void unrolled_stages(R t, const R* y, const F& right_side, R* sum, R* rate) {
    R bend[n];
    sum_stages<i>(stages->k, sum, bend);
    stage(i, stage_nodes<Method, R>.part[i - 1], t, y, right_side, sum, bend, rate);
    if constexpr (i < Method::last) unrolled_stages<i + 1>(t, y, right_side, sum, rate);
  }

  template <class F>
  ZWANG_INLINE void loop_over_stages(R t, const R* y, const F& right_side, R* sum, R* rate) {
    R bend[n];
    ZWANG_ROLLED for (int i = 1; i <= Method::last; ++i) {
      R part = R(0);
      switch (i) {
#define ZWANG_STAGE_CASE(number)                \
  case number:                                  \
    if constexpr (number <= Method::last) {     \
      sum_stages<number>(stages->k, sum, bend); \
      part = R(Method::c(number));              \
    }                                           \
    break;
        ZWANG_STAGE_CASE(1)
        ZWANG_STAGE_CASE(2)
        ZWANG_STAGE_CASE(3)
        ZWANG_STAGE_CASE(4)
        ZWANG_STAGE_CASE(5)
        ZWANG_STAGE_CASE(6)
        ZWANG_STAGE_CASE(7)
        ZWANG_STAGE_CASE(8)
        ZWANG_STAGE_CASE(9)
        ZWANG_STAGE_CASE(10)
        ZWANG_STAGE_CASE(11)
        ZWANG_STAGE_CASE(12)
#undef ZWANG_STAGE_CASE
        default:
          __builtin_unreachable();  // saves the range check of the jump table
      }
      stage(i, part, t, y, right_side, sum, bend, rate);
    }
  }

  template <class F>
  ZWANG_INLINE void stage(int i, R part, R t, const R* y, const F& right_side, const R* sum, const R* bend,
                          R* rate) {
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) { end[c] = y[c] + h * (part * y[n + c] + h * bend[c]); }
    ZWANG_REGISTERS for (int c = n; c < fed_back; ++c) { end[c] = y[c] + h * sum[c - n]; }
    right_side(t + part * h, end, rate);
    ZWANG_REGISTERS for (int m = 0; m < rates; ++m) { stages->k[i][m] = rate[n + m]; }
  }

  // Sums over the stages so far: of the rates (`sum`), and for the positions of the accelerations (`bend`).
  // Numbers that do not enter the right side (integrals, the work) are summed once, for the end of the step.
  template <int row, int j = 0>
  ZWANG_INLINE static void sum_stages(const R (*k)[rates], R* sum, R* bend) {
    if constexpr (in_memory) {
      ZWANG_REGISTERS for (int m = 0; m < rates; ++m) {
        R total = R(0), bent = R(0);
        add_stages<row>(k, m, total, bent);
        sum[m] = total;
        if (m < n) bend[m] = bent;
      }
      return;
    }
    if constexpr (j == 0) {
      ZWANG_REGISTERS for (int m = 0; m < rates; ++m) { sum[m] = R(0); }
      ZWANG_REGISTERS for (int c = 0; c < n; ++c) { bend[c] = R(0); }
    }
    if constexpr (j <= Method::last) {
      constexpr bool counts = Table::weight_at(row, j) != 0, bends = Table::position_weight_at(row, j) != 0;
      ZWANG_REGISTERS for (int m = 0; m < rates; ++m) {
        if (counts && (m < fed_back - n || row == Method::last))
          sum[m] = sum[m] + weight<row, j, false>() * k[j][m];
        if (bends && m < n) bend[m] = bend[m] + weight<row, j, true>() * k[j][m];
      }
      sum_stages<row, j + 1>(k, sum, bend);
    }
  }

  // The same for one component, in registers: long arrays are in memory, and are passed once.
  static constexpr bool in_memory = rates > 64;
  template <int row, int j = 0>
  ZWANG_INLINE static void add_stages(const R (*k)[rates], int m, R& total, R& bent) {
    if constexpr (j <= Method::last) {
      constexpr bool counts = Table::weight_at(row, j) != 0, bends = Table::position_weight_at(row, j) != 0;
      if constexpr (counts || bends) {
        const R rate = k[j][m];
        if constexpr (counts) total = total + weight<row, j, false>() * rate;
        if constexpr (bends) bent = bent + weight<row, j, true>() * rate;
      }
      add_stages<row, j + 1>(k, m, total, bent);
    }
  }

  template <int which>
  ZWANG_INLINE R estimate(int c) const {
    constexpr int row = Method::last + 1 + which;
    return c < n ? h * sum_of<row, true>(c) : sum_of<row, false>(c - n);
  }
  // The sum of one component; `position`: with the weights of the accelerations in positions.
  template <int row, bool position, int j = 0>
  ZWANG_INLINE R sum_of(int m) const {
    if constexpr (j > Method::last)
      return R(0);
    else if constexpr ((position ? Table::position_weight_at(row, j) : Table::weight_at(row, j)) == 0)
      return sum_of<row, position, j + 1>(m);
    else
      return weight<row, j, position>() * stages->k[j][m] + sum_of<row, position, j + 1>(m);
  }

  // In a loop the compiler prefetches operands from constant memory, and registers run short: there the
  // weights are literals.
  template <int row, int j, bool position>
  ZWANG_INLINE static R weight() {
    if constexpr (Method::unrolled)
      return stage_weights<Method, R>.weight[row][j][position];
    else
      return R(position ? Table::position_weight_at(row, j) : Table::weight_at(row, j));
  }
};

// The step type of a lane group: with all stages in memory on a CPU, in registers on a GPU.
template <bool stages_in_memory, class Method, int n, int size, int fed_back, class R>
struct StepOf {
  using Type = StepArrays<Method, n, size, fed_back, R>;
};
template <class Method, int n, int size, int fed_back, class R>
struct StepOf<false, Method, n, size, fed_back, R> {
  using Type = RegisterStep<Method, n, size, fed_back, R>;
};

}  // namespace zwang
