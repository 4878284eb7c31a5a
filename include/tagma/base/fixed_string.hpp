// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Strings as template arguments: `placeholder<"x", ...>`.

#include <cstddef>
#include <string_view>
#include <utility>

#include "tagma/base/config.hpp"

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
  copy.text[Text->size()] = '\0';  // clang prints an array as text if every element was written
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

namespace diagnose {
/// A text in the name of a type, which compilers print in messages.
#if TAGMA_SPELLS_TEXT
template <char... Characters>
struct text {};
#else
template <fixed_string Text>
struct text {};
#endif
}  // namespace diagnose

namespace detail {
template <fixed_string Text, std::size_t... I>
constexpr auto spell(std::index_sequence<I...>) {
#if TAGMA_SPELLS_TEXT
  return diagnose::text<Text.text[I]...>{};
#else
  return diagnose::text<Text>{};
#endif
}
/// The text as a type whose name can be read in messages. Only for messages: costs time where it is used.
template <fixed_string Text>
using spelled = decltype(spell<Text>(std::make_index_sequence<Text.view().size()>{}));
}  // namespace detail

}  // namespace tagma
