// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// A pointer with one owner. std::unique_ptr does the same through a tuple of pointer and deleter, whose instantiation
/// costs the compiler ten times this class for every type.

#include <utility>

#include "tagma/base/config.hpp"

namespace tagma {

/// The only owner of an object on the heap.
template <class T>
class owned {
 public:
  constexpr owned() = default;
  constexpr owned(decltype(nullptr)) {}
  constexpr explicit owned(T* object) : object_(object) {}
  constexpr owned(owned&& other) noexcept : object_(other.release()) {}
  template <class U>
  constexpr owned(owned<U>&& other) noexcept : object_(other.release()) {}
  constexpr owned& operator=(owned&& other) noexcept {
    T* const before = object_;
    object_ = other.release();
    if (before != nullptr) destroy(before);
    return *this;
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  constexpr ~owned() {
    if (object_ != nullptr) destroy(object_);
  }

  [[nodiscard]] constexpr T* get() const { return object_; }
  [[nodiscard]] constexpr T& operator*() const { return *object_; }
  [[nodiscard]] constexpr T* operator->() const { return object_; }
  [[nodiscard]] constexpr explicit operator bool() const { return object_ != nullptr; }
  [[nodiscard]] constexpr bool operator==(decltype(nullptr)) const { return object_ == nullptr; }
  /// Hands the object over to the caller.
  [[nodiscard]] constexpr T* release() {
    T* const object = object_;
    object_ = nullptr;
    return object;
  }

 private:
  /// Out of line: the end of an object is else copied to every place where something throws.
  TAGMA_COLD static constexpr void destroy(T* object) { delete object; }

  T* object_ = nullptr;
};

/// The only owner of an array on the heap.
template <class T>
class owned<T[]> {
 public:
  owned() = default;
  explicit owned(T* first) : first_(first) {}
  owned(owned&& other) noexcept : first_(other.first_) { other.first_ = nullptr; }
  owned& operator=(owned&& other) noexcept {
    T* const first = other.first_;
    other.first_ = nullptr;
    delete[] first_;
    first_ = first;
    return *this;
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() { delete[] first_; }

  [[nodiscard]] T* get() const { return first_; }
  [[nodiscard]] bool operator==(decltype(nullptr)) const { return first_ == nullptr; }

 private:
  T* first_ = nullptr;
};

/// A new object and its owner.
template <class T, class... Arguments>
[[nodiscard]] owned<T> make_owned(Arguments&&... arguments) {
  return owned<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace tagma
