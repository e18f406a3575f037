// Sobol points from direction numbers computed at compile time, and Owen scrambling by the generator's bits.
#include "host/sample/sobol.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "host/sample/philox.h"
#include "host/sample/sobol_numbers.h"

namespace zwang {

namespace {

static_assert(sobol_initial.size() + 1 == sobol_dimensions);

using Directions = std::array<std::uint64_t, sobol_bits>;  // v_1 ... v_52, times 2^52

// v_k = m_k / 2^k. Beyond the initial ones (Bratley and Fox 1988, "Algorithm 659", ACM TOMS 14, 88-100):
//   v_k = a_1 v_(k-1) + ... + a_(s-1) v_(k-s+1) + v_(k-s) + v_(k-s) / 2^s,   + being exclusive or.
constexpr Directions directions_of(const SobolInitial& initial) {
  Directions v{};
  const unsigned s = initial.degree;
  for (unsigned k = 0; k < sobol_bits; ++k) {
    if (k < s) {
      v[k] = std::uint64_t{initial.numbers[k]} << (sobol_bits - 1 - k);
      continue;
    }
    v[k] = v[k - s] ^ v[k - s] >> s;
    for (unsigned j = 1; j < s; ++j)
      if (initial.coefficients >> (s - 1 - j) & 1U) v[k] ^= v[k - j];
  }
  return v;
}

constexpr std::array<Directions, sobol_dimensions> all_directions() {
  std::array<Directions, sobol_dimensions> all{};
  // The first coordinate reverses the binary digits of the index (van der Corput).
  for (unsigned k = 0; k < sobol_bits; ++k) all[0][k] = std::uint64_t{1} << (sobol_bits - 1 - k);
  for (std::size_t d = 1; d < sobol_dimensions; ++d) all[d] = directions_of(sobol_initial[d - 1]);
  return all;
}

constexpr std::array<Directions, sobol_dimensions> directions = all_directions();

}  // namespace

std::uint64_t sobol_coordinate(std::uint64_t index, std::size_t dimension) {
  assert(dimension < sobol_dimensions && index >> sobol_bits == 0);
  const Directions& v = directions[dimension];
  std::uint64_t x = 0;
  for (; index != 0; index &= index - 1) x ^= v[static_cast<std::size_t>(std::countr_zero(index))];
  return x;
}

// The random flips form a binary tree: the node reached by the digits so far decides whether the next one is
// flipped. Seven levels have 1 + 2 + ... + 64 = 127 nodes, and one call of the generator gives 128 bits: node
// n of the subtree (root 1, children 2n and 2n + 1) uses bit n. The digits above the subtree are the
// generator's counter. Rejected: the hash of Laine and Karras (2011). It takes only a few multiplications,
// but the quality of its mixing depends on tuned constants (Burley 2020, "Practical hash-based Owen
// scrambling", JCGT 9, 1-20), which are for 32 digits.
std::uint64_t owen_scramble(std::uint64_t x, const ScrambleKey& key) {
  constexpr unsigned levels = 7;
  std::uint64_t scrambled = 0;
  for (unsigned top = 0; top < sobol_bits; top += levels) {
    const std::uint64_t above = x >> (sobol_bits - top);
    const PhiloxWords flips =
        philox(key.seed, above, key.name, philox_use::scramble + 256 * key.replicate + top);
    const unsigned bottom = std::min(top + levels, sobol_bits);
    std::uint32_t node = 1;
    for (unsigned level = top; level < bottom; ++level) {
      const auto digit = static_cast<std::uint32_t>(x >> (sobol_bits - 1 - level) & 1U);
      const std::uint32_t flip = flips[node >> 5] >> (node & 31U) & 1U;
      scrambled = scrambled << 1 | (digit ^ flip);
      node = node << 1 | digit;
    }
  }
  return scrambled;
}

}  // namespace zwang
