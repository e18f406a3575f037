// Studies of configs/ with bodies against independent computations: dominoes, a coin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "host/backend/batch.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"
#include "tests/support/study_runs.h"

namespace zwang::body_studies_test {
namespace {

// Dominoes that lean on each other have one degree of freedom, the angle b of the foremost: the angle a of the one
// behind follows from h sin(a - b) = p cos(b) - d.
class LeaningDominoes {
 public:
  // The times of the hits, for a push of the first one.
  std::vector<double> hits(double push, std::size_t count) const {
    std::vector<double> made;
    double t = 0, rate = push;
    const double touching = std::asin((pitch - thickness) / height);
    for (std::size_t n = 1; n <= count; ++n) {
      // Between hits the energy is constant: quadrature of db/b'.
      const Row start = row(0, n);
      const double energy = start.squares * inertia * rate * rate / 2 + start.potential;
      const auto speed = [&](double b) {
        const Row now = row(b, n);
        return std::sqrt(2 * (energy - now.potential) / (inertia * now.squares));
      };
      t += integral_of_inverse(speed, touching);
      made.push_back(t);
      // At a hit the momentum along the new common motion is kept.
      rate = speed(touching) * row(touching, n).squares * slope(0) / row(0, n + 1).squares;
    }
    return made;
  }

 private:
  static constexpr double height = 0.048, thickness = 0.0075, pitch = 0.024;
  // Per unit of mass, about the edge.
  static constexpr double inertia = (height * height + thickness * thickness) / 3;
  struct Row {
    double squares = 0, potential = 0;  // of the rates per unit of b'; per unit of mass
  };

  static double behind(double b) { return b + std::asin((pitch * std::cos(b) - thickness) / height); }
  static double slope(double b) {
    const double sine = (pitch * std::cos(b) - thickness) / height;
    return 1 - pitch * std::sin(b) / height / std::sqrt(1 - sine * sine);
  }
  static Row row(double b, std::size_t n) {
    Row made;
    double rate = 1;
    for (std::size_t k = 0; k < n; ++k) {
      made.squares += rate * rate;
      made.potential += 9.81 * (height * std::cos(b) + thickness * std::sin(b)) / 2;
      rate *= slope(b);
      b = behind(b);
    }
    return made;
  }
  // Gauss's rule of three points on many intervals.
  template <class Speed>
  static double integral_of_inverse(const Speed& speed, double end) {
    constexpr int intervals = 500;
    const double half = end / intervals / 2, off = half * std::sqrt(0.6);
    double sum = 0;
    for (int k = 0; k < intervals; ++k) {
      const double middle = (2 * k + 1) * half;
      sum += half * (5 / speed(middle - off) + 8 / speed(middle) + 5 / speed(middle + off)) / 9;
    }
    return sum;
  }
};

TEST(BodyStudies, DominoesFallAsAChainWithOneDegreeOfFreedom) {
  for (const double push : {3.0, 4.0, 8.0}) {
    SCOPED_TRACE(push);
    const StudyRun run(config("dominoes", {"parameters.push=" + std::to_string(push)}), 0);
    const std::vector<double> expected = LeaningDominoes().hits(push, 3);
    EXPECT_NEAR(run.measure("first_hit"), expected[0], 1e-11);
    EXPECT_NEAR(run.measure("last_hit"), expected[2], 1e-11);
    EXPECT_NEAR(run.measure("speed"), 0.024 / (expected[2] - expected[1]), 1e-9);
    EXPECT_EQ(run.measure("all_down"), 1);
  }
}

// The normal of a free symmetric body turns about the angular momentum: its vertical component at the catch, and with
// it the side that shows, are known for each member.
TEST(BodyStudies, AFallingCoinShowsTheSideOfItsPrecession) {
  const Study study = load_study(std::string(ZWANG_SOURCE_DIR) + "/configs/falling_coin.toml");
  constexpr std::size_t members = 2000;
  std::vector<unsigned long long> numbers(members);
  for (std::size_t m = 0; m < members; ++m) numbers[m] = m;
  const auto cpu = make_backend("cpu", study, {.threads = 1});
  const BatchResults results = cpu->run(prepare_batch(study, numbers, 1), {});
  const std::vector<std::string> names = names_of(study.system->measures);
  const std::size_t caught = number_of(names, "caught_at"), side = number_of(names, "heads");
  const std::size_t values = study.system->member_values();
  double heads = 0;
  for (std::size_t m = 0; m < members; ++m) {
    const double t = results.measures[m * values + caught];
    const double vertical = 0.25 + 0.75 * std::cos(150 * t);
    const double found = results.measures[m * values + side];
    if (std::abs(vertical) > 1e-5) {
      EXPECT_EQ(found, vertical > 0 ? 1 : 0) << m;
    }
    heads += found;
  }
  const double p = 0.5 + std::asin(1.0 / 3) / std::numbers::pi;
  EXPECT_NEAR(heads / members, p, 4.5 * std::sqrt(p * (1 - p) / members));
}

}  // namespace
}  // namespace zwang::body_studies_test
