// Integrators of the hand-written programs: Dormand-Prince 5(4) and DOP853 for autonomous systems of fixed
// size.
//
// Sizes, coefficients and the right-hand side are known at compile time. Nothing is allocated, and zeros of
// the tableaus cost nothing. Only the table of coefficients is shared with the kernels, so that the two
// programs stay independent. Inlining is forced where leaving it to the compiler changed the speed by 40 %.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/integrator/dop853_coefficients.h"

namespace zwang::yardstick {

template <class Real, int size>
using Vector = std::array<Real, static_cast<std::size_t>(size)>;

// Short vectors are unrolled: a loop over two or four components gets vectorised, and packing values that the
// right-hand side needs unpacked costs a third of the speed. Long vectors stay loops, for SIMD.
template <std::size_t size, class Work>
[[gnu::always_inline]] inline void for_components(Work&& work) {
  if constexpr (size <= 4) {
    [&]<std::size_t... c>(std::index_sequence<c...>) __attribute__((always_inline)) { (work(c), ...); }
    (std::make_index_sequence<size>{});
  } else {
    for (std::size_t c = 0; c < size; ++c) work(c);
  }
}

// sum_j w_j k_j over the stages j of one component; Weight(j) is a constant, zeros are left out.
template <class Weight, class Real, class Stages, int... j>
[[gnu::always_inline]] inline Real weighted_sum(const Stages& k, std::size_t component,
                                                std::integer_sequence<int, j...>) {
  Real sum = 0;
  const auto add = [&]<int stage>(std::integral_constant<int, stage>) __attribute__((always_inline)) {
    constexpr double weight = Weight::at(stage);
    if constexpr (weight != 0) sum += static_cast<Real>(weight) * k[stage][component];
  };
  (add(std::integral_constant<int, j>{}), ...);
  return sum;
}

// J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980) 19.
struct DormandPrince5 {
  static constexpr const char* name = "dp5";
  static constexpr int stages = 6;
  static constexpr bool error_needs_end = true;
  static constexpr double largest_growth = 10, smallest_growth = 0.2;
  static constexpr float safety = 0.8F;

  // Row `stages` holds the weights of the step.
  static constexpr double a(int i, int j) {
    constexpr double table[7][6] = {{0},
                                    {1. / 5},
                                    {3. / 40, 9. / 40},
                                    {44. / 45, -56. / 15, 32. / 9},
                                    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                                    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                                    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
    return table[i][j];
  }

  struct Error {
    static constexpr double at(int j) {
      constexpr double table[7] = {71. / 57600,      0,         -71. / 16695, 71. / 1920,
                                   -17253. / 339200, 22. / 525, -1. / 40};
      return table[j];
    }
  };

  // Root mean square of the difference between the two methods; k includes the rate at the end.
  template <class Real, std::size_t size, class Stages>
  static Real error(const Stages& k, Real h) {
    Real squares = 0;
    for_components<size>([&](std::size_t c) {
      const Real e = weighted_sum<Error, Real>(k, c, std::make_integer_sequence<int, 7>{});
      squares += e * e;
    });
    return std::abs(h) * std::sqrt(squares / size);
  }

  // err^(-1/5). A step size needs no more digits than a float has.
  static float growth(float error) { return std::exp2(-0.2F * std::log2(error)); }
};

// Hairer, Norsett, Wanner; see kernels/integrator/dop853_coefficients.h.
struct Dop853 {
  static constexpr const char* name = "dp8";
  static constexpr int stages = dop853::stages;
  static constexpr bool error_needs_end = false;
  static constexpr double largest_growth = 6, smallest_growth = 0.333;
  static constexpr float safety = 0.7F;  // scanned: a rejected step costs more than a short one, 12 stages

  static constexpr double a(int i, int j) { return dop853::a(i, j); }

  struct Error5 {
    static constexpr double at(int j) { return dop853::error5(j); }
  };
  struct Error3 {
    static constexpr double at(int j) { return dop853::error3(j); }
  };

