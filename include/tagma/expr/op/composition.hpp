// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Compositions: one node for the C++ compiler, several for the graph compiler. A layer that is used a hundred times
/// costs a hundred handles, not thousands; the flat graph, its gradients and its loops are those of the parts.

#include "tagma/expr/op/elementwise.hpp"

namespace tagma::op {

/// Base of the tags of compositions. A tag has `infer`, as every operation, and `expand`, which adds the nodes and sets
/// `result`.
/// @tparam Weight how many nodes it becomes, roughly
template <int Weight>
struct composition {
  static constexpr ir::op_kind kind = ir::op_kind::composition;
  static constexpr int weight(ir::attribute_list) { return Weight; }
};

/// Base of those whose result has the type of their first input.
template <int Weight>
struct elementwise_composition : composition<Weight> {
  static constexpr void takes(auto& t) { t.floats(1); }
  static constexpr const char* infer(ir::infer_args& a) { return infer_elementwise(a); }
};

}  // namespace tagma::op
