// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// An array on the heap whose length is known when it is made. Unlike std::vector and std::unique_ptr it brings next to
/// no code: their instantiations are most of what a header of small classes costs a compiler.

#include <cstddef>
#include <new>

#include "tagma/base/config.hpp"
#include "tagma/base/no_memory.hpp"

namespace tagma {

namespace detail {

/// Memory for `count` elements, all bytes zero. Out of line and for all types, as what follows: a loop of its own for
/// each type costs a program more to compile than what it does with the array.
/// Throws `no_memory`.
[[nodiscard]] void* make_zeroed(std::size_t count, std::size_t size);

/// The same, each element a copy of the bytes of one.
[[nodiscard]] void* make_copies(std::size_t count, std::size_t size, const void* one);

}  // namespace detail

/// @tparam T whose default constructor throws nothing
template <class T>
class heap_array {
 public:
  heap_array() = default;
  /// Throws `no_memory`.
  /// @param size an integer of any type; one below 0 is more than there is
  template <class Count>
  explicit heap_array(Count size)
      : data_(make(static_cast<std::size_t>(size))), size_(static_cast<std::size_t>(size)) {}
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
  /// Makes an array that is empty as long as `size`: less code than an assignment. Throws `no_memory`.
  template <class Count>
  void allocate(Count size) {
    data_ = make(static_cast<std::size_t>(size));
    size_ = static_cast<std::size_t>(size);
  }
  heap_array(const heap_array&) = delete;
  heap_array& operator=(const heap_array&) = delete;
  ~heap_array() {
    if constexpr (TAGMA_ENDS_TRIVIALLY(T))
      ::operator delete(data_);
    else if (data_ != nullptr)
      destroy(data_, size_);
  }

  template <class Index>
  [[nodiscard]] T& operator[](Index i) const {
    return data_[i];
  }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* begin() const { return data_; }
  [[nodiscard]] T* end() const { return data_ + size_; }

 private:
  template <class U>
  static constexpr U first{};

  // By the compiler's own names: what <type_traits> makes of them takes longer than all of this class.
  [[nodiscard]] static T* make(std::size_t size) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    if constexpr (__is_trivially_constructible(T)) {
      return static_cast<T*>(detail::make_zeroed(size, sizeof(T)));
    } else if constexpr (__is_trivially_copyable(T)) {
      return static_cast<T*>(detail::make_copies(size, sizeof(T), &first<T>));
    } else {
      T* const data = static_cast<T*>(detail::make_zeroed(size, sizeof(T)));
      for (std::size_t i = 0; i < size; ++i) new (data + i) T();
      return data;
    }
  }
  TAGMA_COLD static void destroy(T* data, std::size_t size) {
    while (size > 0) data[--size].~T();
    ::operator delete(data);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tagma

#ifndef TAGMA_COMPILED
#include "tagma/base/heap_array.ipp"
#endif
