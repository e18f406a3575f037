// Whether a sanitizer is active: arithmetic then takes ten times as long, terabytes of memory are reserved,
// and ThreadSanitizer keeps data in a file, to which a limit on file sizes applies first.
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
