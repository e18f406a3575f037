// Random permutations for Latin hypercubes: a shuffled table if short, a Feistel cipher if long.
#include "host/sample/latin.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "host/sample/philox.h"

namespace zwang {

namespace {

// Up to this length a permutation is stored: a cipher on few bits reaches only a small part of all
// permutations.
constexpr std::uint64_t longest_table = 1024;

// Four rounds give a pseudo-random permutation (Luby and Rackoff 1988) if the halves are long. Here they may
// have only 5 bits, hence six rounds.
constexpr unsigned cipher_rounds = 6;

}  // namespace

Shuffle::Shuffle(std::uint64_t seed, std::uint32_t name, std::uint64_t count)
    : seed_(seed), name_(name), count_(count) {
  assert(count > 0);
  if (count > longest_table) {
    const auto bits = static_cast<unsigned>(std::bit_width(count - 1));
    low_bits_ = bits / 2;
    high_bits_ = bits - low_bits_;
    return;
  }
  // Fisher-Yates shuffle from the last position down.
  for (std::uint64_t i = 0; i < count; ++i) table_.push_back(static_cast<std::uint16_t>(i));
  for (std::uint64_t i = count; i-- > 1;) {
    const double u = uniform_draw(seed, i, name, philox_use::shuffle);
    std::swap(table_[i], table_[static_cast<std::size_t>(u * static_cast<double>(i + 1))]);
  }
}

std::uint64_t Shuffle::operator()(std::uint64_t number) const {
  assert(number < count_);
  if (!table_.empty()) return table_[number];
  // The cipher permutes a power of two below 2 count. Applying it until the result is in range permutes the
  // range (cycle walking; Black and Rogaway 2002, "Ciphers with arbitrary finite domains"). On average this
  // takes at most two steps.
  do number = encipher(number);
  while (number >= count_);
  return number;
}

// A Feistel network: each half in turn is combined with the generator's output for the other half. Every
// round is invertible for any generator, so the whole is a bijection. The halves may differ in length by one
// bit.
std::uint64_t Shuffle::encipher(std::uint64_t number) const {
  const std::uint64_t low_mask = (std::uint64_t{1} << low_bits_) - 1;
  const std::uint64_t high_mask = (std::uint64_t{1} << high_bits_) - 1;
  std::uint64_t low = number & low_mask, high = number >> low_bits_;
  for (unsigned round = 0; round < cipher_rounds; round += 2) {
    high ^= philox(seed_, low, name_, philox_use::cipher + round)[0] & high_mask;
    low ^= philox(seed_, high, name_, philox_use::cipher + round + 1)[0] & low_mask;
  }
  return high << low_bits_ | low;
}

double within_stratum(std::uint64_t stratum, std::uint64_t count, double jitter) {
  constexpr double last_below_one = 1 - 0x1p-53;
  // Rounding may move the sum into the next stratum, and in the last stratum out of (0, 1).
  return std::min(last_below_one, (static_cast<double>(stratum) + jitter) / static_cast<double>(count));
}

}  // namespace zwang
