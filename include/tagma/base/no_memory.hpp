// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What is thrown where the system gives no more memory.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma {

/// "1536 bytes", "1.5 GiB (1610612736 bytes)".
[[nodiscard]] TAGMA_COLD inline std::string bytes_text(std::int64_t bytes) {
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 2048) return sentence({bytes, " bytes"});
  std::size_t unit = 0;
  std::int64_t tenths = bytes / 1024 * 10 + bytes % 1024 * 10 / 1024;
  for (; tenths >= 10240 && unit < 5; ++unit) tenths /= 1024;
  return sentence({tenths / 10, ".", tenths % 10, " ", units[unit], " (", bytes, " bytes)"});
}

/// ResourceExhausted since the host has no memory left. A type of its own for whoever can give some back.
class no_memory final : public error {
 public:
  /// @param purpose what asks for it: a tensor, a variable, a plan
  TAGMA_COLD no_memory(std::int64_t bytes, std::string_view purpose)
      : error(status_code::resource_exhausted,
              sentence({"the host has no room for ", bytes_text(bytes), ", which ", purpose, " asks for"})) {}
  /// The same error with more to say: `where` stands before it, `held` behind it.
  TAGMA_COLD no_memory(const no_memory& e, std::string_view where, std::string_view held = {})
      : error(status_code::resource_exhausted,
              sentence({where, where.empty() ? "" : ": ", std::string_view(e.what()).substr(code_length), held})) {}

 private:
  static constexpr std::size_t code_length = to_string(status_code::resource_exhausted).size() + 2;
};

/// ResourceExhausted since there is never as much memory, whatever is given back.
class never_fits final : public error {
 public:
  using error::error;
};
[[noreturn]] TAGMA_COLD inline void fail_never_fits(std::initializer_list<text_part> parts) {
  throw never_fits(status_code::resource_exhausted, sentence(parts));
}

/// Throws `no_memory` for `count` things of `size` bytes each.
[[noreturn]] TAGMA_COLD inline void fail_no_memory(std::size_t count, std::size_t size, std::string_view purpose) {
  constexpr auto most = static_cast<std::size_t>(INT64_MAX);
  throw no_memory(static_cast<std::int64_t>(count > most / size ? most : count * size), purpose);
}

}  // namespace tagma
