// Multipliers of dependent rows: the limit of contacts with equal compliance, and of several solutions the one
// perpendicular to the dependences of the rows [friction-15].
#include "kernels/dynamics/shared_load.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <random>

namespace zwang::shared_load_test {
namespace {

constexpr int n = 6, most = 12;
using Load = SharedLoad<double, most, n>;

struct Rows {
  int count = 0, rank = 0;
  double u[most][n], pushed[most][n], right[most];
  bool pushes_alike[most];

  Eigen::MatrixXd matrix(const double (&rows)[most][n]) const {
    Eigen::MatrixXd made(count, n);
    for (int j = 0; j < count; ++j)
      for (int i = 0; i < n; ++i) made(j, i) = rows[j][i];
    return made;
  }
  Eigen::VectorXd rights() const { return Eigen::Map<const Eigen::VectorXd>(right, count); }
};

// Rows of different lengths within a space of `rank` dimensions. The right sides are those of some motion, so that
// dependent rows agree; with `drag` every other multiplier pushes beside its row too.
Rows random_rows(std::mt19937& random, int count, int rank, bool drag) {
  std::normal_distribution<double> number(0, 1);
  const auto fill = [&](Eigen::Index rows, Eigen::Index columns) {
    return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return number(random); }).eval();
  };
  const Eigen::MatrixXd all = fill(count, rank) * fill(rank, n), beside = fill(count, n);
  const Eigen::VectorXd motion = fill(n, 1);
  Rows made;
  made.count = count;
  made.rank = std::min({count, rank, n});
  for (int j = 0; j < count; ++j) {
    const double length = std::exp(number(random));
    made.pushes_alike[j] = !drag || j % 2 == 0;
    made.right[j] = length * all.row(j).dot(motion);
    for (int i = 0; i < n; ++i) {
      made.u[j][i] = length * all(j, i);
      made.pushed[j][i] = made.pushes_alike[j] ? 1e300 : made.u[j][i] + 0.1 * length * beside(j, i);
    }
  }
  return made;
}

// The pushes, those that are not given included.
Eigen::MatrixXd pushes(const Rows& rows) {
  Eigen::MatrixXd made = rows.matrix(rows.pushed);
  const Eigen::MatrixXd u = rows.matrix(rows.u);
  for (int j = 0; j < rows.count; ++j)
    if (rows.pushes_alike[j]) made.row(j) = u.row(j);
  return made;
}

Eigen::VectorXd solved(const Rows& rows, int& rank) {
  Load load;
  load.find_span(rows.count, rows.u, 1e-6);
  rank = load.rank;
  double x[most];
  load.solve(rows.count, rows.pushes_alike, rows.pushed, rows.right, x);
  return Eigen::Map<const Eigen::VectorXd>(x, rows.count);
}

TEST(SharedLoad, SolvesTheSystemAcrossItsDependences) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const int count = 1 + static_cast<int>(random() % most), most_rank = 1 + static_cast<int>(random() % n);
    const Rows rows = random_rows(random, count, most_rank, random() % 2 == 0);
    int rank = 0;
    const Eigen::VectorXd x = solved(rows, rank);
    ASSERT_EQ(rank, rows.rank) << count << " rows, round " << round;
    const Eigen::MatrixXd u = rows.matrix(rows.u);
    const Eigen::MatrixXd phi = u * pushes(rows).transpose();
    EXPECT_LE((phi * x - rows.rights()).norm(), 1e-9 * phi.norm() * x.norm()) << "round " << round;
    // Perpendicular to the dependences: within the range of the rows' matrix.
    const Eigen::MatrixXd range = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(u).householderQ();
    const Eigen::VectorXd beyond = range.rightCols(count - rank).transpose() * x;
    EXPECT_LE(beyond.norm(), 1e-9 * x.norm()) << "round " << round;
  }
}

TEST(SharedLoad, IsTheLimitOfEqualCompliance) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    const Rows rows = random_rows(random, 8, 3, round % 2 == 0);
    int rank = 0;
    const Eigen::VectorXd x = solved(rows, rank);
    const Eigen::MatrixXd phi = rows.matrix(rows.u) * pushes(rows).transpose();
    // The error of a small compliance c is in proportion to c: extrapolated from two of them.
    const auto with_compliance = [&](double share) -> Eigen::VectorXd {
      const double c = share * phi.norm();
      return (phi + c * Eigen::MatrixXd::Identity(8, 8)).fullPivLu().solve(rows.rights());
    };
    const Eigen::VectorXd limit = 2 * with_compliance(1e-7) - with_compliance(2e-7);
    EXPECT_LE((x - limit).norm(), 1e-5 * x.norm()) << "round " << round;
  }
}

TEST(SharedLoad, OfFourLegsOfATableIsAQuarterEach) {
  Rows table;
  table.count = 4;
  for (int j = 0; j < 4; ++j) {
    const double x = j % 2 == 0 ? 1 : -1, y = j < 2 ? 1 : -1;
    const double row[n] = {0, 0, -1, -y, x, 0};
    std::copy(row, row + n, table.u[j]);
    table.pushes_alike[j] = true;
    table.right[j] = 9.81;
  }
  int rank = 0;
  const Eigen::VectorXd x = solved(table, rank);
  EXPECT_EQ(rank, 3);
  for (int j = 0; j < 4; ++j) EXPECT_NEAR(x[j], 9.81 / 4, 1e-14);
}

}  // namespace
}  // namespace zwang::shared_load_test
