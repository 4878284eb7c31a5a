// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What is thrown where the system gives no more memory.

#include "tagma/base/config.hpp"
#include "tagma/base/error.hpp"

namespace tagma {

/// "1536 bytes", "1.5 GiB (1610612736 bytes)".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

/// ResourceExhausted since the host has no memory left. A type of its own for whoever can give some back.
class no_memory final : public error {
 public:
  /// @param purpose what asks for it: a tensor, a variable, a plan
  no_memory(std::int64_t bytes, std::string_view purpose);
  /// The same error with more to say: `where` stands before it, `held` behind it.
  no_memory(const no_memory& e, std::string_view where, std::string_view held = {});

 private:
  static constexpr std::size_t code_length = to_string(status_code::resource_exhausted).size() + 2;
};

/// ResourceExhausted since there is never as much memory, whatever is given back.
class never_fits final : public error {
 public:
  using error::error;
};
/// Throws `never_fits` with this text.
[[noreturn]] void fail_never_fits(std::initializer_list<text_part> parts);

/// Throws `no_memory` for `count` things of `size` bytes each.
[[noreturn]] void fail_no_memory(std::size_t count, std::size_t size, std::string_view purpose);

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/base/no_memory.ipp"
#endif
