// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// `explain` and `to_dot` of programs that are compiled late.

#include "tagma/base/config.hpp"
#include "tagma/plan/late_program.hpp"

namespace tagma {

namespace detail {
template <class Closure>
[[nodiscard]] constexpr const plan::site_kind* site_kind_of() {
  return plan::kind_of_data<plan::site_kind, late_graph<Closure>>();
}
}  // namespace detail

/// As of programs that the C++ compiler compiles.
/// @{
template <class Closure>
[[nodiscard]] std::string explain(const late_program<Closure>& program, extent batch = 1) {
  return program.shared().explain(batch, detail::site_kind_of<Closure>());
}
/// Raises TAGMA-E144 for what is no output of the program.
template <class Closure, class... E>
[[nodiscard]] std::string explain(const late_program<Closure>& program, const output_list<E...>&, extent batch = 1) {
  using traits = typename late_program<Closure>::graph::traits;
  static_assert((true && ... && (traits::template position<typename E::id>() >= 0)),
                "TAGMA-E144 explain: what is asked for is no output of this program");
  constexpr fixed_array<int, sizeof...(E)> positions{{traits::template position<typename E::id>()...}};
  return program.shared().explain(positions, batch, detail::site_kind_of<Closure>());
}
template <class Closure>
[[nodiscard]] std::string to_dot(const late_program<Closure>& program) {
  return program.shared().to_dot(detail::site_kind_of<Closure>());
}
/// @}

}  // namespace tagma
