// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// An array that grows, in functions that the compiler evaluates.

#include <cstddef>

#include "tagma/base/array_view.hpp"

namespace tagma {

/// An array that grows while the compiler evaluates a function.
template <class T>
class growing_array {
 public:
  /// Without room nothing is allocated before the first element.
  constexpr explicit growing_array(std::size_t room) : data_(room == 0 ? nullptr : new T[room]()), room_(room) {}
  growing_array(const growing_array&) = delete;
  growing_array& operator=(const growing_array&) = delete;
  constexpr ~growing_array() { delete[] data_; }

  constexpr void push(const T& value) {
    if (size_ == room_) {
      room_ = 4 * room_ + 4;
      T* const larger = new T[room_]();
      for (std::size_t i = 0; i < size_; ++i) larger[i] = data_[i];
      delete[] data_;
      data_ = larger;
    }
    data_[size_++] = value;
  }
  constexpr T& pop() { return data_[--size_]; }
  constexpr void clear() { size_ = 0; }
  template <class Index>
  [[nodiscard]] constexpr T& operator[](Index i) const {
    return data_[i];
  }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr array_view<const T> view() const { return {data_, size_}; }

 private:
  T* data_;
  std::size_t room_;
  std::size_t size_ = 0;
};

}  // namespace tagma
