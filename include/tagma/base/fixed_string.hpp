// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Strings as template arguments: `placeholder<"x", ...>`.

#include <cstddef>
#include <string_view>
#include <type_traits>
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

  /// Joins two texts as they are: "block" + suffix.
  /// @{
  template <std::size_t Other>
  [[nodiscard]] friend constexpr fixed_string<Size + Other - 1> operator+(const fixed_string& a,
                                                                          const fixed_string<Other>& b) {
    fixed_string<Size + Other - 1> joined;
    for (std::size_t i = 0; i + 1 < Size; ++i) joined.text[i] = a.text[i];
    for (std::size_t i = 0; i < Other; ++i) joined.text[Size - 1 + i] = b.text[i];
    return joined;
  }
  template <std::size_t Other>
  [[nodiscard]] friend constexpr auto operator+(const fixed_string& a, const char (&b)[Other]) {
    return a + fixed_string<Other>(b);
  }
  template <std::size_t Other>
  [[nodiscard]] friend constexpr auto operator+(const char (&a)[Other], const fixed_string& b) {
    return fixed_string<Other>(a) + b;
  }
  /// @}

  /// The text without its terminating zero.
  [[nodiscard]] constexpr std::string_view view() const { return {text, Size - 1}; }
};

namespace diagnose {
/// The compiler knows the length of a text, and its characters.
template <class Text>
inline constexpr bool is_literal = false;
}  // namespace diagnose

/// Stands for what is no literal: TAGMA-E180.
template <>
struct fixed_string<0> {
  char text[1]{};

  template <class Text>
  constexpr fixed_string(const Text&) {
    static_assert(diagnose::is_literal<Text>,
                  "TAGMA-E180 name: a name is a literal or a tagma::fixed_string that is constexpr, as in "
                  "\"name\" + suffix after constexpr tagma::fixed_string suffix = \"_1\"");
  }
  [[nodiscard]] constexpr std::string_view view() const { return "refused"; }
};
template <class Text>
  requires std::is_convertible_v<Text, std::string_view> fixed_string(Text)
->fixed_string<0>;

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
  if constexpr (A > 0) joined.text[A - 1] = '/';
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
