// Contact problems with one motion against the search of all choices: boxes that strike a table with a
// corner, an edge or a face.
#include "kernels/dynamics/unique_motion.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "kernels/dynamics/contact_problem.h"
#include "kernels/dynamics/mass.h"

namespace zwang::unique_motion_test {
namespace {

struct FourContacts {
  static constexpr bool has_modes = true, autonomous = true;
  static constexpr int transitions = 0, frictions = 4;
  static constexpr int friction_rows(int) { return 2; }
};
struct Body {
  using Real = double;
  using Model = FourContacts;
  static constexpr int rows = 12, n = 6;
  using Root = DiagonalRoot<n, 1, double>;
};
using Problem = ContactProblem<Body>;
using Vector = std::array<double, 3>;

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// A solid box of mass 1 on its corners: one, the two of an edge, or the four of a face.
struct Box {
  Vector half;
  double friction, restitution;
  int corners;
  std::array<double, 6> velocity;  // of the centre, and angular
};

Box random_box(std::mt19937& random, int corners, double largest_friction) {
  std::uniform_real_distribution<double> number(-1, 1), size(0.7, 1.4), friction(0.05, largest_friction);
  Box made{{size(random), size(random), size(random)}, friction(random), 0, corners, {}};
  for (double& v : made.velocity) v = number(random);
  // Rebounds of a face that closes about one of its edges; others would have to separate.
  if (corners == 4 && number(random) > 0) {
    made.restitution = 0.5;
    made.velocity[2] = -std::abs(made.velocity[3]) * made.half[1];
    made.velocity[4] = 0;
  }
  return made;
}

// Rows in the mass metric: f' = -z', and the slips x' and y' of each corner.
void pose(const Box& box, Problem& problem) {
  const double ones[6] = {1, 1, 1, 1, 1, 1};
  ASSERT_TRUE(problem.root.factor(ones));
  const auto& a = box.half;
  const Vector inertia = {(a[1] * a[1] + a[2] * a[2]) / 3, (a[0] * a[0] + a[2] * a[2]) / 3,
                          (a[0] * a[0] + a[1] * a[1]) / 3};
  for (int corner = 0; corner < box.corners; ++corner) {
    const Vector place = {corner % 2 == 0 ? -a[0] : a[0], corner < 2 ? -a[1] : a[1], -a[2]};
    const int first = problem.count;
    for (const Vector& along : {Vector{0, 0, -1}, Vector{1, 0, 0}, Vector{0, 1, 0}}) {
      const Vector moment = cross(place, along);
      double row[6], rate = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        row[k] = along[k];
        row[k + 3] = moment[k] / std::sqrt(inertia[k]);
        rate += along[k] * box.velocity[k] + moment[k] * box.velocity[k + 3];
      }
      const bool normal = problem.count == first;
      problem.add_row(problem.count, row, normal && rate > 0 ? (1 + box.restitution) * rate : rate, 1e-14);
    }
    auto& unit = problem.add_unit(RowKind::contact, first);
    unit.tangents = 2;
    unit.cone = unit.cone_static = box.friction;
  }
}

// How often a motion is found as the only one, of `problems`.
int found_at_once(int corners, double largest_friction, int problems) {
  std::mt19937 random(7);
  int many = 0;
  for (int i = 0; i < problems; ++i) {
    Problem problem;
    pose(random_box(random, corners, largest_friction), problem);
    Problem::Solution quick, searched;
    const bool only = problem.find_unique(quick);
    const auto verdict = problem.find_among_all(searched, -1);
    if (!only) continue;
    ++many;
    EXPECT_LE(problem.violation(quick), 1e-10);
    // With four slips the search follows one set of directions, which need not lead to the solution.
    if (verdict == Problem::Verdict::none && corners == 4) continue;
    EXPECT_EQ(verdict, Problem::Verdict::one) << corners << " corners, problem " << i;
    EXPECT_TRUE(problem.moves_alike(quick, searched)) << corners << " corners, problem " << i;
    for (int k = 0; k < problem.units; ++k) EXPECT_EQ(quick.choice[k], searched.choice[k]) << "problem " << i;
  }
  return many;
}

TEST(UniqueMotion, IsThatOfTheSearchOfAllChoices) {
  EXPECT_GE(found_at_once(1, 0.5, 300), 270);
  EXPECT_GE(found_at_once(2, 0.4, 300), 270);
  EXPECT_GE(found_at_once(4, 0.3, 200), 160);
}

TEST(UniqueMotion, IsNotClaimedWhereThereAreSeveral) {
  found_at_once(1, 3, 300);
  found_at_once(2, 3, 300);
  found_at_once(4, 1, 100);
}

}  // namespace
}  // namespace zwang::unique_motion_test
