// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// How passes add nodes: what an operation takes is asked before its rules read operands and attributes, since a
/// process may give it any.

#include "tagma/base/config.hpp"
#include "tagma/graph/pass/rewrite.hpp"
#include "tagma/ir/arguments.hpp"

namespace tagma::ir {

namespace detail {

/// True if an operation takes operands and attributes; one that does not list what it takes says so by its `infer`
/// alone.
template <class Op>
[[nodiscard]] constexpr bool takes_all(infer_args& args) {
  if constexpr (requires(arguments & t) { Op::takes(t); })
    if (check_arguments(face<Op>, args)) return false;
  return rules<Op>.info->infer(args) == nullptr;  // also of those whose type is given
}

}  // namespace detail

template <class Op>
constexpr node_id rewriter::emit_over(Op, array_view<const node_id> inputs, attribute_list attributes) {
  return emit_of(rules<Op>, &detail::takes_all<Op>, inputs, attributes);
}

}  // namespace tagma::ir
