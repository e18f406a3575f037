#include "host/estimators/exact_sum.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "host/platform/bytes.h"

namespace zwang {

void ExactSum::add(double value) {
  assert(value >= 0);
  infinite_ = infinite_ || !std::isfinite(value);
  if (value == 0 || infinite_) return;
  // value = whole * 2^(smallest_exponent + shift), whole with at most 53 bits: exact, also for subnormal
  // numbers.
  constexpr int mantissa_bits = 53;
  const int exponent = std::max(std::ilogb(value) - (mantissa_bits - 1), smallest_exponent);
  const auto whole = static_cast<std::uint64_t>(std::scalbn(value, -exponent));
  const int shift = exponent - smallest_exponent;

  // Its bits are in at most three digits; the carry may go further.
  const int within = shift % digit_bits;
  const std::uint64_t low = whole << within;
  const std::uint64_t high = within > 0 ? whole >> (64 - within) : 0;
  const std::uint64_t parts[] = {low & 0xffffffffU, low >> digit_bits, high};
  std::uint64_t carry = 0;
  auto digit = static_cast<std::size_t>(shift / digit_bits);
  for (std::size_t k = 0; digit < digit_count && (k < std::size(parts) || carry > 0); ++k, ++digit) {
    const std::uint64_t sum = digits_[digit] + carry + (k < std::size(parts) ? parts[k] : 0);
    digits_[digit] = static_cast<std::uint32_t>(sum);
    carry = sum >> digit_bits;
  }
}

void ExactSum::add(const ExactSum& other) {
  infinite_ = infinite_ || other.infinite_;
  std::uint64_t carry = 0;
  for (std::size_t k = 0; k < digit_count; ++k) {
    const std::uint64_t sum = std::uint64_t{digits_[k]} + other.digits_[k] + carry;
    digits_[k] = static_cast<std::uint32_t>(sum);
    carry = sum >> digit_bits;
  }
}

double ExactSum::value() const {
  if (infinite_) return std::numeric_limits<double>::infinity();
  std::size_t top = digit_count;
  while (top > 0 && digits_[top - 1] == 0) --top;
  if (top == 0) return 0;

  // The leading 64 bits and a sticky bit for the rest: enough for the conversion to round correctly.
  const auto digit = [&](std::size_t below) {
    return top > below ? std::uint64_t{digits_[top - 1 - below]} : 0;
  };
  const int unused = std::countl_zero(digits_[top - 1]);
  std::uint64_t leading = digit(0) << digit_bits | digit(1);
  if (unused > 0) leading = leading << unused | digit(2) >> (digit_bits - unused);
  bool more = (digit(2) << unused & 0xffffffffU) != 0;
  for (std::size_t below = 3; below < top; ++below) more = more || digit(below) != 0;
  if (more) leading |= 1;
  const int exponent = smallest_exponent + digit_bits * (static_cast<int>(top) - 2) - unused;
  return std::ldexp(static_cast<double>(leading), exponent);
}

void ExactSum::save(ByteWriter& bytes) const {
  bytes.numbers(digits_);
  bytes.number<char>(infinite_ ? 1 : 0);
}

void ExactSum::load(ByteReader& bytes) {
  bytes.numbers(digits_);
  infinite_ = bytes.number<char>() != 0;
}

}  // namespace zwang
