// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Scalars that the compiler knows, for operations that are composed of others: they keep a composition known by its
/// structure alone, where a number written in place would tell every use apart.

#include "tagma/expr/op/elementwise.hpp"

namespace tagma::detail {

/// A double as a template argument, which not every compiler takes as it is.
[[nodiscard]] constexpr ir::attribute bits_of(double value) { return std::bit_cast<ir::attribute>(value); }

template <class T, ir::attribute Bits>
struct constant_definition {
  static constexpr auto attributes = ir::pack_attributes(Bits);
  static constexpr tensor_spec spec{dtype_of<T>, {}};
  static constexpr ir::record value{
      &ir::rules<ir::constant_op>,
      hash_combine(hash_combine(ir::info<ir::constant_op>.id, static_cast<std::uint64_t>(spec.type)),
                   static_cast<std::uint64_t>(Bits)),
      spec,
      {},
      {},
      attributes.list(),
      {}};
};

/// The scalar of element type `T` whose value has these bits: `make_constant<float, bits_of(0.5)>()`.
template <class T, ir::attribute Bits>
[[nodiscard]] constexpr auto make_constant() {
  using definition = constant_definition<T, Bits>;
  using id = typename binding<structural_id<definition::value.hash>, definition>::id;
  return expr<spec<T>, id, false>{};
}

/// One step of a composition: a node of operation `Op` over operands that are known to fit.
template <class Op, class Place, int Index, class... E>
[[nodiscard]] constexpr auto step(const E&... operands) {
  return make_node<Op, ir::attributes<0>{}, part<Place, Index>>(operands...);
}

}  // namespace tagma::detail
