// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// An array on the heap whose length is known when it is made. Unlike std::vector it brings no code for growth, which is
/// most of what a vector costs a compiler.

#include <cstddef>
#include <memory>

namespace tagma {

template <class T>
class heap_array {
 public:
  heap_array() = default;
  explicit heap_array(std::size_t size) : data_(new T[size]()), size_(size) {}

  [[nodiscard]] T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* begin() const { return data_.get(); }
  [[nodiscard]] T* end() const { return data_.get() + size_; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0;
};

}  // namespace tagma
