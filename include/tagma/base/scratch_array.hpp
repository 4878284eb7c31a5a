// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// An array for a moment, in functions that the compiler evaluates: a few elements where it stands, more on the heap.

#include <cstddef>

#include "tagma/base/array_view.hpp"

namespace tagma {

template <class T, std::size_t Few>
class scratch_array {
 public:
  constexpr explicit scratch_array(std::size_t size) : many_(size > Few ? new T[size]() : nullptr), size_(size) {}
  scratch_array(const scratch_array&) = delete;
  scratch_array& operator=(const scratch_array&) = delete;
  constexpr ~scratch_array() { delete[] many_; }

  [[nodiscard]] constexpr T& operator[](std::size_t i) { return many_ != nullptr ? many_[i] : few_[i]; }
  [[nodiscard]] constexpr T* data() { return many_ != nullptr ? many_ : few_; }
  [[nodiscard]] constexpr array_view<T> view() { return {many_ != nullptr ? many_ : few_, size_}; }

 private:
  T few_[Few]{};
  T* many_;
  std::size_t size_;
};

}  // namespace tagma
