#pragma once

namespace luce::support {

/// True where a sanitizer instruments this build: code is ten times as slow, and its shadow memory and quarantine make
/// the resident size tell nothing.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// What a bound on time is multiplied by.
inline constexpr int kSlowness = kSanitized ? 15 : 1;

}  // namespace luce::support
