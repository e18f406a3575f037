// A sum of doubles without rounding: the result does not depend on the order of the terms or on how they are
// split.
#pragma once

#include <array>
#include <cstdint>

namespace zwang {

class ByteWriter;
class ByteReader;

class ExactSum {
 public:
  void add(double value);  // not negative; one infinite term makes the sum infinite
  void add(const ExactSum& other);

  double value() const;  // rounded once, to the nearest double; infinite beyond the largest

  void save(ByteWriter& bytes) const;
  void load(ByteReader& bytes);

 private:
  // One long binary number in units of the smallest double, 2^-1074. The largest double needs 2098 bits; 32
  // more bits are enough for the sum over all members.
  static constexpr int digit_bits = 32, smallest_exponent = -1074;
  static constexpr std::size_t digit_count = (2098 + 32 + digit_bits - 1) / digit_bits;

  std::array<std::uint32_t, digit_count> digits_{};  // least significant first
  bool infinite_ = false;
};

}  // namespace zwang
