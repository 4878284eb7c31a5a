// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Bytes with several owners, filled once. One class for everything that shares memory: each std::shared_ptr of another
/// type costs the compiler again.

#include <cstddef>
#include <cstring>
#include <new>

#include "tagma/base/array_view.hpp"
#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"
#include "tagma/base/no_memory.hpp"

namespace tagma {

/// Bytes that several owners share, and none of them changes.
class shared_bytes {
 public:
  shared_bytes() = default;
  /// Room for `size` bytes, to be filled by the one who made it before anyone else sees it.
  /// Throws `no_memory`.
  TAGMA_COLD explicit shared_bytes(std::size_t size) {
    void* const memory = ::operator new(sizeof(header) + size, std::nothrow);
    if (memory == nullptr) fail_no_memory(1, size, "a value that a program carries");
    block_ = new (memory) header{{1}, size};
  }
  shared_bytes(const shared_bytes& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, memory_order::relaxed);
  }
  shared_bytes(shared_bytes&& other) noexcept : block_(other.block_) { other.block_ = nullptr; }
  shared_bytes& operator=(shared_bytes other) noexcept {
    header* const mine = block_;
    block_ = other.block_;
    other.block_ = mine;
    return *this;
  }
  ~shared_bytes() {  // no call where the compiler sees that nothing is owned, and no branch elsewhere
    if (!(__builtin_constant_p(block_ == nullptr) && block_ == nullptr)) release();
  }

  [[nodiscard]] std::size_t size() const { return block_ == nullptr ? 0 : block_->size; }
  [[nodiscard]] std::byte* data() const {
    return block_ == nullptr ? nullptr : reinterpret_cast<std::byte*>(block_ + 1);
  }

  /// The bytes as numbers.
  template <class T>
  [[nodiscard]] array_view<T> as() const {
    return {reinterpret_cast<T*>(data()), size() / sizeof(T)};
  }

  TAGMA_COLD friend bool operator==(const shared_bytes& a, const shared_bytes& b) {
    return a.block_ == b.block_ ||
           (a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size()) == 0));
  }

 private:
  struct alignas(std::max_align_t) header {
    atomic<std::size_t> owners;
    std::size_t size;
  };
  TAGMA_COLD void release() {
    if (block_ != nullptr && block_->owners.fetch_sub(1, memory_order::acq_rel) == 1) ::operator delete(block_);
  }

  header* block_ = nullptr;
};

}  // namespace tagma
