// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Bytes as documents of formats write them.

#include <string>
#include <string_view>

namespace tagma::test {

/// The bytes of "0a 36 ff"; other characters than lower-case digits are passed over.
[[nodiscard]] inline std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  int high = -1;
  for (const char c : hex) {
    const auto digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) continue;
    if (high < 0) {
      high = static_cast<int>(digit);
    } else {
      bytes += static_cast<char>(high * 16 + static_cast<int>(digit));
      high = -1;
    }
  }
  return bytes;
}

}  // namespace tagma::test
