#include "host/backend/sketch_window.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace zwang {

unsigned first_key_of_window(double pivot, std::span<const ColumnPart> parts) {
  double square = 0, farthest = 0;
  for (const ColumnPart& part : parts) {
    if (part.finite == 0) continue;
    const double off = part.pivot - pivot + part.offset;
    square = std::max(square, part.m2 / double(part.finite) + off * off);
    farthest = std::max({farthest, pivot - part.minimum, part.maximum - pivot});
  }
  const double reach = std::min(farthest, 4 * std::sqrt(square));
  if (!(reach > 0)) return 0;
  const auto last = static_cast<unsigned>(std::bit_cast<std::uint64_t>(reach) >> (52 - sketch_digits));
  return last < sketch_window_side ? 0 : last + 1 - sketch_window_side;
}

}  // namespace zwang
