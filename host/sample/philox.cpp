// Counter-based random numbers, and the contract of how draws are numbered.
#include "host/sample/philox.h"

#include <Random123/philox.h>

namespace zwang {

namespace {

std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

PhiloxWords philox(std::uint64_t seed, std::uint64_t number, std::uint32_t name, std::uint32_t use) {
  const r123::Philox4x32_R<10>::ctr_type counter = {{low_word(number), high_word(number), name, use}};
  const r123::Philox4x32_R<10>::key_type key = {{low_word(seed), high_word(seed)}};
  const auto words = r123::Philox4x32_R<10>{}(counter, key);
  return {words[0], words[1], words[2], words[3]};
}

std::uint32_t name_word(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return high_word(hash) ^ low_word(hash);
}

// The contract behind "the draws of member k depend only on (seed, k, name of the draw)". Changing any part
// of it changes every published ensemble.
//
//   generator  Philox4x32-10
//   key        seed bits 0..31, seed bits 32..63
//   counter    member bits 0..31, member bits 32..63, name word, attempt
//   output     words w0, w1 (w2, w3 unused): u = (2 m + 1) 2^-53 with m the upper 52 bits of w0 w1
//
// So u is the midpoint of one of 2^52 equal cells of (0, 1): never 0 or 1, and 1 - u is as likely as u.
// The integer operations and the one multiplication are exact, so a GPU gives the same bits.
// Rejected: 53 bits plus one half. It needs 54 bits in the upper half of the range, so it rounds and can
// reach 1. Two names with the same name word give the same draw; n names collide with probability about n^2 /
// 2^33.
double uniform_draw(std::uint64_t seed, std::uint64_t number, std::uint32_t name, std::uint32_t attempt) {
  const PhiloxWords words = philox(seed, number, name, attempt);
  const std::uint64_t bits = std::uint64_t{words[0]} << 32 | words[1];
  return cell_midpoint(bits >> 12);
}

double uniform_draw(std::uint64_t seed, std::uint64_t number, const std::string& name,
                    std::uint32_t attempt) {
  return uniform_draw(seed, number, name_word(name), attempt);
}

}  // namespace zwang
