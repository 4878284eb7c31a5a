// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Gradients as expressions. The graph compiler replaces each by the nodes that compute it, so that a gradient can be
/// differentiated again.

#include <tuple>

#include "tagma/base/config.hpp"
#include "tagma/expr/op/elementwise.hpp"
#include "tagma/expr/rules.hpp"

namespace tagma {

namespace diagnose {
/// The loss is one floating number.
template <class Loss>
inline constexpr bool is_scalar_loss = Loss::value.dims.rank == 0 && is_floating(Loss::value.type);
}  // namespace diagnose

namespace op {

/// The gradient of the sum of input 0 by input 1.
struct gradient {
  static constexpr const char* name = "gradient";
  static constexpr ir::op_kind kind = ir::op_kind::gradient;
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = a.in[1];
    return nullptr;
  }
};

}  // namespace op

/// The gradient of `y` (of the sum of its elements) by `x`; it has the type of `x`.
/// Raises TAGMA-E014 if either is not floating; TAGMA-E061 when the graph is compiled if an operation between them has
/// no gradient; TAGMA-E064 if `y` does not depend on `x`.
template <expression Y, expression X, class Place = TAGMA_FRESH_TYPE(Y)>
[[nodiscard]] constexpr auto gradient(const Y& y, const X& x) {
  TAGMA_NEEDS_FLOATS(typename Y::spec_type);
  TAGMA_NEEDS_FLOATS(typename X::spec_type);
  if constexpr (diagnose::is_floating_point<typename Y::spec_type> &&
                diagnose::is_floating_point<typename X::spec_type>)
    return detail::make_node<op::gradient, ir::attributes<0>{}, Place>(y, x);
}

/// The gradients of `y` by several tensors, as a tuple in their order.
template <expression Y, expression... X>
[[nodiscard]] TAGMA_INLINE constexpr auto gradients(const Y& y, const X&... x) {
  return std::make_tuple(gradient(y, x)...);
}

}  // namespace tagma
