// Sobol points: the table of direction numbers, the evenness of the points, and that scrambling preserves it
// and is random.
#include "host/sample/sobol.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "host/sample/philox.h"
#include "host/sample/sobol_numbers.h"

namespace zwang::sobol_test {
namespace {

// The first `digits` binary digits of a coordinate, as a number.
std::uint64_t leading(std::uint64_t x, unsigned digits) { return x >> (sobol_bits - digits); }

// Points 0 ... 2^m - 1 in some of the dimensions, scrambled or not.
using Points = std::vector<std::vector<std::uint64_t>>;

Points points_of(unsigned m, const std::vector<std::size_t>& dimensions, bool scrambled) {
  Points points;
  for (std::uint64_t i = 0; i < std::uint64_t{1} << m; ++i) {
    std::vector<std::uint64_t>& point = points.emplace_back();
    for (const std::size_t d : dimensions) {
      const std::uint64_t x = sobol_coordinate(i, d);
      point.push_back(scrambled ? owen_scramble(x, {5, static_cast<std::uint32_t>(d), 3}) : x);
    }
  }
  return points;
}

// Upper 1e-6 point of chi-square (Wilson and Hilferty 1931).
double chi_square_bound(double freedom) {
  const double z = 4.753424, spread = 2 / (9 * freedom);
  return freedom * std::pow(1 - spread + z * std::sqrt(spread), 3);
}

double chi_square(const std::vector<double>& counts) {
  double total = 0, sum = 0;
  for (const double count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// ----------------------------------------------------------------------------------------------------------
// The table
// ----------------------------------------------------------------------------------------------------------

TEST(SobolNumbers, ThePolynomialsArePrimitiveAndAllDifferent) {
  std::set<std::uint32_t> seen;
  for (const SobolInitial& initial : sobol_initial) {
    const unsigned s = initial.degree;
    const std::uint32_t polynomial = 1U << s | initial.coefficients << 1 | 1U;
    EXPECT_TRUE(seen.insert(polynomial).second) << polynomial;
    ASSERT_LT(initial.coefficients, 1U << (s - 1)) << polynomial;
    // Primitive: the powers of x modulo the polynomial take all 2^s - 1 non-zero values before they return to
    // 1.
    std::uint32_t power = 1, order = 0;
    do {
      power <<= 1;
      if (power >> s & 1U) power ^= polynomial;
      ++order;
    } while (power != 1 && order < 1U << s);
    EXPECT_EQ(order, (1U << s) - 1) << polynomial;
  }
}

TEST(SobolNumbers, AreOddAndBelowTheirPowerOfTwo) {
  for (const SobolInitial& initial : sobol_initial)
    for (unsigned k = 0; k < initial.numbers.size(); ++k) {
      const unsigned m = initial.numbers[k];
      if (k < initial.degree)
        EXPECT_TRUE(m % 2 == 1 && m < 2U << k) << initial.degree << " " << initial.coefficients;
      else
        EXPECT_EQ(m, 0U);
    }
}

// The first digits of the direction numbers of a dimension, one bit each: by the recurrence they obey a shift
// register of the polynomial, since v / 2^s has none.
std::uint64_t first_digits(std::size_t dimension) {
  if (dimension == 0) return 1;
  const SobolInitial& initial = sobol_initial[dimension - 1];
  const unsigned s = initial.degree;
  std::uint64_t digits = 0;
  for (unsigned k = 0; k < 64; ++k) {
    std::uint64_t digit = k < s ? initial.numbers[k] >> k : digits >> (k - s) & 1U;
    for (unsigned j = 1; k >= s && j < s; ++j)
      digit ^= (initial.coefficients >> (s - 1 - j) & 1U) & (digits >> (k - j) & 1U);
    digits |= digit << k;
  }
  return digits;
}

std::size_t rank_of(std::vector<std::uint64_t> rows) {
  std::size_t rank = 0;
  for (unsigned column = 0; column < 64; ++column) {
    std::size_t pivot = rank;
    while (pivot < rows.size() && !(rows[pivot] >> column & 1U)) ++pivot;
    if (pivot == rows.size()) continue;
    std::swap(rows[rank], rows[pivot]);
    for (std::size_t i = rank + 1; i < rows.size(); ++i)
      if (rows[i] >> column & 1U) rows[i] ^= rows[rank];
    ++rank;
  }
  return rank;
}

// Sobol's property A in d dimensions: 2^d consecutive points from a multiple of 2^d put one into each of the
// 2^d orthants of the cube. It holds exactly when the d x d matrix of the first digits is regular. Joe and
// Kuo chose their numbers to have it in many more than 64 dimensions; most wrong numbers lose it.
TEST(SobolNumbers, HavePropertyAInEveryNumberOfDimensions) {
  for (std::size_t dimensions = 1; dimensions <= sobol_dimensions; ++dimensions) {
    const std::uint64_t columns = dimensions < 64 ? (std::uint64_t{1} << dimensions) - 1 : ~std::uint64_t{0};
    std::vector<std::uint64_t> rows;
    for (std::size_t d = 0; d < dimensions; ++d) rows.push_back(first_digits(d) & columns);
    EXPECT_EQ(rank_of(rows), dimensions);
  }
}

TEST(SobolCoordinate, ItsFirstDigitsAreThoseOfTheShiftRegister) {
  for (std::size_t d = 0; d < sobol_dimensions; ++d)
    for (unsigned k = 0; k < sobol_bits; ++k)
      EXPECT_EQ(leading(sobol_coordinate(std::uint64_t{1} << k, d), 1), first_digits(d) >> k & 1U);
}

TEST(SobolCoordinate, TheFirstPointsOfSixDimensionsHitEveryOrthantOnce) {
  std::set<std::uint64_t> orthants;
  for (const auto& point : points_of(6, {0, 1, 2, 3, 4, 5}, false)) {
    std::uint64_t orthant = 0;
    for (const std::uint64_t x : point) orthant = orthant << 1 | leading(x, 1);
    orthants.insert(orthant);
  }
  EXPECT_EQ(orthants.size(), 64U);
}

TEST(SobolCoordinate, TheFirstPointsAreThoseOfTheRecurrenceByHand) {
  const double expected[8][3] = {{0, 0, 0},
                                 {0.5, 0.5, 0.5},
                                 {0.25, 0.75, 0.75},
                                 {0.75, 0.25, 0.25},
                                 {0.125, 0.625, 0.375},
                                 {0.625, 0.125, 0.875},
                                 {0.375, 0.375, 0.625},
                                 {0.875, 0.875, 0.125}};
  for (std::uint64_t i = 0; i < 8; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      EXPECT_EQ(std::ldexp(static_cast<double>(sobol_coordinate(i, d)), -52), expected[i][d])
          << i << " " << d;
}

// ----------------------------------------------------------------------------------------------------------
// Evenness
// ----------------------------------------------------------------------------------------------------------

TEST(SobolCoordinate, EveryDimensionHitsEveryCellOnceScrambledOrNot) {
  constexpr unsigned m = 10;
  for (const bool scrambled : {false, true})
    for (std::size_t d = 0; d < sobol_dimensions; ++d) {
      std::set<std::uint64_t> cells;
      for (const auto& point : points_of(m, {d}, scrambled)) cells.insert(leading(point[0], m));
      EXPECT_EQ(cells.size(), std::size_t{1} << m) << d;
    }
}

// Counts the points in every box of the partition with 2^splits[j] intervals along each dimension.
bool all_boxes_alike(const Points& points, const std::vector<unsigned>& splits, unsigned expected_bits) {
  unsigned bits = 0;
  for (const unsigned s : splits) bits += s;
  std::vector<std::size_t> counts(std::size_t{1} << bits, 0);
  for (const auto& point : points) {
    std::uint64_t box = 0;
    for (std::size_t j = 0; j < splits.size(); ++j) box = box << splits[j] | leading(point[j], splits[j]);
    ++counts[box];
  }
  for (const std::size_t count : counts)
    if (count != std::size_t{1} << expected_bits) return false;
  return true;
}

// Every partition of the cube into 2^bits elementary boxes.
void for_all_splits(std::size_t dimensions, unsigned bits, std::vector<unsigned>& splits,
                    const std::function<void()>& action) {
  if (splits.size() + 1 == dimensions) {
    splits.push_back(bits);
    action();
    splits.pop_back();
    return;
  }
  for (unsigned s = 0; s <= bits; ++s) {
    splits.push_back(s);
    for_all_splits(dimensions, bits - s, splits, action);
    splits.pop_back();
  }
}

// A Sobol sequence is a (t, s)-sequence with t the sum of the polynomials' degrees, each less one (Sobol
// 1967): 2^m points put exactly 2^t into every elementary interval of volume 2^(t - m).
TEST(SobolCoordinate, EveryElementaryIntervalIsHitEquallyScrambledOrNot) {
  constexpr unsigned m = 9;
  for (const bool scrambled : {false, true}) {
    std::vector<std::size_t> dimensions = {0};
    unsigned t = 0;
    for (std::size_t d = 1; d <= 4; ++d) {
      dimensions.push_back(d);
      t += sobol_initial[d - 1].degree - 1;
      const Points points = points_of(m, dimensions, scrambled);
      std::vector<unsigned> splits;
      for_all_splits(dimensions.size(), m - t, splits, [&] {
        EXPECT_TRUE(all_boxes_alike(points, splits, t)) << dimensions.size() << " dimensions";
      });
    }
  }
}

// ----------------------------------------------------------------------------------------------------------
// Scrambling
// ----------------------------------------------------------------------------------------------------------

TEST(OwenScramble, ImagesPartAtTheDigitWhereTheirOriginalsPart) {
  for (std::uint64_t k = 0; k < 2000; ++k) {
    const PhiloxWords words = philox(1, k, 0, 0);
    const std::uint64_t x = (std::uint64_t{words[0]} << 32 | words[1]) >> 12;
    const auto common = static_cast<unsigned>(k % sobol_bits);  // digits in common
    const std::uint64_t below = (std::uint64_t{1} << (sobol_bits - 1 - common)) - 1;
    const std::uint64_t y = (x ^ (below + 1)) ^ (words[2] & below);
    const ScrambleKey key{7, 1, 2};
    const std::uint64_t parted = owen_scramble(x, key) ^ owen_scramble(y, key);
    EXPECT_EQ(sobol_bits - static_cast<unsigned>(std::bit_width(parted)), common);
    EXPECT_EQ(parted >> sobol_bits, 0U);
  }
}

TEST(OwenScramble, AnyOnePointBecomesUniformInEveryDigit) {
  constexpr std::size_t trials = 20'000;
  for (const std::uint64_t x :
       {std::uint64_t{0}, (std::uint64_t{1} << sobol_bits) - 1, std::uint64_t{0x5a5a5a5a5a5a5}}) {
    std::vector<double> cells(256, 0), ones(sobol_bits, 0);
    for (std::uint64_t seed = 0; seed < trials; ++seed) {
      const std::uint64_t y = owen_scramble(x, {seed, 9, 0});
      ++cells[leading(y, 8)];
      for (unsigned digit = 0; digit < sobol_bits; ++digit)
        ones[digit] += static_cast<double>(leading(y, digit + 1) & 1U);
    }
    EXPECT_LT(chi_square(cells), chi_square_bound(255));
    for (const double count : ones) EXPECT_LT(std::abs(count - trials / 2.0), 5 * std::sqrt(trials / 4.0));
  }
}

TEST(OwenScramble, WhatPartedAtADigitIsIndependentBelowIt) {
  // Two points that first differ at `digit`: the next four digits of both, over many keys, fill 16 x 16 cells
  // evenly.
  constexpr std::size_t trials = 40'000;
  for (const unsigned digit : {0U, 3U, 5U, 6U, 7U, 20U, 34U, 41U, 47U}) {
    const std::uint64_t x = 0x123456789abcdULL, y = x ^ std::uint64_t{1} << (sobol_bits - 1 - digit);
    std::vector<double> cells(256, 0);
    for (std::uint64_t seed = 0; seed < trials; ++seed) {
      const ScrambleKey key{seed, 9, 1};
      ++cells[(leading(owen_scramble(x, key), digit + 5) & 15U) << 4 |
              (leading(owen_scramble(y, key), digit + 5) & 15U)];
    }
    EXPECT_LT(chi_square(cells), chi_square_bound(255)) << digit;
  }
}

TEST(OwenScramble, SeedNameAndReplicateEachMakeAnotherScrambling) {
  constexpr std::uint64_t x = 0x123456789abcdULL;
  const std::set<std::uint64_t> different = {owen_scramble(x, {1, 1, 0}),
                                             owen_scramble(x, {2, 1, 0}),
                                             owen_scramble(x, {1, 2, 0}),
                                             owen_scramble(x, {1, 1, 1}),
                                             owen_scramble(x, {1ULL << 32 | 1, 1, 0}),
                                             owen_scramble(x, {1, 1, 15})};
  EXPECT_EQ(different.size(), 6U);
  EXPECT_EQ(owen_scramble(x, {1, 1, 0}), owen_scramble(x, {1, 1, 0}));
}

}  // namespace
}  // namespace zwang::sobol_test
