// The mass matrix as the kernels store it: n x n numbers, or the diagonal alone for long models, whose matrix
// is diagonal and would not fit into the memory of a lane.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"

namespace zwang {

// Whether a model is written as loops over families of formulas (src/emit/long_model.h). The emitter states
// it in such models only.
template <class Model, bool = true>
struct IsLongModel {
  static constexpr bool value = false;
};
template <class Model>
struct IsLongModel<Model, Model::is_long> {
  static constexpr bool value = true;
};
template <class Model>
constexpr bool is_long_model = IsLongModel<Model>::value;

// The numbers that Model::mass() writes.
template <class Model>
struct MassShape {
  static constexpr int n = Model::coordinates;
  static constexpr int entries = is_long_model<Model> ? n : n * n;
  ZWANG_CONSTANT static constexpr int diagonal(int i) { return is_long_model<Model> ? i : i * n + i; }

  // x M y
  template <class Real>
  ZWANG_INLINE static Real product(const Real* x, const Real* mass, const Real* y) {
    Real sum = 0;
    if constexpr (is_long_model<Model>) {
      for (int i = 0; i < n; ++i) sum += x[i] * mass[i] * y[i];
    } else {
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) sum += x[i] * mass[i * n + j] * y[j];
    }
    return sum;
  }
};

// The type of the square root of a model's mass matrix.
template <class Model, class Real, bool = is_long_model<Model>>
struct RootOf {
  using Type = MassRoot<Model::coordinates, Model::diagonal_mass, Real>;
};
template <class Model, class Real>
struct RootOf<Model, Real, true> {
  using Type = DiagonalRoot<Model::coordinates, 1, Real>;
};

}  // namespace zwang
