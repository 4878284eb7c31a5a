// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Sizes in binary multiples of a byte: `64_MiB`, after `using namespace tagma::literals`.

#include <cstdint>

namespace tagma::literals {

/// Kibibytes: n * 1024.
[[nodiscard]] constexpr std::int64_t operator""_KiB(unsigned long long n) { return static_cast<std::int64_t>(n << 10); }
/// Mebibytes: n * 1024^2.
[[nodiscard]] constexpr std::int64_t operator""_MiB(unsigned long long n) { return static_cast<std::int64_t>(n << 20); }
/// Gibibytes: n * 1024^3.
[[nodiscard]] constexpr std::int64_t operator""_GiB(unsigned long long n) { return static_cast<std::int64_t>(n << 30); }

}  // namespace tagma::literals
