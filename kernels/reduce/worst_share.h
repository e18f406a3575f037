// The largest share of the audit's bound over members, and the member that has it, as one whole number: the
// larger number has the larger share, or the same share and the smaller member. Of the share its leading 32
// bits are kept, about six digits.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// The share without the digits that a key does not keep.
ZWANG_INLINE double kept_share(double share) {
  constexpr unsigned long long low = 0xffffffffULL;
  return share > 0 ? double_of_bits(bits_of_double(share) & ~low) : 0;
}

// `member`: its place among at most 2^32 members.
ZWANG_INLINE unsigned long long share_key(double share, long long member) {
  if (!(share > 0)) return 0;
  constexpr unsigned long long low = 0xffffffffULL;
  return bits_of_double(kept_share(share)) | (low - static_cast<unsigned long long>(member));
}
ZWANG_INLINE double share_of_key(unsigned long long key) { return double_of_bits(key & ~0xffffffffULL); }
ZWANG_INLINE long long member_of_key(unsigned long long key) {
  constexpr unsigned long long low = 0xffffffffULL;
  return static_cast<long long>(low - (key & low));
}

}  // namespace zwang
