// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Definitions of shared_bytes.hpp: in the compiled half, or else in each file that includes it.

#include <new>

#include "tagma/base/config.hpp"
#include "tagma/base/shared_bytes.hpp"

namespace tagma {

TAGMA_COLD TAGMA_DECL shared_bytes::shared_bytes(std::size_t size) {
  void* const memory = ::operator new(sizeof(header) + size, std::nothrow);
  if (memory == nullptr) fail_no_memory(1, size, "a value that a program carries");
  block_ = new (memory) header{{1}, size};
}

TAGMA_DECL shared_bytes::shared_bytes(const shared_bytes& other) noexcept : block_(other.block_) {
  if (block_ != nullptr) block_->owners.fetch_add(1, memory_order::relaxed);
}

TAGMA_DECL shared_bytes& shared_bytes::operator=(shared_bytes other) noexcept {
  header* const mine = block_;
  block_ = other.block_;
  other.block_ = mine;
  return *this;
}

TAGMA_DECL
shared_bytes::~shared_bytes() {  // no call where the compiler sees that nothing is owned, and no branch elsewhere
  if (!(__builtin_constant_p(block_ == nullptr) && block_ == nullptr)) release();
}

TAGMA_DECL std::byte* shared_bytes::data() const {
  return block_ == nullptr ? nullptr : reinterpret_cast<std::byte*>(block_ + 1);
}

TAGMA_COLD TAGMA_DECL void shared_bytes::release() {
  if (block_ != nullptr && block_->owners.fetch_sub(1, memory_order::acq_rel) == 1) ::operator delete(block_);
}

}  // namespace tagma
