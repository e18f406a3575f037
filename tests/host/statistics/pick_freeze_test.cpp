// Sobol' indices by pick-freeze: the estimators, their errors, and independence of batches and shards.
#include "host/statistics/pick_freeze.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>

namespace zwang::pick_freeze_test {
namespace {

// D-estimator, in exact fractions.
TEST(PickFreeze, AgreesWithTheFormulasOnFourRows) {
  const auto y = [](double p, double q) { return p + 2 * p * q + q * q; };
  const double a[4][2] = {{1, 2}, {3, -1}, {0, 4}, {2, 2}}, b[4][2] = {{2, 1}, {-1, 3}, {1, 1}, {4, 0}};
  std::vector<double> rows;
  for (int j = 0; j < 4; ++j) {
    for (const double x :
         {y(a[j][0], a[j][1]), y(b[j][0], b[j][1]), y(b[j][0], a[j][1]), y(a[j][0], b[j][1])})
      rows.push_back(x);
  }
  const PickFreezeResult found = indices_of(sums_of_rows(rows, 2, std::vector<char>(4, 1)));
  EXPECT_NEAR(found.variance, 515.0 / 14, 1e-13);
  EXPECT_NEAR(found.inputs[0].first, -49.0 / 103, 1e-14);
  EXPECT_NEAR(found.inputs[0].total, 777.0 / 1030, 1e-14);
  EXPECT_NEAR(found.inputs[1].first, -553.0 / 1030, 1e-14);
  EXPECT_NEAR(found.inputs[1].total, 4963.0 / 1030, 1e-14);
}

// Rows of y = 1000 + x1 + 2 x2^2 + x1 x3 with numbers of a linear congruential generator.
class Rows {
 public:
  explicit Rows(std::size_t count, double origin = 1000, double scale = 1) {
    const auto f = [&](const double* x) { return origin + scale * (x[0] + 2 * x[1] * x[1] + x[0] * x[2]); };
    for (std::size_t j = 0; j < count; ++j) {
      double p[3], q[3];
      for (double& x : p) x = uniform();
      for (double& x : q) x = uniform();
      values.push_back(f(p));
      values.push_back(f(q));
      for (int i = 0; i < 3; ++i) {
        double r[3] = {p[0], p[1], p[2]};
        r[i] = q[i];
        values.push_back(f(r));
      }
      whole.push_back(1);
    }
  }
  PickFreeze added(std::size_t batch) const {
    PickFreeze made(1, 3, 0);
    for (std::size_t k = 0; k < whole.size(); k += batch) {
      const std::size_t n = std::min(batch, whole.size() - k);
      made.add(std::span(values).subspan(5 * k, 5 * n), std::span(whole).subspan(k, n));
    }
    return made;
  }
  std::vector<double> values;
  std::vector<char> whole;

 private:
  double uniform() {
    state_ = (1103515245 * state_ + 12345) % 2147483648;
    return double(state_) / 2147483648.0;
  }
  std::uint64_t state_ = 12345;
};

// SALib 1.6.0: SALib.analyze.sobol.first_order and total_order of the same rows, centred at the mean of A and
// B, times (2N - 1)/2N for the divisor of the variance; standard errors by NumPy from the rows.
TEST(PickFreeze, AgreesWithSalibOnTheSameMembers) {
  const PickFreezeResult found = Rows(300).added(300).results()[0];
  const double first[] = {0.28251896050903647, 0.6494390485644309, 0.083456189241805};
  const double total[] = {0.3607537874026267, 0.6956613977688387, 0.05605581670371407};
  const double first_error[] = {0.04091816776649388, 0.06271362251220128, 0.02022717031503863};
  const double total_error[] = {0.03158023261709458, 0.052713876926583886, 0.006097168600970772};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.inputs[i].first, first[i], 1e-10);
    EXPECT_NEAR(found.inputs[i].total, total[i], 1e-10);
    EXPECT_NEAR(found.inputs[i].first_stderr, first_error[i], 1e-10);
    EXPECT_NEAR(found.inputs[i].total_stderr, total_error[i], 1e-10);
  }
  EXPECT_NEAR(found.variance, 0.5397829860695798, 1e-10);
  EXPECT_NEAR(found.interaction, -0.015414198315272465, 1e-10);
  EXPECT_NEAR(found.interaction_stderr, 0.07862429983878816, 1e-10);
}

void expect_equal(const PickFreezeResult& a, const PickFreezeResult& b, double tolerance) {
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    EXPECT_NEAR(a.inputs[i].first, b.inputs[i].first, tolerance);
    EXPECT_NEAR(a.inputs[i].total, b.inputs[i].total, tolerance);
    EXPECT_NEAR(a.inputs[i].first_stderr, b.inputs[i].first_stderr, tolerance);
    EXPECT_NEAR(a.inputs[i].total_stderr, b.inputs[i].total_stderr, tolerance);
  }
  EXPECT_EQ(a.rows, b.rows);
}

TEST(PickFreeze, DoesNotDependOnOriginAndScaleOfTheMeasure) {
  expect_equal(Rows(2000, 0, 1).added(2000).results()[0], Rows(2000, 1, 8).added(2000).results()[0], 1e-12);
}

