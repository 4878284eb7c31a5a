// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Arguments that know the line of the call. A default argument tells the line, but none can stand behind a pack.

#include "tagma/base/error.hpp"

namespace tagma {

/// What a class derives from, `class thing : public located<thing>`, so that a parameter of type `located<T>` accepts
/// every thing: T is deduced from the base, then the constructor is called in the line of the call.
template <class T>
class located {
 public:
  /// The base of a thing, which knows no line.
  constexpr located() = default;
  /// @param value outlives the call
  constexpr located(const T& value, source_line at = source_line::here()) : value_(&value), at_(at) {}

  /// @name Of a parameter only.
  /// @{
  [[nodiscard]] constexpr const T& value() const { return *value_; }
  [[nodiscard]] constexpr const source_line& at() const { return at_; }
  /// @}

 private:
  const T* value_ = nullptr;
  source_line at_;
};

}  // namespace tagma
