// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Strings as template arguments: `placeholder<"x", ...>`.

#include <cstddef>
#include <string_view>

namespace tagma {

/// A string literal that can be a template argument. Its size includes the terminating zero.
template <std::size_t Size>
struct fixed_string {
  char text[Size]{};

  constexpr fixed_string() = default;
  constexpr fixed_string(const char (&literal)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) text[i] = literal[i];
  }

  /// The text without its terminating zero.
  [[nodiscard]] constexpr std::string_view view() const { return {text, Size - 1}; }
};

/// A copy of a text with static storage, for use as a template argument.
template <const std::string_view* Text>
[[nodiscard]] constexpr fixed_string<Text->size() + 1> fixed_copy() {
  fixed_string<Text->size() + 1> copy;
  for (std::size_t i = 0; i != Text->size(); ++i) copy.text[i] = (*Text)[i];
  return copy;
}

/// Joins two names with a slash, as layers name their variables: "hidden" and "kernel" give "hidden/kernel".
template <std::size_t A, std::size_t B>
[[nodiscard]] constexpr fixed_string<A + B> operator/(const fixed_string<A>& a, const fixed_string<B>& b) {
  fixed_string<A + B> joined;
  for (std::size_t i = 0; i + 1 < A; ++i) joined.text[i] = a.text[i];
  joined.text[A - 1] = '/';
  for (std::size_t i = 0; i < B; ++i) joined.text[A + i] = b.text[i];
  return joined;
}

template <std::size_t A, std::size_t B>
[[nodiscard]] constexpr auto operator/(const fixed_string<A>& a, const char (&b)[B]) {
  return a / fixed_string<B>(b);
}

}  // namespace tagma
