// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Memory of the host for tensors.

#include <cstddef>
#include <new>

#include "tagma/base/config.hpp"
#include "tagma/base/no_memory.hpp"

namespace tagma::runtime {

/// Bytes on a cache line boundary, many megabytes on that of a large page.
class aligned_bytes {
 public:
  aligned_bytes() = default;
  /// Throws `no_memory`.
  explicit aligned_bytes(std::size_t size);
  /// Where there is no memory, this one has failed, for the caller to say what it was for.
  aligned_bytes(std::size_t size, const std::nothrow_t&);
  aligned_bytes(aligned_bytes&& other) noexcept;
  aligned_bytes& operator=(aligned_bytes&& other) noexcept;
  aligned_bytes(const aligned_bytes&) = delete;
  aligned_bytes& operator=(const aligned_bytes&) = delete;
  ~aligned_bytes();
  [[nodiscard]] bool failed() const { return data_ == nullptr && size_ > 0; }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t page = std::size_t{1} << 21, large = 4 * page;
  [[nodiscard]] static std::align_val_t alignment(std::size_t size);

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tagma::runtime

#ifndef TAGMA_COMPILED
#include "tagma/runtime/aligned_bytes.ipp"
#endif
