// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// What depends on frozen variables alone is computed once and kept.

#include "tagma/graph/keep.hpp"
#include "tagma/graph/pass/emit.hpp"

namespace tagma {

/// A pass: values that depend on numbers and on variables that the program never updates, and on nothing else, are
/// computed by the first run of a bound plan, and again by the first run after a variable of the process was written:
/// restored, or updated by another program. Put it behind passes that make such values, as `fold_batch_norm`.
class fold_frozen {
  /// True if a step computes it, maybe as one of several results: not a variable, a number, or another shape of one.
  [[nodiscard]] static constexpr bool is_computed(const ir::rewriter& r, ir::node_id id) {
    while (r.info(id).is(ir::op_kind::view) || r.info(id).is(ir::op_kind::output)) id = r.input(id, 0);
    return r.info(id).has_step();
  }

 public:
  static constexpr bool keeps = true;  ///< plans of the program have steps that are not done in each run

  /// Looks at one node; the graph compiler calls it.
  static constexpr void visit(ir::rewriter& r) {
    if (r.is_frozen(r.self())) return;
    const auto inputs = r.inputs(r.self());
    bool reads_frozen = false;
    scratch_array<ir::node_id, 8> kept(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      kept[i] = inputs[i];
      if (!r.is_frozen(inputs[i]) || !is_computed(r, inputs[i])) continue;
      kept[i] = r.emit(ir::keep{}, inputs[i]);
      reads_frozen = true;
    }
    if (reads_frozen) r.replace(r.copy_with(kept.view()));
  }
};

}  // namespace tagma
