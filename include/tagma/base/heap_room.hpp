// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Tables whose size is known when a program runs: what `fixed_array` is where its room is `heap_room`. A pass that the
/// compiler runs over fixed arrays is run by a process over these.

#include "tagma/base/array_view.hpp"
#include "tagma/base/heap_array.hpp"

namespace tagma {

template <class T>
struct fixed_array<T, heap_room> {
  fixed_array() = default;
  fixed_array(fixed_array&&) = default;
  fixed_array& operator=(fixed_array&&) = default;
  fixed_array(const fixed_array& other) { *this = other; }
  /// Throws `no_memory`.
  fixed_array& operator=(const fixed_array& other) {
    if (this == &other) return *this;
    allocate(other.count);
    for (std::size_t i = 0; i < count; ++i) values[i] = other.values[i];
    return *this;
  }

  /// As many elements as `size`, at their defaults. Throws `no_memory`.
  void allocate(std::size_t size) {
    memory = heap_array<T>(size > 0 ? size : 1);
    values = memory.data();
    count = size;
  }

  template <class Index>
  [[nodiscard]] T& operator[](Index i) {
    return values[i];
  }
  template <class Index>
  [[nodiscard]] const T& operator[](Index i) const {
    return values[i];
  }
  [[nodiscard]] std::size_t size() const { return count; }
  [[nodiscard]] T* data() { return values; }
  [[nodiscard]] const T* data() const { return values; }
  [[nodiscard]] T* begin() { return values; }
  [[nodiscard]] T* end() { return values + count; }
  [[nodiscard]] const T* begin() const { return values; }
  [[nodiscard]] const T* end() const { return values + count; }

  T* values = nullptr;

 private:
  heap_array<T> memory;
  std::size_t count = 0;
};

/// Gives arrays of `heap_room` as many elements. Throws `no_memory`.
/// @param count an integer of any type, none below 0
template <class Count, class... T>
void make_room(Count count, fixed_array<T, heap_room>&... arrays) {
  (arrays.allocate(static_cast<std::size_t>(count)), ...);
}

}  // namespace tagma
