// The counter-based generator behind every random number of an ensemble.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace zwang {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) with key = seed and counter = (number, name, use), low words
// first. Four words of 32 random bits; a pure function, so that any number of an ensemble can be made alone.
using PhiloxWords = std::array<std::uint32_t, 4>;
PhiloxWords philox(std::uint64_t seed, std::uint64_t number, std::uint32_t name, std::uint32_t use);

// What the last word of the counter says the random bits are for. Plain draws hold their attempt there, which stays
// far below 2^31: no two uses ever see the same bits.
namespace philox_use {
constexpr std::uint32_t scramble = 0x80000000;  // + 256 * replicate + level
constexpr std::uint32_t shuffle = 0x90000000;   // an explicit permutation
constexpr std::uint32_t cipher = 0xa0000000;    // + round
}  // namespace philox_use

// FNV-1a over the bytes of the name in 64 bits, folded to 32 by exclusive or.
std::uint32_t name_word(const std::string& name);

// The midpoint of cell `cell` of the 2^52 equal cells of (0, 1): never 0 or 1, and exact.
inline double cell_midpoint(std::uint64_t cell) { return static_cast<double>(cell << 1 | 1U) * 0x1p-53; }

// The uniform number in (0, 1) of one draw of the sampler "random", by name word or by name; `attempt` counts
// redraws of a rejected member.
double uniform_draw(std::uint64_t seed, std::uint64_t number, std::uint32_t name, std::uint32_t attempt);
double uniform_draw(std::uint64_t seed, std::uint64_t number, const std::string& name,
                    std::uint32_t attempt = 0);

}  // namespace zwang
