// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Names of placeholders, variables, constants and layers.

#include <string_view>
#include <type_traits>

#include "tagma/base/diagnose.hpp"
#include "tagma/base/fixed_string.hpp"

namespace tagma {

/// True for a name by TensorFlow's grammar: letters, digits and "_.-/", of which the first is a letter, a digit or ".".
[[nodiscard]] constexpr bool is_name(std::string_view text) {
  bool first = true;
  for (const char c : text) {
    const bool begins = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    if (!begins && (first || (c != '/' && c != '_' && c != '-'))) return false;
    first = false;
  }
  return !first;
}

namespace diagnose {
/// A text is a name.
template <class Text>
inline constexpr bool follows_grammar_of_names = std::is_void_v<Text>;
/// A layer has all of its template arguments.
template <class... Argument>
inline constexpr bool has_name_and_sizes = false;
}  // namespace diagnose

namespace detail {
/// Takes what is a name among the arguments of a function. A function of the user's own that takes it as it is comes
/// first, by whatever way ours is found.
struct meant_as_name {
  template <class T>
    requires std::is_convertible_v<const T&, std::string_view> meant_as_name(const T&);
};
/// The text as a type if it is no name, else void.
template <fixed_string Text>
constexpr auto find_bad_name() {
  if constexpr (!is_name(Text.view())) return spelled<Text>{};
}
template <fixed_string Text>
using bad_name = decltype(find_bad_name<Text>());
}  // namespace detail

}  // namespace tagma
