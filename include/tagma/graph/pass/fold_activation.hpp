// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Activations behind a convolution that the convolution computes.

#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/expr/op/math.hpp"
#include "tagma/graph/pass/emit.hpp"

namespace tagma {

/// A pass: `relu` and `relu6` of a convolution with a bias, which nobody else reads, are part of the convolution, so
/// that its result is passed over once. Numbers come out the same; with oneDNN a NaN becomes 0, as with
/// `conv2d(x, filter, bias, relu)`, so a model that has diverged may look sound. The convolution runs where the
/// activation was to run. Put it behind `fold_batch_norm`.
class fold_activation {
  /// Whether a node is a convolution that only the visited one reads, with this activation.
  [[nodiscard]] static constexpr bool is_convolution(const ir::rewriter& r, ir::node_id id, ir::attribute activation) {
    return r.is<op::conv2d_bias>(id) && r.readers(id) == 1 && r.attributes(id)[3] == activation;
  }
  static constexpr void replace(ir::rewriter& r, ir::node_id conv, ir::attribute activation) {
    const ir::attribute_list with = r.attributes(conv);
    const ir::attribute attributes[] = {with[0], with[1], with[2], activation};
    r.replace(r.emit_with(op::conv2d_bias{}, attributes, r.input(conv, 0), r.input(conv, 1), r.input(conv, 2)));
  }

 public:
  /// Looks at one node; the graph compiler calls it.
  static constexpr void visit(ir::rewriter& r) {
    if (r.is<op::relu>() && is_convolution(r, r.in(0), 0)) return replace(r, r.in(0), 1);
    if (!r.is<op::minimum>()) return;
    for (const int number : {0, 1})
      if (r.constant(r.in(number)).is(6) && is_convolution(r, r.in(1 - number), 1))
        return replace(r, r.in(1 - number), 2);
  }
};

}  // namespace tagma
