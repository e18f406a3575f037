// Sobol sequences with Owen scrambling: points that fill the cube more evenly than independent ones, while
// each single point is uniformly distributed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zwang {

constexpr std::size_t sobol_dimensions = 64;
constexpr unsigned sobol_bits = 52;  // binary digits of a coordinate, as many as a random draw has

// Coordinate `dimension` (from 0) of point `index` (from 0, in binary order, not Gray code; below 2^52),
// times 2^52.
std::uint64_t sobol_coordinate(std::uint64_t index, std::size_t dimension);

// The key of a scrambling: the same key gives the same scrambling.
struct ScrambleKey {
  std::uint64_t seed;
  std::uint32_t name;       // name word of the draw: every coordinate is scrambled independently
  std::uint32_t replicate;  // below 2^16
};

// Nested uniform scrambling (Owen 1995) of all 52 digits of x: each digit is flipped at random, independently
// for each combination of the digits above it. It is a bijection that maps elementary intervals onto
// elementary intervals, so nets stay nets, and the image of any one point is uniform.
std::uint64_t owen_scramble(std::uint64_t x, const ScrambleKey& key);

}  // namespace zwang