  template <class Real, std::size_t size, class Stages>
  static Real error(const Stages& k, Real h) {
    Real squares5 = 0, squares3 = 0;
    for_components<size>([&](std::size_t c) {
      const Real e5 = weighted_sum<Error5, Real>(k, c, std::make_integer_sequence<int, stages>{});
      const Real e3 = weighted_sum<Error3, Real>(k, c, std::make_integer_sequence<int, stages>{});
      squares5 += e5 * e5;
      squares3 += e3 * e3;
    });
    const Real sum = squares5 + static_cast<Real>(dop853::third_order_share) * squares3;
    return sum > 0 ? std::abs(h) * squares5 / std::sqrt(size * sum) : Real(0);
  }

  // err^(-1/8).
  static float growth(float error) { return 1 / std::sqrt(std::sqrt(std::sqrt(error))); }
};

// A system has `size`, and `rate(y, dy)`. Tolerances are absolute: the yardsticks' unknowns are of order one.
template <class Method, class System, class Real>
class Integrator {
 public:
  using State = Vector<Real, System::size>;

  Integrator(const System& system, const State& start, Real time, Real first_step, Real tolerance)
      : system_(system), state_(start), time_(time), step_(first_step), tolerance_(tolerance) {
    system_.rate(state_, stages_[0]);
  }

  const State& state() const { return state_; }
  const State& rate() const { return stages_[0]; }
  Real time() const { return time_; }
  Real step() const { return step_; }  // size of the next trial step
  int steps() const { return steps_; }
  const System& system() const { return system_; }
  void move_to(const State& state, Real time) {
    state_ = state;
    time_ = time;
  }

  // One accepted step, not beyond `end`.
  [[gnu::always_inline]] void advance(Real end) {
    for (;;) {
      const Real h = size_of_step(end - time_);
      State next = trial(h);
      if constexpr (Method::error_needs_end) system_.rate(next, stages_[Method::stages]);
      const Real error = Method::template error<Real, System::size>(stages_, h) / tolerance_;
      step_ = h * growth(error);
      ++steps_;
      if (error > 1) continue;

      if constexpr (!Method::error_needs_end) system_.rate(next, stages_[Method::stages]);
      state_ = next;
      stages_[0] = stages_[Method::stages];
      time_ += h;
      return;
    }
  }

  // The state after a step of size h (either sign). The integrator's state is unchanged; of its stages only
  // rate() is still valid.
  [[gnu::always_inline]] State trial(Real h) {
    [&]<int... i>(std::integer_sequence<int, i...>) { (evaluate_stage<i + 1>(h), ...); }
    (std::make_integer_sequence<int, Method::stages - 1>{});
    return argument<Method::stages>(h);
  }

 private:
  template <int i>
  struct Row {
    static constexpr double at(int j) { return Method::a(i, j); }
  };

  template <int i>
  [[gnu::always_inline]] State argument(Real h) const {
    State y;
    for_components<System::size>([&](std::size_t c) {
      y[c] = state_[c] + h * weighted_sum<Row<i>, Real>(stages_, c, std::make_integer_sequence<int, i>{});
    });
    return y;
  }

  template <int i>
  [[gnu::always_inline]] void evaluate_stage(Real h) {
    system_.rate(argument<i>(h), stages_[i]);
  }

  // The last two steps share the remaining time equally, which avoids a short last step.
  Real size_of_step(Real remaining) const {
    if (remaining <= step_) return remaining;
    return remaining < 2 * step_ ? remaining / 2 : step_;
  }

  Real growth(Real error) const {
    constexpr float least = 1e-30F;
    const float wanted = Method::safety * Method::growth(std::max(static_cast<float>(error), least));
    return std::clamp<Real>(wanted, Method::smallest_growth, Method::largest_growth);
  }

  System system_;
  State state_;
  std::array<State, Method::stages + 1> stages_;  // 0: the rate here; last: at the end of the trial
  Real time_, step_, tolerance_;
  int steps_ = 0;
};

}  // namespace zwang::yardstick
