// The counter-based generator that produces every random number of an ensemble.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace zwang {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) with key = seed and counter = (number, name, use), low
// words first. Returns four words of 32 random bits. It is a pure function, so any draw can be computed by
// itself.
using PhiloxWords = std::array<std::uint32_t, 4>;
PhiloxWords philox(std::uint64_t seed, std::uint64_t number, std::uint32_t name, std::uint32_t use);

// The last word of the counter states the use of the random bits. Ordinary draws put their attempt there,
// which stays far below 2^31, so that different uses never share bits.
namespace philox_use {
constexpr std::uint32_t scramble = 0x80000000;  // + 256 * replicate + level
constexpr std::uint32_t shuffle = 0x90000000;   // a stored permutation
constexpr std::uint32_t cipher = 0xa0000000;    // + round
constexpr std::uint32_t point = 0xb0000000;     // the seed of a sweep's point
}  // namespace philox_use

// 64-bit FNV-1a hash of the name's bytes, folded to 32 bits by exclusive or.
std::uint32_t name_word(const std::string& name);

// The midpoint of cell `cell` of 2^52 equal cells of (0, 1): never 0 or 1, and exact.
inline double cell_midpoint(std::uint64_t cell) { return static_cast<double>(cell << 1 | 1U) * 0x1p-53; }

// The uniform number in (0, 1) of one draw of the sampler "random", by name word or by name; `attempt` counts
// redraws of a rejected member.
double uniform_draw(std::uint64_t seed, std::uint64_t number, std::uint32_t name, std::uint32_t attempt);
double uniform_draw(std::uint64_t seed, std::uint64_t number, const std::string& name,
                    std::uint32_t attempt = 0);

}  // namespace zwang
