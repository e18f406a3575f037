// Terms of the right side that depend on time alone (Model::drive), evaluated at all stages of a step at
// once.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/simd/sincos.h"

namespace zwang {

// Stage i + 1 is w[i]; the first stage of a step is the last of the step before.
template <class Model, class Method, int width, class R>
struct StageDrive {
  static constexpr int count = Method::last;
  // Most methods evaluate the end of a step twice.
  static constexpr int different = Method::c(count) == Method::c(count - 1) ? count - 1 : count;
  R w[count][width];

  // `node[i]`: the position of stage i + 1 as a fraction of the step.
  template <class Nodes>
  ZWANG_INLINE void evaluate(const R* k, R t, R h, const Nodes& node) {
    if (!evaluate_checked(k, t, h, node)) {
      ZWANG_ROLLED for (int i = 0; i < different; ++i) { Model::drive(k, t + R(node[i]) * h, w[i]); }
    }
    ZWANG_REGISTERS for (int j = 0; j < Model::drives; ++j) { w[count - 1][j] = w[different - 1][j]; }
  }

 private:
  // By branch-free sines where multiply-adds are fused. False if an angle was out of their range.
  template <class Nodes>
  ZWANG_INLINE bool evaluate_checked(const R* k, R t, R h, const Nodes& node) {
    constexpr bool possible = ZWANG_FUSES && same_type<R, double>;
    bool in_range = possible;
    if constexpr (possible) {
      CheckedSinCos constants[at_least_one(Model::constants)];
      ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { constants[i] = CheckedSinCos(k[i]); }
      ZWANG_REGISTERS for (int i = 0; i < different; ++i) {
        CheckedSinCos made[width];
        Model::drive(constants, CheckedSinCos(t + node[i] * h), made);
        ZWANG_REGISTERS for (int j = 0; j < Model::drives; ++j) {
          w[i][j] = made[j].x;
          in_range = in_range & made[j].in_range;
        }
      }
    }
    return in_range;
  }
};

}  // namespace zwang
