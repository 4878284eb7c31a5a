// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of aligned_bytes.hpp: in the compiled half, or else in each file that includes it.

#include "tagma/base/config.hpp"
#include "tagma/base/large_pages.hpp"
#include "tagma/runtime/aligned_bytes.hpp"

namespace tagma::runtime {

TAGMA_COLD TAGMA_DECL aligned_bytes::aligned_bytes(std::size_t size) : aligned_bytes(size, std::nothrow) {
  if (failed()) fail_no_memory(1, size, "its working memory");
}

TAGMA_COLD TAGMA_DECL aligned_bytes::aligned_bytes(std::size_t size, const std::nothrow_t&) : size_(size) {
  if (size == 0) return;
  data_ = static_cast<std::byte*>(::operator new(size, alignment(size), std::nothrow));
  if (size >= large && data_ != nullptr) advise_large_pages(data_, size);
}

TAGMA_DECL aligned_bytes::aligned_bytes(aligned_bytes&& other) noexcept : data_(other.data_), size_(other.size_) {
  other.data_ = nullptr;
  other.size_ = 0;
}

TAGMA_DECL aligned_bytes& aligned_bytes::operator=(aligned_bytes&& other) noexcept {
  std::byte* const data = data_;
  const std::size_t size = size_;
  data_ = other.data_;
  size_ = other.size_;
  other.data_ = data;
  other.size_ = size;
  return *this;
}

TAGMA_DECL aligned_bytes::~aligned_bytes() {
  if (data_ != nullptr) ::operator delete(data_, alignment(size_));
}

TAGMA_DECL std::align_val_t aligned_bytes::alignment(std::size_t size) {
  return std::align_val_t{size >= large ? page : 64};
}

}  // namespace tagma::runtime
