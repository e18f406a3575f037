// Whether a sanitizer looks on: arithmetic then takes ten times as long, and memory is reserved by the terabyte.
#pragma once

namespace zwang {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

}  // namespace zwang
