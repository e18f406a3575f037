// Sobol sequences with Owen's scrambling: points that fill the cube more evenly than chance, yet each of them uniform.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zwang {

constexpr std::size_t sobol_dimensions = 64;
constexpr unsigned sobol_bits = 52;  // binary digits of a coordinate: as many as a plain draw has

// Coordinate `dimension` (from 0) of point `index` (from 0, in plain binary order, below 2^52), times 2^52.
std::uint64_t sobol_coordinate(std::uint64_t index, std::size_t dimension);

// What a scrambling is made of: the same key gives the same scrambling.
struct ScrambleKey {
  std::uint64_t seed;
  std::uint32_t name;       // of the draw; every coordinate is scrambled on its own
  std::uint32_t replicate;  // below 2^16
};

// Nested uniform scrambling (Owen 1995) of all 52 digits of x: each digit is flipped or not by chance, and the chance
// is a new one for each string of digits above it. A bijection that maps elementary intervals onto elementary
// intervals, so that nets stay nets; the image of any one point is uniform.
std::uint64_t owen_scramble(std::uint64_t x, const ScrambleKey& key);

}  // namespace zwang
