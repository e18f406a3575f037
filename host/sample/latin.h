// Latin hypercubes: every dimension has as many strata as there are members, and each stratum is used once.
#pragma once

#include <cstdint>
#include <vector>

namespace zwang {

// A permutation of 0 ... count - 1 that depends only on (seed, name, count). Long ones need no memory.
class Shuffle {
 public:
  Shuffle(std::uint64_t seed, std::uint32_t name, std::uint64_t count);

  std::uint64_t operator()(std::uint64_t number) const;  // number < count

 private:
  std::uint64_t encipher(std::uint64_t number) const;

  std::uint64_t seed_;
  std::uint32_t name_;
  std::uint64_t count_;
  unsigned low_bits_ = 0, high_bits_ = 0;  // halves of the cipher's block
  std::vector<std::uint16_t> table_;       // a short permutation, stored
};

// The number at relative position `jitter` (in (0, 1)) within stratum `stratum` of `count` equal strata of
// (0, 1).
double within_stratum(std::uint64_t stratum, std::uint64_t count, double jitter);

}  // namespace zwang
