// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Running sums along an axis.

#include "tagma/base/config.hpp"
#include "tagma/expr/op/view.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {
namespace op {

/// Sums of all elements up to each one along the axis in attribute 0; without the element itself if attribute 1 says
/// so, from the end on if attribute 2 says so.
struct cumulative_sum {
  static constexpr const char* name = "cumulative_sum";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr std::uint8_t in_place = 0b1;

  static constexpr void takes(auto& t) {
    t.numbers(1), t.axis("axis", t.rank(0)), t.flag("exclusive"), t.flag("reverse");
  }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[0];
    return nullptr;
  }
  /// An element is part of all sums behind it: the same the other way round.
  static constexpr void gradient(auto& g) {
    g.set(0, g.emit_with(cumulative_sum{}, ir::pack_attributes(g.attr(0), g.attr(1), g.attr(2) == 0), g.upstream));
  }
};

}  // namespace op

/// What a running sum takes in.
struct cumsum_options {
  bool exclusive = false;  ///< each sum leaves out its own element, so that the first one is 0
  bool reverse = false;    ///< sums run from the end of the axis to its beginning
};

/// Running sums along an axis, as TensorFlow's tf.cumsum: of [1, 2, 3] they are [1, 3, 6], exclusive [0, 1, 3], reverse
/// [6, 5, 3]. Sums of 16-bit floats are formed in float and rounded once each; integers wrap around.
/// `cumsum<0>(x)`, `cumsum<-1, tagma::cumsum_options{.exclusive = true}>(x)`
/// @tparam Axis counts from the front, or from the back if negative
/// @param e numbers
/// @return the shape of `e`
/// Raises TAGMA-E020 if there is no such axis.
template <int Axis, cumsum_options Options = cumsum_options{}, expression E, class Place = TAGMA_FRESH_TYPE(E)>
[[nodiscard]] constexpr auto cumsum(const E& e) {
  using from = typename E::spec_type;
  TAGMA_NEEDS_NUMBERS(from);
  static_assert(diagnose::axis_exists<from, Axis>, "TAGMA-E020 cumsum: there is no such axis");
  if constexpr (diagnose::is_number<from> && diagnose::axis_exists<from, Axis>)
    return detail::make_node<op::cumulative_sum,
                             ir::pack_attributes(Axis < 0 ? Axis + E::rank : Axis, Options.exclusive, Options.reverse),
                             Place>(e);
}

}  // namespace tagma
