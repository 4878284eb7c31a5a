// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Which sanitizer a test is compiled with: g++ says so by macros, clang by a question. Tests do not replace what
/// sanitizers replace, such as operator new.

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define HAS_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define HAS_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define HAS_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define HAS_THREAD_SANITIZER 0
#endif

/// Before a function that is not instrumented: plain loops, of which a test knows that they are right, and that take
/// most of its time otherwise. What they call, and is not inlined, is instrumented.
#define UNSANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))

namespace tagma::test {

/// Whether everything takes ten times as long: then fewer of many like cases will do.
inline constexpr bool is_sanitized = HAS_ADDRESS_SANITIZER || HAS_THREAD_SANITIZER;

}  // namespace tagma::test
