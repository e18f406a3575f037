// Whether a sanitizer looks on: arithmetic then takes ten times as long, and memory is reserved by the
// terabyte. Some of what ThreadSanitizer needs lies in a file of its own, which a limit on the length of
// files meets first.
#pragma once

namespace zwang {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#if defined(__SANITIZE_THREAD__)
constexpr bool thread_sanitized = true;
#else
constexpr bool thread_sanitized = false;
#endif

}  // namespace zwang
