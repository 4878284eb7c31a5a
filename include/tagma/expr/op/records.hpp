// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Texts that are taken apart, with the keys that errors call them by, or without.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/expr/expression.hpp"

namespace tagma {
namespace ir {

/// Takes the input behind the first `operands`, if there is one: keys of the texts in input 0.
constexpr void take_keys(auto& t, int operands) {
  t.needs(t.count() <= operands + 1, "behind values of what is missing there are keys of the texts, and nothing else");
  t.needs(t.count() <= operands || t.in(operands) == t.in(0), "keys are strings of the shape of the texts");
}

}  // namespace ir

namespace detail {

/// Texts without keys.
template <class R>
struct records_of {};
template <expression R>
struct records_of<R> {
  using spec_type = typename R::spec_type;
  static constexpr bool have_keys_of_shape = true;
  [[nodiscard]] static constexpr const R& texts(const R& r) { return r; }
  [[nodiscard]] static constexpr std::tuple<> keys(const R&) { return {}; }
};
/// Keys and texts, as `read` gives them.
template <expression Keys, expression Texts>
struct records_of<std::tuple<Keys, Texts>> {
  using spec_type = typename Texts::spec_type;
  static constexpr bool have_keys_of_shape = Keys::spec_type::value == spec_type::value;
  [[nodiscard]] static constexpr const Texts& texts(const std::tuple<Keys, Texts>& r) { return std::get<1>(r); }
  [[nodiscard]] static constexpr std::tuple<Keys> keys(const std::tuple<Keys, Texts>& r) { return {std::get<0>(r)}; }
};
template <class R>
concept records = requires {
  typename records_of<R>::spec_type;
};

}  // namespace detail

namespace diagnose {
/// Texts, whose keys are of their shape if they have any.
template <class Records>
inline constexpr bool are_records = detail::records_of<Records>::spec_type::value.type ==
                                    dtype::string&& detail::records_of<Records>::have_keys_of_shape;
}  // namespace diagnose
}  // namespace tagma
