// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Objects that several own; the last owner ends them.

#include <utility>

#include "tagma/base/atomic.hpp"
#include "tagma/base/config.hpp"

namespace tagma {

template <class T>
class counted;

/// Base of what is owned through `counted`.
class counted_object {
 public:
  counted_object() = default;
  counted_object(const counted_object&) = delete;
  counted_object& operator=(const counted_object&) = delete;
  virtual ~counted_object() = default;

 private:
  template <class T>
  friend class counted;
  /// One owner less; one function for all types.
  TAGMA_COLD static void leave(const counted_object* object) {
    if (object->owners_.fetch_sub(1, memory_order::acq_rel) == 1) delete object;
  }
  mutable atomic<std::size_t> owners_{0};
};

/// One of the owners of an object, or of nothing. Copies are further owners; several threads may have one each.
template <class T>
class counted {
 public:
  constexpr counted() = default;
  constexpr counted(decltype(nullptr)) noexcept {}
  explicit counted(T* object) noexcept : object_(object) { keep(); }
  counted(const counted& other) noexcept : object_(other.object_) { keep(); }
  counted(counted&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  /// Of something derived, or of something that may be changed.
  template <class U>
  counted(counted<U> other) noexcept : object_(other.object_) {
    other.object_ = nullptr;
  }
  counted& operator=(counted other) noexcept {
    T* const mine = object_;
    object_ = other.object_;
    other.object_ = mine;
    return *this;
  }
  ~counted() {
    if (object_ != nullptr) counted_object::leave(object_);
  }

  [[nodiscard]] T* get() const { return object_; }
  [[nodiscard]] T& operator*() const { return *object_; }
  [[nodiscard]] T* operator->() const { return object_; }
  [[nodiscard]] explicit operator bool() const { return object_ != nullptr; }
  [[nodiscard]] bool operator==(decltype(nullptr)) const { return object_ == nullptr; }

 private:
  template <class U>
  friend class counted;
  void keep() const {
    if (object_ != nullptr) object_->counted_object::owners_.fetch_add(1, memory_order::relaxed);
  }

  T* object_ = nullptr;
};

/// A new object and the first reference to it.
template <class T, class... Arguments>
[[nodiscard]] counted<T> make_counted(Arguments&&... arguments) {
  return counted<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace tagma
