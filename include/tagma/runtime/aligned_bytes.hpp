// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Memory of the host for tensors.

#if defined(__linux__)
#include <sys/mman.h>
#endif

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
  TAGMA_COLD explicit aligned_bytes(std::size_t size) : aligned_bytes(size, std::nothrow) {
    if (failed()) fail_no_memory(1, size, "its working memory");
  }
  /// Where there is no memory, this one has failed, for the caller to say what it was for.
  TAGMA_COLD aligned_bytes(std::size_t size, const std::nothrow_t&) : size_(size) {
    if (size == 0) return;
    data_ = static_cast<std::byte*>(::operator new(size, alignment(size), std::nothrow));
#if defined(MADV_HUGEPAGE)
    // Advice, which the system may ignore: large pages spare a loop over many megabytes a tenth of its time or more.
    if (size >= large && data_ != nullptr) madvise(data_, size, MADV_HUGEPAGE);
#endif
  }
  aligned_bytes(aligned_bytes&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }
  aligned_bytes& operator=(aligned_bytes&& other) noexcept {
    std::byte* const data = data_;
    const std::size_t size = size_;
    data_ = other.data_;
    size_ = other.size_;
    other.data_ = data;
    other.size_ = size;
    return *this;
  }
  aligned_bytes(const aligned_bytes&) = delete;
  aligned_bytes& operator=(const aligned_bytes&) = delete;
  ~aligned_bytes() {
    if (data_ != nullptr) ::operator delete(data_, alignment(size_));
  }
  [[nodiscard]] bool failed() const { return data_ == nullptr && size_ > 0; }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t page = std::size_t{1} << 21, large = 4 * page;
  [[nodiscard]] static std::align_val_t alignment(std::size_t size) {
    return std::align_val_t{size >= large ? page : 64};
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tagma::runtime
