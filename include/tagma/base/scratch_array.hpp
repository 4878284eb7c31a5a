// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// An array for a moment, in functions that the compiler evaluates: a few elements where it stands, more on the heap.

#include <cstddef>

#include "tagma/base/array_view.hpp"

namespace tagma {

/// An array whose size is known when the program runs: on the stack up to `Few` elements, else on the heap.
template <class T, std::size_t Few>
class scratch_array {
 public:
  template <class Count>
  constexpr explicit scratch_array(Count size)
      : size_(static_cast<std::size_t>(size)), many_(size_ > Few ? new T[size_]() : nullptr) {}
  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;
  constexpr ~scratch_array() { delete[] many_; }

  template <class Index>
  [[nodiscard]] constexpr T& operator[](Index i) {
    return many_ != nullptr ? many_[i] : few_[i];
  }
  [[nodiscard]] constexpr T* data() { return many_ != nullptr ? many_ : few_; }
  [[nodiscard]] constexpr array_view<T> view() { return {many_ != nullptr ? many_ : few_, size_}; }

 private:
  T few_[Few]{};
  std::size_t size_;
  T* many_;
};

}  // namespace tagma
