// The quadratic program on sparse rows against the one on dense rows: random chains of rows, some of them
// equations.
#include "kernels/dynamics/sparse_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "kernels/dynamics/least_constraint.h"
#include "kernels/dynamics/mass.h"

namespace zwang::sparse_program_test {
namespace {

// Row i is about points i - 1 and i in a plane, as in a rope; the rows are eliminated from first to last.
struct RopeRows {
  static constexpr int conditions = 12, coordinates = 2 * conditions, row_entries = 4 * conditions - 2;
  static int first_column(int i) { return i == 0 ? 0 : 4 * i - 2; }
  static int column(int e) { return e < 2 ? e : 2 * ((e - 2) / 4) + (e - 2) % 4; }
  struct VelocityElimination {
    static constexpr int size = conditions, entries = 2 * conditions - 1;
    static int order(int p) { return p; }
    static int first(int p) { return p < size ? p : size - 1; }
    static int row(int e) { return e + 1; }
    static int place(int e) { return size + e; }
    static int target(int) { return 0; }
  };
};

using DenseProgram = QuadraticProgram<RopeRows::coordinates, RopeRows::conditions,
                                      DiagonalRoot<RopeRows::coordinates, 1, double>, double>;

// Some conditions take no part.
template <class Program>
void pose(std::mt19937& random, Program& program) {
  std::uniform_real_distribution<double> number(-1, 1), positive(0.2, 3);
  std::bernoulli_distribution takes_part(0.8), equation(0.2);
  constexpr int n = RopeRows::coordinates;
  double mass[n];
  for (double& m : mass) m = positive(random);
  ASSERT_TRUE(program.root.factor(mass));
  for (double& x : program.free) x = number(random);
  for (int i = 0; i < RopeRows::conditions; ++i) {
    double a[n] = {};
    for (int e = RopeRows::first_column(i); e < RopeRows::first_column(i + 1); ++e)
      a[RopeRows::column(e)] = number(random);
    const double rest = number(random);
    const bool equal = equation(random);
    if (takes_part(random)) program.add_row(i, a, rest, equal);
  }
}

template <class Sparse>
void compare_with_dense() {
  constexpr double rounding = 1e-11;  // rows at angles of a hundredth at least, some dozen operations
  int inequalities_left_out = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    const auto dense = std::make_unique<DenseProgram>();
    const auto sparse = std::make_unique<Sparse>();
    std::mt19937 first(seed), second(seed);
    pose(first, *dense);
    pose(second, *sparse);
    dense->solve();
    sparse->solve();
    ASSERT_TRUE(dense->feasible && sparse->feasible) << seed;
    ASSERT_EQ(dense->count, sparse->count);
    double x[RopeRows::coordinates], y[RopeRows::coordinates], size = 1;
    dense->point(x);
    sparse->point(y);
    for (const double value : x) size += std::abs(value);
    for (int k = 0; k < RopeRows::coordinates; ++k) ASSERT_NEAR(x[k], y[k], rounding * size) << seed;
    for (int i = 0; i < dense->count; ++i) {
      ASSERT_NEAR(dense->length[i], sparse->length[i], rounding);
      ASSERT_NEAR(dense->mu[i], sparse->mu[i], 1e3 * rounding * size) << seed << ", row " << i;
      inequalities_left_out += !dense->equation[i] && dense->mu[i] == 0;
    }
    EXPECT_LE(sparse->kkt(), 1e-12) << seed;
  }
  EXPECT_GT(inequalities_left_out, 2000);  // the problems are not all solved by the first guess
}

TEST(SparseProgramTest, HasTheSolutionOfTheDenseProgram) {
  compare_with_dense<SparseProgram<RopeRows, double>>();
}

// Without exchanges of blocks: one row at a time.
TEST(SparseProgramTest, HasItRowByRowToo) { compare_with_dense<SparseProgram<RopeRows, double, 0>>(); }

}  // namespace
}  // namespace zwang::sparse_program_test
