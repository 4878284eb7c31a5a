// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Axes in another order.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/view.hpp"

namespace tagma {

namespace diagnose {
/// The axes name each axis of the operand once; no axes at all stand for all of them in reverse.
template <class Spec, int... Axes>
inline constexpr bool is_permutation = [] {
  constexpr int rank = Spec::value.dims.rank;
  if (sizeof...(Axes) == 0) return true;
  if (static_cast<int>(sizeof...(Axes)) != rank || !(true && ... && axis_exists<Spec, Axes>)) return false;
  unsigned seen = 0;
  ((seen |= 1u << (Axes < 0 ? Axes + rank : Axes)), ...);
  return seen == (1u << rank) - 1;
}();
}  // namespace diagnose

namespace op {

/// Axis i of the result is the axis of the input that attribute i names.
struct transpose {
  static constexpr const char* name = "transpose";
  static constexpr ir::op_kind kind = ir::op_kind::compute;

  static constexpr void takes(auto& t) {
    t.any(1), t.rule("TAGMA-E100");
    unsigned seen = 0;
    for (int i = 0; i < t.rank(0); ++i) seen |= 1u << t.attribute("axis", 0, t.rank(0) - 1);
    t.needs(seen == (1u << t.rank(0)) - 1, "every axis is named once");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {a.in[0].type, {}};
    for (const ir::attribute axis : a.attributes) a.out.dims.push_back(a.in[0].dims[static_cast<int>(axis)]);
    return nullptr;
  }
  static constexpr void gradient(auto& g) {
    ir::attribute inverse[max_rank]{};
    const int rank = g.in_spec(0).dims.rank;
    for (int i = 0; i < rank; ++i) inverse[g.attr(i)] = i;
    g.set(0, g.emit_with(transpose{}, {inverse, rank}, g.upstream));
  }
  static constexpr void fold(ir::fold_args& f) {
    for (std::size_t i = 0; i < f.attributes.size(); ++i)
      if (f.attributes[i] != static_cast<ir::attribute>(i)) return;
    f.use_input(0);
  }
};

}  // namespace op

namespace detail {

template <int Rank, int... Axes>
inline constexpr auto permutation = [] {
  ir::attributes<static_cast<std::size_t>(Rank)> order;
  [[maybe_unused]] int i = 0;
  if constexpr (sizeof...(Axes) == 0)
    for (; i < Rank; ++i) order.values[i] = Rank - 1 - i;
  else
    ((order.values[i++] = Axes < 0 ? Axes + Rank : Axes), ...);
  return order;
}();

}  // namespace detail

/// The operand with its axes in another order: axis i of the result is axis `Axes[i]` of `e`.
/// @tparam Axes each axis once, negative from the back; none at all: the reverse order
/// Raises TAGMA-E100 if the axes are no permutation.
template <int... Axes, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto transpose(const E& e) {
  static_assert(diagnose::is_permutation<typename E::spec_type, Axes...>,
                "TAGMA-E100 transpose: every axis of the operand must be named once");
  if constexpr (diagnose::is_permutation<typename E::spec_type, Axes...>)
    return detail::make_node<op::transpose, detail::permutation<E::rank, Axes...>, Place>(e);
}

}  // namespace tagma
