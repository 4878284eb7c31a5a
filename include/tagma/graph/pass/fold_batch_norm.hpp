// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Batch normalisation of a convolution by fixed moments, as a convolution: for programs that only infer.

#include "tagma/expr/op/arithmetic.hpp"
#include "tagma/expr/op/conv.hpp"
#include "tagma/graph/pass/emit.hpp"

namespace tagma {

/// A pass: (conv2d(x, filter) + bias - mean) * scale + shift becomes conv2d(x, filter * scale) + ((bias - mean) * scale
/// + shift), where scale has an element for each filter: what `batch_norm` for inference computes with scale = gamma /
/// sqrt(variance + epsilon). The image is then passed over once; the result is rounded otherwise. Only where nobody
/// else reads the convolution, no activation is between, and no update of the program writes the variables. In
/// the body of a loop, which each iteration does by itself, filters and moments may be those of repeated blocks.
class fold_batch_norm {
  /// A step of the pattern: nobody reads it outside.
  template <class Op>
  [[nodiscard]] static constexpr bool is_step(const ir::rewriter& r, ir::node_id id) {
    return r.is<Op>(id) && r.readers(id) == 1;
  }

 public:
  /// Looks at one node; the graph compiler calls it.
  static constexpr void visit(ir::rewriter& r) {
    if (!r.is<op::add>()) return;
    const ir::node_id scaled = r.in(0), shift = r.in(1);
    if (!is_step<op::multiply>(r, scaled)) return;
    const ir::node_id centred = r.input(scaled, 0), scale = r.input(scaled, 1);
    if (!is_step<op::subtract>(r, centred)) return;
    const ir::node_id conv = r.input(centred, 0), mean = r.input(centred, 1);
    const bool biased = is_step<op::conv2d_bias>(r, conv);
    if (!biased && !is_step<op::conv2d>(r, conv)) return;
    if (biased && r.attributes(conv)[3] != 0) return;  // relu comes between
    const ir::node_id filter = r.input(conv, 1);
    if (!r.is_frozen_by_turns(filter)) return;
    for (const ir::node_id of_channels : {shift, scale, mean})
      if (r.rank(of_channels) != 1 || !r.is_frozen_by_turns(of_channels)) return;
    if (biased && !r.is_frozen_by_turns(r.input(conv, 2))) return;

    const ir::node_id offset = biased ? r.emit(op::multiply{}, r.emit(op::subtract{}, r.input(conv, 2), mean), scale)
                                      : r.emit(op::multiply{}, r.emit(op::negate{}, mean), scale);
    const ir::attribute_list with = r.attributes(conv);
    const ir::attribute attributes[] = {with[0], with[1], with[2], 0};
    const ir::node_id folded = r.emit(op::multiply{}, filter, scale);
    const ir::node_id moved = r.emit(op::add{}, offset, shift);
    r.replace(r.emit_with(op::conv2d_bias{}, attributes, r.input(conv, 0), folded, moved));
  }
};

}  // namespace tagma
