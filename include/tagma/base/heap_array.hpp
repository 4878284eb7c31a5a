// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// An array on the heap whose length is known when it is made. Unlike std::vector and std::unique_ptr it brings next to
/// no code: their instantiations are most of what a header of small classes costs a compiler.

#include <cstddef>
#include <new>

#include "tagma/base/no_memory.hpp"

namespace tagma {

template <class T>
class heap_array {
 public:
  heap_array() = default;
  /// Throws `no_memory`.
  /// @param size an integer of any type; one below 0 is more than there is
  template <class Count>
  explicit heap_array(Count size)
      : data_(size == 0 ? nullptr : make(static_cast<std::size_t>(size))), size_(static_cast<std::size_t>(size)) {}
  heap_array(heap_array&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }
  heap_array& operator=(heap_array&& other) noexcept {
    T* const data = data_;
    const std::size_t size = size_;
    data_ = other.data_;
    size_ = other.size_;
    other.data_ = data;
    other.size_ = size;
    return *this;
  }
  heap_array(const heap_array&) = delete;
  heap_array& operator=(const heap_array&) = delete;
  ~heap_array() { delete[] data_; }

  template <class Index>
  [[nodiscard]] T& operator[](Index i) const {
    return data_[i];
  }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* begin() const { return data_; }
  [[nodiscard]] T* end() const { return data_ + size_; }

 private:
  [[nodiscard]] static T* make(std::size_t size) {
    T* const data = size > PTRDIFF_MAX / sizeof(T) ? nullptr : new (std::nothrow) T[size]();
    if (data == nullptr) fail_no_memory(size, sizeof(T), "a table");
    return data;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tagma
