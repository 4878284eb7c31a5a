// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Random orders, new in every run: random_permutation, random_shuffle.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/gather.hpp"
#include "tagma/expr/op/random.hpp"
#include "tagma/expr/op/sort.hpp"

namespace tagma {
namespace op {

/// The positions along the first axis of the input, or as many as attribute 0 says, in random order: the order of as
/// many words of 64 bits, of equal ones the lower position first. Word i is made of words 2 (i mod 2), the lower half,
/// and 2 (i mod 2) + 1 of block i / 2 of the node's stream of random bits, on every device.
struct random_permutation : random_source {
  static constexpr const char* name = "random_permutation";
  static constexpr void takes(auto& t) {
    t.inputs(0, 1);
    if (t.count() == 0) t.rule("TAGMA-E159"), t.size("count");
    if (t.count() == 1) t.any_at(0), t.rule("TAGMA-E158"), t.axes(0, 1);
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::int64, {}};
    a.out.dims.push_back(a.in.empty() ? a.attributes[0] : a.in[0].dims[0]);
    return nullptr;
  }
};

}  // namespace op

namespace diagnose {
/// There can be as many elements.
template <extent Count>
inline constexpr bool is_a_count = Count >= 0;
}  // namespace diagnose

/// The positions 0 to `Count` - 1 in random order, new in every run; two calls at two places are two orders.
/// @return [Count], int64
/// Raises TAGMA-E159 for a negative number.
template <extent Count, class Place = TAGMA_FRESH_TYPE(std::integral_constant<extent, Count>)>
[[nodiscard]] constexpr auto random_permutation() {
  static_assert(diagnose::is_a_count<Count>, "TAGMA-E159 random_permutation: there is no negative number of elements");
  if constexpr (diagnose::is_a_count<Count>)
    return detail::make_node<op::random_permutation, ir::pack_attributes(Count), Place>();
}

/// The positions along the first axis of `e` in random order, new in every run. Several tensors are shuffled alike by
/// one order: `gather(images, order)`, `gather(labels, order)`.
/// @param e [n, ...]; its elements are not read
/// @return [n], int64
/// Raises TAGMA-E158 for a scalar.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto random_permutation(const E& e) {
  static_assert(diagnose::has_an_axis<typename E::spec_type>,
                "TAGMA-E158 random_permutation: needs an axis, which is put in order");
  if constexpr (diagnose::has_an_axis<typename E::spec_type>)
    return detail::make_node<op::random_permutation, ir::attributes<0>{}, Place>(e);
}

/// The rows of `e` in random order, new in every run: `gather` at a `random_permutation`. Gradients go back to where
/// each row was.
/// @param e [n, ...], any element type
/// Raises TAGMA-E158 for a scalar.
template <expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto random_shuffle(const E& e) {
  static_assert(diagnose::has_an_axis<typename E::spec_type>,
                "TAGMA-E158 random_shuffle: needs an axis, which is put in order");
  if constexpr (diagnose::has_an_axis<typename E::spec_type>)
    return detail::make_node<op::gather, ir::pack_attributes(0), detail::part<Place, 1>>(
        e, detail::make_node<op::random_permutation, ir::attributes<0>{}, detail::part<Place, 0>>(e));
}

}  // namespace tagma