TEST(PickFreeze, GivesTheSameBitsForBatchesShardsAndCheckpoints) {
  const Rows rows(1500);
  const PickFreezeResult whole = rows.added(1500).results()[0];
  for (const std::size_t batch : {1UL, 100UL, 256UL, 700UL})
    expect_equal(rows.added(batch).results()[0], whole, 0);

  PickFreeze left(1, 3, 0), right(1, 3, 512);
  left.add(std::span(rows.values).first(5 * 512), std::span(rows.whole).first(512));
  right.add(std::span(rows.values).subspan(5 * 512), std::span(rows.whole).subspan(512));
  left.join(right);
  expect_equal(left.results()[0], whole, 0);

  std::stringstream stream;
  PickFreeze half(1, 3, 0);
  half.add(std::span(rows.values).first(5 * 700), std::span(rows.whole).first(700));
  ByteWriter writer(stream);
  half.save(writer);
  writer.finish();
  PickFreeze loaded(1, 3, 0);
  ByteReader reader(stream, "half");
  loaded.load(reader, 700);
  loaded.add(std::span(rows.values).subspan(5 * 700), std::span(rows.whole).subspan(700));
  expect_equal(loaded.results()[0], whole, 0);
}

TEST(PickFreeze, LeavesOutRowsWithFailedMembersOrMissingValues) {
  Rows rows(600);
  rows.whole[3] = 0;
  rows.values[5 * 3] = 1e300;
  rows.values[5 * 400 + 4] = std::numeric_limits<double>::quiet_NaN();
  const PickFreezeResult found = rows.added(600).results()[0];
  EXPECT_EQ(found.rows, 598);
  EXPECT_EQ(found.failed, 1);
  EXPECT_EQ(found.missing, 1);
  EXPECT_NEAR(found.variance, 0.55, 0.1);
}

TEST(PickFreeze, HasNoIndicesOfAConstantAndExactlyZeroForAnIdleInput) {
  PickFreeze constant(1, 2, 0);
  constant.add(std::vector<double>(4 * 100, 7.0), std::vector<char>(100, 1));
  EXPECT_TRUE(std::isnan(constant.results()[0].inputs[0].total));
  // The second input enters nothing: f_i = f_A.
  std::mt19937_64 generator(2);
  std::vector<double> values;
  for (int j = 0; j < 300; ++j) {
    const double a = double(generator() % 1000) / 7, b = double(generator() % 1000) / 7;
    values.insert(values.end(), {a, b, b, a});
  }
  PickFreeze idle(1, 2, 0);
  idle.add(values, std::vector<char>(300, 1));
  EXPECT_EQ(idle.results()[0].inputs[1].total, 0);
  EXPECT_EQ(idle.results()[0].inputs[1].first, 0);
}

// Intervals of 95 % contain the truth in 95 +- 5 % of 400 repeats (0.95 has a standard deviation of 0.011).
TEST(PickFreezeCoverage, IsNinetyFivePercentForIshigamiAndAProduct) {
  constexpr double pi = 3.14159265358979324;
  const auto ishigami = [](const double* x) {
    return std::sin(x[0]) + 7 * std::pow(std::sin(x[1]), 2) + 0.1 * std::pow(x[2], 4) * std::sin(x[0]);
  };
  const auto product = [](const double* x) { return (1 + x[0]) * (1 + x[1] / 2) * (1 + x[2] / 4); };
  // The product of independent 1 + c_i x_i, x uniform on [-pi, pi]: V_i = c_i^2 pi^2 / 3.
  double v[3], all = 1;
  for (int i = 0; i < 3; ++i) all *= 1 + (v[i] = pi * pi / 3 / std::pow(4.0, i));
  const double variance = all - 1;
  double product_first[3], product_total[3];
  for (int i = 0; i < 3; ++i) {
    product_first[i] = v[i] / variance;
    product_total[i] = v[i] * all / (1 + v[i]) / variance;
  }
  const double ishigami_first[] = {0.31390519114781145, 0.44241114479004081, 0},
               ishigami_total[] = {0.55758885520995919, 0.44241114479004081, 0.24368366406214773};
  std::mt19937_64 generator(8);
  const auto uniform = [&] { return pi * (2 * (double(generator() >> 11) + 0.5) * 0x1p-53 - 1); };
  const auto coverage = [&](const auto& f, const double* first, const double* total) {
    int inside[6] = {};
    for (int repeat = 0; repeat < 400; ++repeat) {
      std::vector<double> values;
      for (int j = 0; j < 1024; ++j) {
        double p[3], q[3];
        for (double& x : p) x = uniform();
        for (double& x : q) x = uniform();
        values.push_back(f(p));
        values.push_back(f(q));
        for (int i = 0; i < 3; ++i) {
          double r[3] = {p[0], p[1], p[2]};
          r[i] = q[i];
          values.push_back(f(r));
        }
      }
      PickFreeze made(1, 3, 0);
      made.add(values, std::vector<char>(1024, 1));
      const PickFreezeResult found = made.results()[0];
      for (int i = 0; i < 3; ++i) {
        const SobolIndex& one = found.inputs[static_cast<std::size_t>(i)];
        inside[i] += std::abs(one.first - first[i]) <= 1.96 * one.first_stderr ? 1 : 0;
        inside[3 + i] += std::abs(one.total - total[i]) <= 1.96 * one.total_stderr ? 1 : 0;
      }
    }
    for (const int count : inside) EXPECT_NEAR(count / 400.0, 0.95, 0.05);
  };
  coverage(ishigami, ishigami_first, ishigami_total);
  coverage(product, product_first, product_total);
}

}  // namespace
}  // namespace zwang::pick_freeze_test
