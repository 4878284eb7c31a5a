// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Rows in order: argsort, sort.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/top_k.hpp"
#include "tagma/expr/op/view.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// The positions that sort the last axis, the smallest element first, or the largest first if attribute 0 says so; of
/// equal elements the lower position comes first.
struct argsort {
  static constexpr const char* name = "argsort";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr bool stops_gradient = true;

  static constexpr void takes(auto& t) { t.numbers(1), t.rule("TAGMA-E158"), t.axes(0, 1), t.flag("descending"); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::int64, a.in[0].dims};
    return nullptr;
  }
};

}  // namespace op

namespace diagnose {
/// There is an axis.
template <class Spec>
inline constexpr bool has_an_axis = Spec::value.dims.rank >= 1;
}  // namespace diagnose

/// Rows of numbers.
#define TAGMA_NEEDS_SORTABLE(Spec)                                                                              \
  static_assert(::tagma::diagnose::has_an_axis<Spec>, "TAGMA-E158 sort: needs an axis, which is put in order"); \
  TAGMA_NEEDS_NUMBERS(Spec)

/// Passed to `sort` and `argsort` for the largest element first.
struct descending_tag {};
/// Passed to `sort` and `argsort` for the largest element first; the smallest comes first without it.
inline constexpr descending_tag descending{};

namespace detail {

template <bool Descending, class Place, class E>
[[nodiscard]] constexpr auto make_argsort(const E& e) {
  if constexpr (diagnose::has_an_axis<typename E::spec_type> && diagnose::is_number<typename E::spec_type>)
    return make_node<op::argsort, ir::pack_attributes(Descending), part<Place, 0>>(e);
}

template <bool Descending, class Place, class E>
[[nodiscard]] constexpr auto make_sort(const E& e) {
  if constexpr (diagnose::has_an_axis<typename E::spec_type> && diagnose::is_number<typename E::spec_type>)
    return make_node<op::gather_last, ir::attributes<0>{}, part<Place, 1>>(e, make_argsort<Descending, Place>(e));
}

}  // namespace detail

/// The positions that sort the last axis: at them are the elements of `sort`. The smallest element comes first, or the
/// largest with `tagma::descending`. Of equal elements the lower position comes first, both ways; NaN counts as larger
/// than everything, and -0 equals 0.
/// @param e [..., n], numbers
/// @return [..., n], int64
/// Raises TAGMA-E158 for a scalar.
/// @{
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto argsort(const E& e) {
  TAGMA_NEEDS_SORTABLE(typename E::spec_type);
  return detail::make_argsort<false, Place>(e);
}
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto argsort(const E& e, descending_tag) {
  TAGMA_NEEDS_SORTABLE(typename E::spec_type);
  return detail::make_argsort<true, Place>(e);
}
/// @}

/// The elements of the last axis in order, as `argsort` says. Gradients go back to where each element was.
/// @param e [..., n], numbers
/// Raises TAGMA-E158 for a scalar.
/// @{
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto sort(const E& e) {
  TAGMA_NEEDS_SORTABLE(typename E::spec_type);
  return detail::make_sort<false, Place>(e);
}
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto sort(const E& e, descending_tag) {
  TAGMA_NEEDS_SORTABLE(typename E::spec_type);
  return detail::make_sort<true, Place>(e);
}
/// @}

}  // namespace tagma

#undef TAGMA_NEEDS_SORTABLE
